// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"minos.dev/minos/plan/names"
)

// What a machine that goes away is given, in seconds, where the cluster may be dead.
const (
	nodeDeletion = 60
	volumeDetach = 300
)

// deployment is the machines of the pool.
func (in Input) deployment(with Objects) *unstructured.Unstructured {
	made := in.object(DeploymentKind, in.Pool.Name)
	bootstrap := fields{"dataSecretName": in.Revision}
	if with.Bootstrap != nil {
		bootstrap = fields{"configRef": reference(with.Bootstrap)}
	}
	spec := fields{
		"clusterName": in.Cluster.Name,
		"selector":    in.selector(),
		"rollout": fields{"strategy": fields{"type": "RollingUpdate", "rollingUpdate": fields{
			"maxSurge": number(in.Budget.Surge), "maxUnavailable": number(in.Budget.Unavailable),
		}}},
		"template": fields{
			"metadata": fields{"labels": texts(in.machineLabels())},
			"spec": fields{
				"clusterName": in.Cluster.Name, "version": string(in.Cluster.Spec.KubernetesVersion), "bootstrap": bootstrap,
				"infrastructureRef": reference(with.Template), "deletion": in.deletion(),
			},
		},
	}
	if in.Pool.Spec.Autoscaling != nil {
		made.SetAnnotations(in.autoscaling(with.Capacity))
	} else {
		spec["replicas"] = int64(in.Granted)
	}
	made.Object["spec"] = spec
	return made
}

// deletion is how long a machine that goes away may take. None but the drain may wait forever: a dead cluster would keep its
// machines.
func (in Input) deletion() fields {
	return fields{
		"nodeDrainTimeoutSeconds": int64(in.Budget.DrainSeconds), "nodeVolumeDetachTimeoutSeconds": int64(volumeDetach),
		"nodeDeletionTimeoutSeconds": int64(nodeDeletion),
	}
}

// bootstrap is the configuration in an object of the bootstrap provider for Talos, which hands it on as it is.
func (in Input) bootstrap() *unstructured.Unstructured {
	made := in.object(BootstrapKind, in.Revision)
	made.Object["spec"] = fields{"template": fields{"spec": fields{
		"generateType": "none", "talosVersion": talosMinor(string(in.Cluster.Spec.TalosVersion)), "data": string(in.Configuration),
	}}}
	sum := sha256.Sum256(in.Configuration)
	made.SetAnnotations(map[string]string{names.AnnotationApplied: hex.EncodeToString(sum[:8])})
	labels := made.GetLabels()
	labels[names.LabelPurpose] = names.PurposeConfiguration
	made.SetLabels(labels)
	return made
}

// talosMinor is a release without its patch, as the bootstrap provider has it.
func talosMinor(version string) string {
	dots := 0
	for at := range version {
		if version[at] == '.' {
			if dots++; dots == 2 {
				return version[:at]
			}
		}
	}
	return version
}

// reference is another object as Cluster API refers to it.
func reference(to *unstructured.Unstructured) fields {
	kind := to.GroupVersionKind()
	return fields{"apiGroup": kind.Group, "kind": kind.Kind, "name": to.GetName()}
}

// number is a number or a share, as a field.
func number(value intstr.IntOrString) any {
	if value.Type == intstr.String {
		return value.StrVal
	}
	return int64(value.IntVal)
}
