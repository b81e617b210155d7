// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// Keeping is which failed machines are taken out of the deployment for study, so that others are made in their place.
type Keeping struct {
	// Take are those machines, with the reason.
	Take []machines.Reasoned
	// Held is why none is taken although some have failed; empty if nothing is held back.
	Held string
}

// Kept is how many machines are kept for study.
func (l Live) Kept() int32 {
	var count int32
	for at := range l.Machines {
		if isKept(&l.Machines[at]) {
			count++
		}
	}
	return count
}

// Keep decides which failed machines are kept: none while so many have failed that something else must be wrong, and no more than
// that number in all. Those above it are left to the health check, which replaces them.
func (l Live) Keep(pool *api.NodePool) Keeping {
	health := pool.Spec.Health
	if health == nil || health.Failed != api.FailedKeep {
		return Keeping{}
	}
	var failed []machines.Reasoned
	for at := range l.Machines {
		machine := &l.Machines[at]
		seen := condition(machine, "HealthCheckSucceeded")
		if seen.is("False") && !isKept(machine) && machine.GetDeletionTimestamp().IsZero() {
			failed = append(failed, machines.Reasoned{Name: machine.GetName(), Reason: strip(seen.Message, machine.GetName())})
		}
	}
	slices.SortFunc(failed, func(a, b machines.Reasoned) int { return strings.Compare(a.Name, b.Name) })
	most := allowance(health, l.Desired())
	if int32(len(failed)) > most {
		return Keeping{Held: fmt.Sprintf("%d of %d machines have failed and at most %d may: none is kept or replaced, because something else is likely wrong; %s: %s. Mend it, or raise health.maxUnhealthy",
			len(failed), l.Desired(), most, failed[0].Name, failed[0].Reason)}
	}
	return Keeping{Take: failed[:min(len(failed), int(max(most-l.Kept(), 0)))]}
}

// allowance is how many machines of so many may be unhealthy. A share that is not zero allows one at least, or a small pool could
// never heal.
func allowance(declared *api.Health, of int32) int32 {
	allowed := unhealthy(declared, of)
	number, err := intstr.GetScaledValueFromIntOrPercent(&allowed, int(of), false)
	if err != nil {
		return 0 // the schema lets no other through
	}
	return int32(number)
}

// isKept says whether a machine is kept for study.
func isKept(machine *unstructured.Unstructured) bool {
	_, kept := machine.GetAnnotations()[machines.AnnotationKept]
	return kept
}

// Take is what makes a machine the pool's own, and no longer the deployment's, as a merge patch. Without the labels no MachineSet
// and no health check selects it; with another controller a MachineSet that has not noticed yet cannot take it back.
func Take(pool *api.NodePool, machine *unstructured.Unstructured, reason string) map[string]any {
	return fields{"metadata": fields{
		"resourceVersion": machine.GetResourceVersion(),
		"annotations":     fields{machines.AnnotationKept: reason},
		"labels":          fields{deploymentLabel: nil, setLabel: nil, hashLabel: nil},
		"ownerReferences": []metav1.OwnerReference{Owner(pool)},
	}}
}

// Cluster API's labels that tie a machine to its set.
const (
	setLabel  = "cluster.x-k8s.io/set-name"
	hashLabel = "machine-template-hash"
)
