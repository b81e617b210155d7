// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// isLive says whether a credential is asked of a management cluster instead of a folder. The two have different flags: one that
// was typed and would do nothing is refused, and one that a variable set is passed over.
func isLive(cmd *cobra.Command, onlyFolder ...string) (bool, error) {
	typed := func(flag string) bool {
		f := cmd.Flags().Lookup(flag)
		return f.Changed && os.Getenv(variable(flag)) == ""
	}
	asked := typed("kubeconfig") || typed("context")
	known := cmd.Flags().Changed("kubeconfig") || cmd.Flags().Changed("context")
	if !asked && (!known || typed("folder")) {
		if typed("namespace") {
			return false, errors.New("--namespace is for a management cluster: give --kubeconfig or --context too")
		}
		return false, nil
	}
	for _, flag := range onlyFolder {
		if typed(flag) {
			return false, Hint(fmt.Errorf("--%s is for credentials made from a folder, and --kubeconfig or --context ask a management cluster", flag),
				fmt.Sprintf("remove one of them; the variables %s and %s count too", variable("kubeconfig"), variable("context")))
		}
	}
	return true, nil
}

// A keptSecret is a key of a Secret in which a management cluster keeps a credential.
type keptSecret struct{ name, key string }

// keptKubeconfig is where the kubeconfig of a cluster is kept.
func keptKubeconfig(cluster *api.TalosCluster) keptSecret {
	if external := cluster.Spec.ControlPlane.External; external != nil {
		return keptSecret{string(external.KubeconfigSecretRef.Name), external.KubeconfigSecretRef.Key}
	}
	return keptSecret{names.Kubeconfig(cluster), "value"}
}

// keptTalosconfig is where the talosconfig of a cluster is kept.
func keptTalosconfig(cluster *api.TalosCluster) keptSecret {
	return keptSecret{names.Talosconfig(cluster), "talosconfig"}
}

// kept reads a credential from the management cluster, with the rights of whoever asks, and writes it.
func (o credentialOptions) kept(cmd *cobra.Command, name string, where func(*api.TalosCluster) keptSecret) error {
	l, err := o.access.connect(cmd)
	if err != nil {
		return err
	}
	cluster, err := l.cluster(cmd.Context(), name)
	if err != nil {
		return err
	}
	at, secret := where(cluster), &corev1.Secret{}
	there, err := l.mayNotExist(cmd.Context(), client.ObjectKey{Namespace: l.namespace, Name: at.name}, secret)
	if err != nil {
		return err
	}
	if !there || len(secret.Data[at.key]) == 0 {
		return Hint(fmt.Errorf("cluster %s has no such credential yet: key %s of Secret %s is not there", name, at.key, at.name),
			fmt.Sprintf("'minos cluster describe %s -n %s' shows how far it is", name, l.namespace))
	}
	written, err := o.put(cmd, secret.Data[at.key])
	if written {
		say(cmd, "wrote %s", *o.out)
	}
	return err
}
