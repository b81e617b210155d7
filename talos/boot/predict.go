// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"minos.dev/minos/talos/extension"
)

// Deadline is how long a boot may take before Talos gives it up.
const Deadline = constants.BootTimeout

// State says whether what a service waits for is there.
type State string

// The states of what a service waits for.
const (
	Provided State = "provided"
	Missing  State = "missing"
	Unsure   State = "unknown"
)

// Kind is a kind of thing that a service waits for.
type Kind string

// The kinds of things that a service waits for.
const (
	Configuration Kind = "configuration"
	Path          Kind = "path"
	Other         Kind = "service"
)

// A Need is one thing that a service waits for.
type Need struct {
	// Kind is what kind of thing it is.
	Kind Kind `json:"kind"`
	// Name is which one: the name of a configuration, a path, or the name of a service.
	Name string `json:"name"`
	// State says whether it is there.
	State State `json:"state"`
	// By is what brings it; empty if nothing does, or nobody knows.
	By string `json:"providedBy,omitempty"`
	// Remedy is what to do about it where it is not there.
	Remedy string `json:"remedy,omitempty"`

	text string // what a waiting service says
}

// Waits is the need in the words of Talos.
func (n Need) Waits() string { return n.text }

// A Service is one service of an extension, as its machine will have it.
type Service struct {
	// Name is the service's, with "ext-" before it.
	Name string `json:"service"`
	// Extension is the extension that brings it.
	Extension string `json:"extension"`
	// Once says that it ends when it has done its work.
	Once bool `json:"once,omitempty"`
	// Needs are what it waits for, in the order in which Talos looks at it: configuration, files, other services.
	Needs []Need `json:"waitsFor,omitempty"`
	// State says whether it starts: provided if it does, missing if it never does.
	State State `json:"state"`
}

// Lacking is the first thing that it waits for in vain, and whether there is one.
func (s Service) Lacking() (Need, bool) {
	at := slices.IndexFunc(s.Needs, func(need Need) bool { return need.State == Missing })
	if at < 0 {
		return Need{}, false
	}
	return s.Needs[at], true
}

// A Prediction is how a boot will end.
type Prediction struct {
	// Services are those of the image's extensions, by name.
	Services []Service
}

// Predict says how a machine boots with an image that has extensions, by name without prefix. An extension that the catalogue does
// not know brings nothing: whether it exists is another question.
func Predict(catalogue *extension.Catalogue, extensions []string, around Surroundings) Prediction {
	p := &predictor{around: around, extensions: extensions, declared: map[string]extension.Service{}}
	from := map[string]string{}
	for _, name := range extensions {
		found, _ := catalogue.Find(name)
		for _, service := range found.Services {
			p.declared["ext-"+service.Name] = service
			from["ext-"+service.Name] = found.Name
		}
	}
	prediction := Prediction{}
	for name, service := range p.declared {
		one := Service{Name: name, Extension: from[name], Once: service.Once, Needs: p.needs(name, nil)}
		one.State = worst(one.Needs)
		prediction.Services = append(prediction.Services, one)
	}
	slices.SortFunc(prediction.Services, func(a, b Service) int { return strings.Compare(a.Name, b.Name) })
	return prediction
}

// State says how the boot ends: provided if it completes, missing if it never does.
func (p Prediction) State() State {
	var states []Need
	for _, service := range p.Services {
		states = append(states, Need{State: service.State})
	}
	return worst(states)
}

// Completes says whether the boot ends.
func (p Prediction) Completes() bool { return p.State() == Provided }

// Blocked are the services that never start.
func (p Prediction) Blocked() []Service {
	return slices.DeleteFunc(slices.Clone(p.Services), func(service Service) bool { return service.State != Missing })
}

// Lacking are the needs of a kind that are in a state, with the service that has each.
func (p Prediction) Lacking(kind Kind, state State) map[string]Need {
	found := map[string]Need{}
	for _, service := range p.Services {
		for _, need := range service.Needs {
			if need.Kind == kind && need.State == state {
				found[service.Name] = need
				break
			}
		}
	}
	return found
}

// Loop is what follows when the boot does not end, in sentences: of a machine that is started, or of one that is upgraded.
func Loop(upgrade bool) []string {
	minutes := int(Deadline / time.Minute)
	if upgrade {
		return []string{
			"The machine stays in stage booting, and its Node may be Ready all the while.",
			fmt.Sprintf("After %d minutes it starts again with the image that it had before, without a word: the upgrade looks done, and is not.", minutes),
		}
	}
	return []string{
		"The machine stays in stage booting, and its Node may be Ready all the while.",
		fmt.Sprintf("After %d minutes Talos gives up, turns the boot loader back and reboots; and again %d minutes later, and so on.", minutes, minutes),
		"An upgrade to this image falls back to the image before, without a word.",
	}
}

// worst is the state of what needs all of these.
func worst(needs []Need) State {
	state := Provided
	for _, need := range needs {
		if need.State == Missing {
			return Missing
		}
		if need.State == Unsure {
			state = Unsure
		}
	}
	return state
}
