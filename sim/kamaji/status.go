// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// A report is the status of a KamajiControlPlane in the making. v1alpha1 keeps the contract v1beta1 of Cluster API and
// v1alpha2 the contract v1beta2: some fields have a place in only one of them.
type report struct {
	old        bool // v1alpha1
	name       string
	generation int64
	fields     map[string]any
	conditions []metav1.Condition
}

// readReport begins with what was written before. What cannot be read is written anew.
func readReport(object *unstructured.Unstructured) report {
	var before struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &before)
	fields, _, _ := unstructured.NestedMap(object.Object, "status")
	if fields == nil {
		fields = map[string]any{}
	}
	r := report{
		old: object.GroupVersionKind().Version == "v1alpha1", name: object.GetName(), generation: object.GetGeneration(),
		fields: fields, conditions: before.Status.Conditions,
	}
	r.begin()
	return r
}

// begin sets what is there from the first moment.
func (r *report) begin() {
	r.fields["externalManagedControlPlane"] = true
	for name, value := range map[string]any{"ready": false, "version": ""} {
		if _, ok := r.fields[name]; !ok {
			r.fields[name] = value
		}
	}
	if _, ok := r.fields["initialized"]; !ok && r.old {
		r.fields["initialized"] = false
	}
}

// text is a field that is a text.
func (r *report) text(name string) string {
	text, _ := r.fields[name].(string)
	return text
}

// initialized says whether it was ever reported as that.
func (r *report) initialized() bool {
	if r.old {
		return r.fields["initialized"] == true
	}
	yes, _, _ := unstructured.NestedBool(r.fields, "initialization", "controlPlaneInitialized")
	return yes
}

// initialize reports that.
func (r *report) initialize() {
	if r.old {
		r.fields["initialized"] = true
		return
	}
	r.fields["initialization"] = map[string]any{"controlPlaneInitialized": true}
}

// count reports how many API servers there should be and how many can be used. That it is one process is our secret.
func (r *report) count(want, ready int64) {
	r.fields["replicas"], r.fields["readyReplicas"] = want, ready
	r.fields["selector"] = "kamaji.clastix.io/component=deployment,kamaji.clastix.io/name=" + r.name
	if r.old {
		r.fields["updatedReplicas"], r.fields["unavailableReplicas"] = want, want-ready
		return
	}
	r.fields["upToDateReplicas"], r.fields["availableReplicas"] = want, ready
}

// roll reports the version that has been rolled out.
func (r *report) roll(version string) { r.fields["version"] = version }

// ready reports whether it can be used.
func (r *report) ready(yes bool) {
	r.fields["ready"] = yes
	if r.old {
		return
	}
	condition := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "NotAvailable", ObservedGeneration: r.generation}
	if yes {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Available"
	}
	meta.SetStatusCondition(&r.conditions, condition)
}

// set reports how something went.
func (r *report) set(name, success string, failed error) {
	condition := metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: success, ObservedGeneration: r.generation}
	if failed != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Pending", failed.Error()
	}
	meta.SetStatusCondition(&r.conditions, condition)
}

// remove takes a condition back.
func (r *report) remove(name string) { meta.RemoveStatusCondition(&r.conditions, name) }

// status is the report as the object has it.
func (r *report) status() (map[string]any, error) {
	fields := runtime.DeepCopyJSON(r.fields)
	conditions := make([]any, 0, len(r.conditions))
	for at := range r.conditions {
		condition, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&r.conditions[at])
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition)
	}
	fields["conditions"] = conditions
	return fields, nil
}

// write writes the report, if it says something new.
func (u *turn) write(ctx context.Context) error {
	status, err := u.report.status()
	if err != nil || equality.Semantic.DeepEqual(u.object.Object["status"], status) {
		return err
	}
	u.object.Object["status"] = status
	return u.kamaji.client.Status().Update(ctx, u.object)
}
