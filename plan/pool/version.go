// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// Kubelet is the version of the kubelets of a cluster: the declared one, but never ahead of the API server. Held says that it is
// behind the declaration.
func Kubelet(cluster *api.TalosCluster) (kubelet api.KubernetesVersion, held bool, err error) {
	declared, serving := cluster.Spec.KubernetesVersion, cluster.Status.KubernetesVersion
	wanted, err := version.ParseSemantic(string(declared))
	if err != nil {
		return "", false, fmt.Errorf("spec.kubernetesVersion %q of TalosCluster %s: %w", declared, cluster.Name, err)
	}
	runs, err := version.ParseSemantic(string(serving))
	if err != nil {
		return "", false, fmt.Errorf("status.kubernetesVersion %q of TalosCluster %s: %w", serving, cluster.Name, err)
	}
	if runs.LessThan(wanted) {
		return serving, true, nil
	}
	return declared, false, nil
}

// Settled are the versions that the machines of a pool get.
type Settled struct {
	// Talos and Kubernetes are empty where machines can be made with none.
	Talos      api.TalosVersion
	Kubernetes api.KubernetesVersion
	// Refusal is why they are not those that are wanted; nil if they are.
	Refusal *Refusal
	// Doubt is what is wrong with versions that machines get all the same; empty if nothing is.
	Doubt string
}

// Settle decides the versions of a pool's machines, of which the kubelets' may be behind the cluster's declaration. Nothing is rolled to
// versions that do not go together by Talos's support matrix: machines stay at what they have, so that the pool can heal and scale. A
// pool whose machines have such versions keeps them, and where the matrix does not know a Talos version nobody can say.
func Settle(cluster *api.TalosCluster, kubelet api.KubernetesVersion, of *api.NodePool) Settled {
	wanted := Settled{Talos: cluster.Spec.TalosVersion, Kubernetes: kubelet}
	err := talos.Supports(wanted.Talos, wanted.Kubernetes)
	if err == nil {
		return wanted
	}
	has := Settled{Talos: of.Status.TalosVersion, Kubernetes: of.Status.KubernetesVersion}
	unsupported, is := errors.AsType[*talos.UnsupportedError](err)
	if !is || unsupported.Newest == 0 || has == wanted {
		wanted.Doubt = err.Error()
		return wanted
	}
	if has.Talos == "" || has.Kubernetes == "" {
		has = Settled{}
	}
	if talos.Supports(wanted.Talos, cluster.Spec.KubernetesVersion) == nil {
		has.Refusal = Refuse(api.ReasonWaiting, "waits until the API server of TalosCluster %s runs a version that goes with its talosVersion: %s%s", cluster.Name, err.Error(), has.stay())
		return has
	}
	has.Refusal = Refuse(api.ReasonInvalid, "%s%s: set talosVersion and kubernetesVersion of TalosCluster %s to versions that go together", err.Error(), has.stay(), cluster.Name)
	return has
}

// stay says at what machines stay.
func (s Settled) stay() string {
	if s.Talos == "" {
		return "; no machines are made"
	}
	return fmt.Sprintf("; machines stay at Talos %s and Kubernetes %s", s.Talos, s.Kubernetes)
}
