// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	api "minos.dev/minos/api/v1alpha1"
)

// A View is what was seen of a control plane.
type View struct {
	// Endpoint is where it is, or nil.
	Endpoint *api.Endpoint
	// Asked and Runs are its versions.
	Asked, Runs string
	// Ready says whether it can be used.
	Ready bool
	// Trouble is what its provider says it waits for.
	Trouble string
}

// ReadControlPlane reads a KamajiControlPlane, of either version. Of nil there is nothing to see.
func ReadControlPlane(live *unstructured.Unstructured) (View, error) {
	if live == nil {
		return View{}, nil
	}
	var read struct {
		Spec struct {
			Version              string       `json:"version"`
			ControlPlaneEndpoint api.Endpoint `json:"controlPlaneEndpoint"`
		} `json:"spec"`
		Status struct {
			Ready          bool               `json:"ready"`
			Version        string             `json:"version"`
			FailureMessage string             `json:"failureMessage"`
			Conditions     []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &read); err != nil {
		return View{}, fmt.Errorf("KamajiControlPlane %s: %w", live.GetName(), err)
	}
	view := View{Asked: read.Spec.Version, Runs: read.Status.Version, Ready: read.Status.Ready, Trouble: read.Status.FailureMessage}
	if read.Spec.ControlPlaneEndpoint.Host != "" {
		view.Endpoint = &api.Endpoint{Host: read.Spec.ControlPlaneEndpoint.Host, Port: cmp.Or(read.Spec.ControlPlaneEndpoint.Port, 6443)}
	}
	for _, condition := range read.Status.Conditions {
		if view.Trouble == "" && condition.Status == metav1.ConditionFalse && condition.Message != "" {
			view.Trouble = fmt.Sprintf("%s: %s", condition.Type, condition.Message)
		}
	}
	return view, nil
}

// ControlPlaneReady is the condition of a hosted control plane: whether it runs, at the wanted version. Held is why it is not
// asked for the wanted version.
func ControlPlaneReady(cluster *api.TalosCluster, view View, held Held) metav1.Condition {
	wanted := string(cluster.Spec.KubernetesVersion)
	switch {
	case !view.Ready && view.Runs != "":
		return not(api.ConditionControlPlaneReady, api.ReasonFailed,
			fmt.Sprintf("the control plane does not serve: %s: look at Deployment %s", cmp.Or(view.Trouble, "Kamaji does not say why"), cluster.Name))
	case !view.Ready || view.Endpoint == nil:
		return not(api.ConditionControlPlaneReady, api.ReasonProgressing,
			"the control plane is being made: "+cmp.Or(view.Trouble, "Kamaji has said nothing of it yet"))
	case held.Why != "":
		return not(api.ConditionControlPlaneReady, held.Reason, held.Why)
	case withPrefix(view.Runs) != wanted:
		return not(api.ConditionControlPlaneReady, api.ReasonProgressing,
			fmt.Sprintf("the control plane runs %s and is being brought to %s", withPrefix(view.Runs), wanted))
	}
	return Yes(api.ConditionControlPlaneReady, fmt.Sprintf("%s answers at %s:%d", wanted, view.Endpoint.Host, view.Endpoint.Port))
}

// Yes is a condition that holds.
func Yes(kind, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: api.ReasonReady, Message: message}
}

// No is a condition that does not hold. What could not be read is unknown rather than false.
func No(kind, reason, message string) metav1.Condition {
	made := not(kind, reason, message)
	if reason == api.ReasonUnreadable || reason == api.ReasonNotYetKnown {
		made.Status = metav1.ConditionUnknown
	}
	return made
}

// not is a condition that is false.
func not(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}
