// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	api "minos.dev/minos/api/v1alpha1"
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
