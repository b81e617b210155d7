// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"k8s.io/client-go/rest"

	"minos.dev/minos/check/facts"
)

// Options are which cluster is asked, and how.
type Options struct {
	// Kubernetes is how its API server is reached; nil means that it is not asked.
	Kubernetes *rest.Config
	// Talos is how its machines are reached; nil means that they are not asked.
	Talos *clientconfig.Context
	// Machines are those that Talos is asked of, by address or name. Without any it is every Node, by its first address.
	Machines []string
	// Kinds are the resources of Talos that are read; all that rules read, if none is named.
	Kinds []string
	// Call is how long one question may take; ten seconds, if it is zero.
	Call time.Duration
}

// atOnce is how many machines are asked at the same time.
const atOnce = 16

// Read asks a cluster. What could not be read is said in the files, and in the lines for people; an error is only what makes all of it
// worthless: that nothing was to be asked, or that the time is up.
func Read(ctx context.Context, options Options) (files []*facts.File, unread []string, err error) {
	if options.Kubernetes == nil && options.Talos == nil {
		return nil, nil, errors.New("there is neither a kubeconfig nor a talosconfig by which a cluster could be asked")
	}
	options.Call = cmp.Or(options.Call, 10*time.Second)
	if len(options.Kinds) == 0 {
		options.Kinds = facts.LiveResources()
	}
	var readings []facts.Reading
	machines := slices.Clone(options.Machines)
	if options.Kubernetes != nil {
		pages, reading := nodes(ctx, options)
		if files, err = save(files, "live/nodes", reading, pages); err != nil {
			return nil, nil, err
		}
		readings = append(readings, reading)
		if len(machines) == 0 {
			machines = addresses(pages)
		}
	}
	if options.Talos == nil {
		return files, missing(readings), ctx.Err()
	}
	if len(machines) == 0 {
		machines = slices.Clone(options.Talos.Nodes)
	}
	slices.Sort(machines)
	for _, asked := range askAll(ctx, options, slices.Compact(machines)) {
		name := "live/talos-" + strings.ReplaceAll(asked.reading.Node, ":", "-")
		if files, err = save(files, name, asked.reading, [][]map[string]any{asked.objects}); err != nil {
			return nil, nil, err
		}
		readings = append(readings, asked.reading)
	}
	return files, missing(readings), ctx.Err()
}

// save writes pages of objects as files, the reading into the first of them.
func save(files []*facts.File, name string, reading facts.Reading, pages [][]map[string]any) ([]*facts.File, error) {
	if len(pages) == 0 {
		pages = [][]map[string]any{nil}
	}
	for at, objects := range pages {
		path := name + ".json"
		if at > 0 {
			path = fmt.Sprintf("%s-%d.json", name, at+1)
		}
		if at == 0 {
			objects = append([]map[string]any{reading.Object()}, objects...)
		}
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "    ") // as kubectl and talosctl do
		for _, object := range objects {
			if err := encoder.Encode(object); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		files = append(files, &facts.File{Path: path, Text: text.Bytes()})
	}
	return files, nil
}

// An answer is what one machine said.
type answer struct {
	reading facts.Reading
	objects []map[string]any
}

// askAll asks machines, some at a time, and returns their answers in the order of the machines.
func askAll(ctx context.Context, options Options, machines []string) []answer {
	answers := make([]answer, len(machines))
	turns := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for at, machine := range machines {
		work.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			answers[at] = ask(ctx, options, machine)
		})
	}
	work.Wait()
	return answers
}

// plain is an error in one line, without what gRPC puts around it.
func plain(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, "desc = "); at >= 0 {
		text = text[at+len("desc = "):]
	}
	return strings.Join(strings.Fields(strings.Trim(text, `"`)), " ")
}
