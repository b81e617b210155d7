// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/cluster-api/util/contract"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/kube/capi"
)

// addWebhooks serves every webhook that is installed, also of kinds that have no controller here: what is installed and
// not answered makes the API server refuse. Setting up a kind's admission sets up its conversion too.
func addWebhooks(mgr ctrl.Manager, clusters admission.ClusterCacheReader) error {
	conversion.SetAPIVersionGetter(func(ctx context.Context, kind schema.GroupKind) (string, error) {
		return apiVersion(ctx, mgr.GetClient(), kind)
	})
	c := mgr.GetClient()
	for _, hook := range []interface {
		SetupWebhookWithManager(mgr ctrl.Manager) error
	}{
		&admission.Cluster{Client: c, ClusterCacheReader: clusters},
		&admission.ClusterClass{Client: c},
		&admission.Machine{},
		&admission.MachineSet{},
		&admission.MachineDeployment{},
		&admission.MachineDrainRule{},
		&admission.MachineHealthCheck{},
		&admission.MachinePool{},
		&admission.ClusterResourceSet{},
		&admission.ClusterResourceSetBinding{},
		&admission.ExtensionConfig{},
		&admission.IPAddress{Client: mgr.GetAPIReader()},
		&admission.IPAddressClaim{},
	} {
		if err := hook.SetupWebhookWithManager(mgr); err != nil {
			return fmt.Errorf("set up the webhook %T: %w", hook, err)
		}
	}
	return nil
}

// apiVersion tells which version of a provider's kind to refer to. Objects of the old API name a version, those of the
// new one only the kind, so turning new into old has to look it up.
func apiVersion(ctx context.Context, c client.Reader, kind schema.GroupKind) (string, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	key := client.ObjectKey{Name: contract.CalculateCRDName(kind.Group, kind.Kind)}
	if err := c.Get(ctx, key, definition); err != nil {
		return "", fmt.Errorf("find the definition of %s: %w", kind, err)
	}
	version, err := capi.ContractVersion(definition.GetLabels())
	if err != nil {
		return "", fmt.Errorf("choose a version of %s: %w", kind, err)
	}
	return schema.GroupVersion{Group: kind.Group, Version: version}.String(), nil
}
