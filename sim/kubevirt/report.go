// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The conditions of a KubevirtMachine, and why they are not true.
const (
	provisioned = "VMProvisioned"

	waitingForCluster   = "WaitingForClusterInfrastructure"
	waitingForBootstrap = "WaitingForBootstrapData"
	createFailed        = "VMCreateFailed"
	notRunning          = "VMNotReady"
)

// A report is what is told of a machine.
type report struct {
	ready bool
	// reason and message say why it is not ready.
	reason, message string
	address         netip.Addr
	nodeUpdated     bool
}

// status is a KubevirtMachine's status, in the form of the real provider. A condition keeps the time of its last change.
func (r report) status(name string, before []any, now time.Time) map[string]any {
	status := map[string]any{"ready": r.ready, "nodeupdated": r.nodeUpdated, "conditions": []any{r.condition(before, now)}}
	if r.address.IsValid() {
		status["addresses"] = []any{
			address("Hostname", name), address("InternalIP", r.address.String()), address("ExternalIP", r.address.String()), address("InternalDNS", name),
		}
	}
	return status
}

// condition is whether the machine runs.
func (r report) condition(before []any, now time.Time) map[string]any {
	condition := map[string]any{"type": provisioned, "status": "True"}
	if !r.ready {
		condition["status"], condition["reason"], condition["message"], condition["severity"] = "False", r.reason, r.message, "Info"
	}
	condition["lastTransitionTime"] = metav1.NewTime(now).UTC().Format(time.RFC3339)
	for _, each := range before {
		if old, ok := each.(map[string]any); ok && old["type"] == provisioned && old["status"] == condition["status"] {
			condition["lastTransitionTime"] = old["lastTransitionTime"]
		}
	}
	return condition
}

func address(kind, value string) map[string]any {
	return map[string]any{"type": kind, "address": value}
}

// text reads a field; a field that is not there, or no text, is empty.
func text(object *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, fields...)
	return value
}

// yes reads a field in the same way.
func yes(object *unstructured.Unstructured, fields ...string) bool {
	value, _, _ := unstructured.NestedBool(object.Object, fields...)
	return value
}
