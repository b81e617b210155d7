// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// seeCluster reads a cluster off its object.
func seeCluster(object *api.TalosCluster) invariant.Cluster {
	ready, says := said(object.Status.Conditions)
	return invariant.Cluster{
		Name: object.Name, Deleting: !object.DeletionTimestamp.IsZero(), Says: says,
		Ready: ready && object.Status.ObservedGeneration == object.Generation,
	}
}

// said is whether an object says that it is ready, and in which words.
func said(conditions []metav1.Condition) (ready bool, words string) {
	found := meta.FindStatusCondition(conditions, api.ConditionReady)
	if found == nil {
		return false, "it says nothing"
	}
	return found.Status == metav1.ConditionTrue, found.Reason + ": " + found.Message
}

// seePool reads a pool off its object. Its budgets are those that were declared, and not what the operator makes of them.
func seePool(object *api.NodePool) invariant.Pool {
	ready, says := said(object.Status.Conditions)
	role := string(object.Spec.Role)
	limit := limitOf(object.Name, role)
	desired := number(object.Spec.Replicas)
	status := object.Status
	if ready && object.Status.ObservedGeneration != object.Generation {
		says = fmt.Sprintf("it was looked at in generation %d, and is in %d", object.Status.ObservedGeneration, object.Generation)
	}
	counted := number(status.Replicas) == desired && number(status.ReadyReplicas) == desired && number(status.UpToDateReplicas) == desired
	if ready && !counted {
		says = fmt.Sprintf("%d machines, %d ready, %d up to date", number(status.Replicas), number(status.ReadyReplicas), number(status.UpToDateReplicas))
	}
	seen := invariant.Pool{
		Cluster: string(object.Spec.ClusterName), Name: object.Name, Identity: string(object.UID), Exclusive: role == story.Gateway,
		Revision: status.Revision, Desired: desired, Surge: limit.surge, Unavailable: limit.unavailable, Unhealthy: max(1, desired*2/5),
		Deleting: !object.DeletionTimestamp.IsZero(), Says: says,
		Ready: ready && counted && status.ObservedGeneration == object.Generation,
	}
	if found := meta.FindStatusCondition(status.Conditions, api.ConditionReady); found != nil {
		seen.Denied = found.Reason == api.ReasonDenied
	}
	if object.Spec.Config != nil {
		seen.Label = object.Spec.Config.Labels[label]
	}
	return seen
}

// number is a number, or none.
func number(value *int32) int {
	if value == nil {
		return 0
	}
	return int(*value)
}

// seeMachine reads a machine of ours off its object.
func seeMachine(object *api.TalosMachine) invariant.Machine {
	known := machines.See(object)
	_, unhealthy := object.Annotations[machines.AnnotationUnhealthy]
	return invariant.Machine{
		Cluster: string(object.Spec.ClusterName), Pool: string(object.Spec.PoolName), Name: object.Name, Identity: string(object.UID),
		Instance: object.Status.ProviderID, Available: known.Available, Deleting: known.Deleting, Kept: known.Kept,
		Unhealthy: unhealthy || known.Failed != "",
	}
}

// seeVirtual reads a machine of Cluster API off its object.
func seeVirtual(object *unstructured.Unstructured) invariant.Machine {
	_, kept := object.GetAnnotations()[machines.AnnotationKept]
	cluster, _, _ := unstructured.NestedString(object.Object, "spec", "clusterName")
	instance, _, _ := unstructured.NestedString(object.Object, "spec", "providerID")
	return invariant.Machine{
		Cluster: cluster, Pool: object.GetLabels()[names.LabelPool], Name: object.GetName(), Identity: string(object.GetUID()),
		Instance: instance, Available: condition(object, "Available") == "True", Deleting: object.GetDeletionTimestamp() != nil, Kept: kept,
		Unhealthy: condition(object, "HealthCheckSucceeded") == "False", Virtual: true,
	}
}

// condition is the status of a condition of an object.
func condition(object *unstructured.Unstructured, kind string) string {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range all {
		if fields, ok := one.(map[string]any); ok && fields["type"] == kind {
			status, _ := fields["status"].(string)
			return status
		}
	}
	return ""
}
