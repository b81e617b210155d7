// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// With is what there is, once the deployment is as wanted. The number of machines is the autoscaler's where it is not ours.
func (l Live) With(wanted *unstructured.Unstructured) Live {
	whole := wanted.DeepCopy()
	if _, said, _ := unstructured.NestedInt64(whole.Object, "spec", "replicas"); !said && l.Deployment != nil {
		whole.Object["spec"].(fields)["replicas"] = int64(l.Desired())
	}
	if l.Deployment != nil {
		whole.SetGeneration(l.Deployment.GetGeneration())
		whole.Object["status"] = l.Deployment.Object["status"]
	}
	l.Deployment = whole
	return l
}

// Autoscaled says whether the autoscaler decides how many machines there are.
func (l Live) Autoscaled() bool {
	if l.Deployment == nil {
		return false
	}
	_, found := l.Deployment.GetAnnotations()[autoscalerMin]
	return found
}

// Settled says whether Cluster API has looked at the deployment as it is: then it makes nothing any more of what was before.
func (l Live) Settled() bool {
	if l.Deployment == nil {
		return false
	}
	observed, _, _ := unstructured.NestedInt64(l.Deployment.Object, "status", "observedGeneration")
	return observed == l.Deployment.GetGeneration()
}

// Uniform says whether all there is was made from one template, so that nothing needs what others refer to.
func (l Live) Uniform(template string) bool {
	for _, set := range l.Sets {
		if text(&set, "spec", "template", "spec", "infrastructureRef", "name") != template {
			return false
		}
	}
	return true
}

// Rolls says in words why machines are replaced when the deployment becomes as wanted; empty if none is.
func (l Live) Rolls(wanted *unstructured.Unstructured) string {
	if l.Deployment == nil {
		return ""
	}
	for _, part := range []struct {
		words string
		path  []string
	}{
		{"the machine is another", []string{"infrastructureRef", "name"}}, {"the configuration is another", []string{"bootstrap", "dataSecretName"}},
		{"the configuration is another", []string{"bootstrap", "configRef", "name"}}, {"the Kubernetes version is another", []string{"version"}},
	} {
		path := append([]string{"spec", "template", "spec"}, part.path...)
		if before, after := text(l.Deployment, path...), text(wanted, path...); before != after {
			return fmt.Sprintf("machines are replaced within the limits of rollout, because %s: %s instead of %s", part.words, after, before)
		}
	}
	return ""
}
