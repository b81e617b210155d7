// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// health says when a machine of the pool counts as failed, and that it is replaced then: unless so many have failed that
// something else must be wrong.
func (in Input) health() *unstructured.Unstructured {
	declared := in.Pool.Spec.Health
	if declared == nil {
		declared = &api.Health{}
	}
	made := in.object(HealthKind, in.Pool.Name)
	made.Object["spec"] = fields{
		"clusterName": in.Cluster.Name,
		"selector":    in.selector(),
		"checks": fields{
			"nodeStartupTimeoutSeconds": seconds(declared.StartupTimeoutSeconds, machines.DefaultStartup),
			"unhealthyNodeConditions": []any{
				fields{"type": "Ready", "status": "False", "timeoutSeconds": seconds(declared.NotReadyTimeoutSeconds, machines.DefaultNotReady)},
				fields{"type": "Ready", "status": "Unknown", "timeoutSeconds": seconds(declared.UnknownTimeoutSeconds, machines.DefaultSilent)},
			},
		},
		"remediation": fields{"triggerIf": fields{"unhealthyLessThanOrEqualTo": number(in.replaced(declared))}},
	}
	return made
}

// replaced is how many machines may be unhealthy for Cluster API to replace them. It finds out which have failed and replaces none as
// long as more of them may be kept: those are taken out of the deployment.
func (in Input) replaced(declared *api.Health) intstr.IntOrString {
	if declared.Failed == api.FailedKeep && in.Kept < allowance(declared, in.Have) {
		return intstr.FromInt32(0)
	}
	return unhealthy(declared, in.Have)
}

// unhealthy is how many machines of so many may be unhealthy before none is replaced. A share that rounds down to nothing for a
// small pool is one machine: such a pool would never heal.
func unhealthy(declared *api.Health, count int32) intstr.IntOrString {
	allowed := intstr.FromString(machines.DefaultUnhealthy)
	if declared.MaxUnhealthy != nil {
		allowed = *declared.MaxUnhealthy
	}
	if allowed.Type == intstr.Int || allowed.StrVal == "0%" || count == 0 {
		return allowed
	}
	some, err := intstr.GetScaledValueFromIntOrPercent(&allowed, int(count), false)
	if err == nil && some == 0 {
		return intstr.FromInt32(1)
	}
	return allowed
}

// seconds is a time as declared, or its default.
func seconds(declared *int32, otherwise int64) int64 {
	if declared == nil {
		return otherwise
	}
	return int64(*declared)
}
