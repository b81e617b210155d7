// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/hosted"
)

// infrastructures are the kinds whose endpoint the provider sets, and whether it calls them ready too. It only looks at
// those of some other providers; these are not simulated.
var infrastructures = map[string]bool{
	"KubevirtCluster": true, "NutanixCluster": true, "PacketCluster": true,
	"AWSCluster": false, "AzureCluster": false, "HetznerCluster": false, "IonosCloudCluster": false,
}

// where is the endpoint as an object has it.
func (u *turn) where() (map[string]any, error) {
	host, port, err := u.spec.endpoint(netip.AddrPortFrom(u.address, hosted.Port))
	return map[string]any{"host": host, "port": port}, err
}

// publishEndpoint writes the endpoint into the control plane itself, where Cluster API takes it from.
func (u *turn) publishEndpoint(ctx context.Context) error {
	where, err := u.where()
	if err != nil {
		return err
	}
	return u.change(ctx, u.object, where, "spec", "controlPlaneEndpoint")
}

// patchInfrastructure writes the endpoint into the infrastructure's object, and for some kinds that it is ready.
func (u *turn) patchInfrastructure(ctx context.Context) error {
	reference := u.cluster.Spec.InfrastructureRef
	if reference.Name == "" {
		return errors.New("the Cluster has no infrastructureRef")
	}
	ready, known := infrastructures[reference.Kind]
	if !known && !slices.Contains(u.kamaji.options.Infrastructure, reference.Kind) {
		return fmt.Errorf("unsupported infrastructure provider: %s", reference.Kind)
	}
	mapping, err := u.kamaji.client.RESTMapper().RESTMapping(schema.GroupKind{Group: reference.APIGroup, Kind: reference.Kind})
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := u.kamaji.client.Get(ctx, types.NamespacedName{Namespace: u.key.Namespace, Name: reference.Name}, object); err != nil {
		return err
	}
	where, err := u.where()
	if err != nil {
		return err
	}
	if err := u.change(ctx, object, where, "spec", "controlPlaneEndpoint"); err != nil || !ready {
		return err
	}
	return u.change(ctx, object, true, "status", "ready")
}

// change sets one field of an object, if it is another one.
func (u *turn) change(ctx context.Context, object *unstructured.Unstructured, value any, path ...string) error {
	now, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil || equality.Semantic.DeepEqual(now, value) {
		return err
	}
	patch := client.MergeFrom(object.DeepCopy())
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		return err
	}
	if path[0] == "status" {
		return u.kamaji.client.Status().Patch(ctx, object, patch)
	}
	return u.kamaji.client.Patch(ctx, object, patch)
}
