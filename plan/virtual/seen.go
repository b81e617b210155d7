// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/pool"
)

// clonedFrom is where Cluster API writes which template something was made from.
const clonedFrom = "cluster.x-k8s.io/cloned-from-name"

// Live is what there is of a pool in the management cluster.
type Live struct {
	// Deployment is the pool's, or nil.
	Deployment *unstructured.Unstructured
	// Sets are its MachineSets, Machines its Machines, and Virtual its KubevirtMachines.
	Sets, Machines, Virtual []unstructured.Unstructured
}

// Seen says in our words what Cluster API says of the machines.
func (l Live) Seen() pool.Seen {
	seen := pool.Seen{Desired: l.Desired(), Replicas: int32(len(l.Machines)) - l.Kept()}
	virtual := l.virtual()
	for at := range l.Machines {
		machine := &l.Machines[at]
		if why, kept := machine.GetAnnotations()[machines.AnnotationKept]; kept {
			seen.Notes = append(seen.Notes, fmt.Sprintf("Machine %s failed and is kept for study until somebody deletes it: %s", machine.GetName(), why))
			continue
		}
		own := virtual[text(machine, "spec", "infrastructureRef", "name")]
		one := tell(machine, own)
		if one.Ready {
			seen.Ready++
		}
		switch {
		case l.newest(machine, own):
			seen.UpToDate++
		case own == nil:
			seen.Passing++
		}
		seen.Machines = append(seen.Machines, one)
	}
	return seen
}

// virtual are the KubevirtMachines by name.
func (l Live) virtual() map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for at := range l.Virtual {
		found[l.Virtual[at].GetName()] = &l.Virtual[at]
	}
	return found
}

// Desired is how many machines somebody wants at the moment.
func (l Live) Desired() int32 {
	if l.Deployment == nil {
		return 0
	}
	replicas, _, _ := unstructured.NestedInt64(l.Deployment.Object, "spec", "replicas")
	return int32(replicas)
}

// newest says whether a machine is what the deployment says now.
func (l Live) newest(machine, virtual *unstructured.Unstructured) bool {
	if l.Deployment == nil || virtual == nil {
		return false
	}
	wanted := func(path ...string) string {
		return text(l.Deployment, append([]string{"spec", "template", "spec"}, path...)...)
	}
	if virtual.GetAnnotations()[clonedFrom] != wanted("infrastructureRef", "name") || text(machine, "spec", "version") != wanted("version") {
		return false
	}
	if secret := wanted("bootstrap", "dataSecretName"); secret != "" {
		return text(machine, "spec", "bootstrap", "dataSecretName") == secret
	}
	return condition(machine, "UpToDate").is("True")
}

// tell says how far one machine is, and what it waits for.
func tell(machine, virtual *unstructured.Unstructured) pool.Machine {
	told := pool.Machine{Name: machine.GetName()}
	if !machine.GetDeletionTimestamp().IsZero() {
		told.Waits, told.Why = "its end", strip(condition(machine, "Deleting").Message, told.Name)
		return told
	}
	if healthy := condition(machine, "HealthCheckSucceeded"); healthy.is("False") {
		told.Failed, told.Waits, told.Why = true, "its replacement", strip(healthy.Message, told.Name)
		return told
	}
	for _, step := range []struct{ kind, waits string }{
		{"BootstrapConfigReady", "its configuration"}, {"InfrastructureReady", "its virtual machine"}, {"NodeReady", "its Node"},
	} {
		seen := condition(machine, step.kind)
		if seen.is("True") {
			continue
		}
		told.Waits, told.Why = step.waits, strip(seen.Message, told.Name)
		if step.kind == "InfrastructureReady" && virtual != nil {
			if own := condition(virtual, "VMProvisioned"); own.is("False") && own.Message != "" {
				told.Why = strip(own.Message, told.Name)
			}
		}
		if step.kind == "NodeReady" && text(machine, "status", "nodeRef", "name") == "" {
			told.Waits, told.Why = "its Node", "the virtual machine runs and has not joined yet; its console says how far it is"
		}
		return told
	}
	told.Ready = true
	return told
}

// strip makes a message one line that does not depend on the machine: machines that wait for the same are told of together.
func strip(message, name string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(message, name, "the machine")) {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "* ")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, ", "), ":, ", ": ")
}

// A state is a condition, as far as it matters here.
type state struct{ Status, Message string }

// is says whether a condition has a status. One that is not there has none.
func (s state) is(status string) bool { return s.Status == status }

// condition reads a condition of an object.
func condition(object *unstructured.Unstructured, kind string) state {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range all {
		if found, ok := each.(fields); ok && found["type"] == kind {
			status, _ := found["status"].(string)
			message, _ := found["message"].(string)
			return state{status, message}
		}
	}
	return state{}
}

// text reads a field; one that is not there, or no text, is empty.
func text(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
}
