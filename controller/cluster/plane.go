// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/hosted"
)

// part reads the object of a kind that bears the cluster's name, or nil if there is none.
func (t *turn) part(ctx context.Context, kind hosted.Kind) (*unstructured.Unstructured, error) {
	served, err := t.served(kind)
	if material.IsWaiting(err) {
		return nil, nil // where there is no such kind, there is no such object
	}
	if err != nil {
		return nil, err
	}
	if err := t.watches.ensure(served); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(served)
	err = t.Client.Get(ctx, client.ObjectKeyFromObject(t.cluster), object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

// controlPlane asks for the control plane, or looks at that of somebody else.
func (t *turn) controlPlane(ctx context.Context) (metav1.Condition, error) {
	if t.cluster.Spec.ControlPlane.External != nil {
		return t.external(ctx)
	}
	if err := hosted.Overlap(t.cluster, t.Settings.Management); err != nil {
		return metav1.Condition{}, &verdict{api.ReasonInvalid, err}
	}
	if err := t.allowed(ctx); err != nil {
		return metav1.Condition{}, err
	}
	facts, err := t.facts()
	if err != nil {
		return metav1.Condition{}, err
	}
	next, held, err := hosted.Next(hosted.Versions{Asked: t.view.Asked, Runs: t.view.Runs, Wanted: t.cluster.Spec.KubernetesVersion})
	if err != nil {
		return metav1.Condition{}, &verdict{api.ReasonInvalid, err}
	}
	facts.KubernetesVersion = next
	for _, object := range hosted.Objects(t.cluster, facts) {
		wrote, err := t.writer.Apply(ctx, object)
		if err != nil {
			return metav1.Condition{}, explain(err, facts.Served)
		}
		if wrote && object.GetKind() == hosted.ControlPlaneKind.Kind.Kind {
			t.upgrades(next)
		}
	}
	return hosted.ControlPlaneReady(t.cluster, t.view, held), nil
}

// allowed says why the cluster may not have what it names of the platform's.
func (t *turn) allowed(ctx context.Context) error {
	if t.cluster.Spec.ControlPlane.Kamaji.DataStoreName == "" {
		return nil
	}
	namespace := &corev1.Namespace{}
	if err := t.Client.Get(ctx, client.ObjectKey{Name: t.cluster.Namespace}, namespace); err != nil {
		return fmt.Errorf("read namespace %s: %w", t.cluster.Namespace, err)
	}
	if err := hosted.DataStore(t.cluster, namespace.Annotations); err != nil {
		return &verdict{api.ReasonDenied, err}
	}
	return nil
}

// facts are what the objects follow from beside the cluster. Every kind of them must be served.
func (t *turn) facts() (found hosted.Facts, err error) {
	if found.SignerImage, err = hosted.SignerImage(t.cluster, t.Settings.SignerImage); err != nil {
		return found, &verdict{api.ReasonInvalid, err}
	}
	for _, kind := range hosted.Kinds() {
		served, err := t.served(kind)
		if err == nil {
			err = t.watches.ensure(served)
		}
		if err != nil {
			return found, err
		}
		if kind.Kind == hosted.ControlPlaneKind.Kind {
			found.Served = served.Version
		}
	}
	return found, nil
}

// explain says of an error of writing what can be done about it, where that is known.
func explain(err error, served string) error {
	if strings.Contains(err.Error(), "field not declared in schema") {
		return &verdict{api.ReasonInvalid, fmt.Errorf("KamajiControlPlane %s of the management cluster lacks a field that Talos workers need: install %s: %w",
			served, hosted.ControlPlaneKind.Install, err)}
	}
	return failed(err)
}

// external asks an API server that is somebody else's for its version.
func (t *turn) external(ctx context.Context) (metav1.Condition, error) {
	config, err := t.Tenants.Config(ctx, t.cluster)
	if apierrors.IsNotFound(err) {
		name, _ := tenant.Kubeconfig(t.cluster)
		return metav1.Condition{}, &material.Waiting{For: fmt.Sprintf("Secret %s with the kubeconfig does not exist yet", name)}
	}
	if err != nil {
		return metav1.Condition{}, err
	}
	asking, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return metav1.Condition{}, err
	}
	version, err := asking.ServerVersion()
	if err != nil {
		return metav1.Condition{}, fmt.Errorf("the API server at %s does not answer: %w", config.Host, err)
	}
	t.report.KubernetesVersion = version.GitVersion
	return hosted.Yes(api.ConditionControlPlaneReady, fmt.Sprintf("%s answers at %s", version.GitVersion, config.Host)), nil
}
