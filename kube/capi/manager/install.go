// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"minos.dev/minos/kube/capi"
)

const (
	pollEvery  = 50 * time.Millisecond
	readyLimit = time.Minute
)

var definitionResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// webhookResources are the resources of the two kinds of configuration.
var webhookResources = map[string]schema.GroupVersionResource{
	"MutatingWebhookConfiguration":   admissionv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"),
	"ValidatingWebhookConfiguration": admissionv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
}

// An installer puts Cluster API's manifests into the API server. It applies, so a second start with another port and
// another authority changes what the first one left.
type installer struct {
	client    dynamic.Interface
	manifests capi.Manifests
}

func newInstaller(config *rest.Config, manifests capi.Manifests) (installer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return installer{}, fmt.Errorf("make a client: %w", err)
	}
	return installer{client, manifests}, nil
}

func (in installer) apply(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: name, Force: true}
	if _, err := in.client.Resource(resource).Apply(ctx, object.GetName(), object, options); err != nil {
		return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// definitions installs the custom resource definitions and waits until all of them are served.
func (in installer) definitions(ctx context.Context) error {
	for _, d := range in.manifests.Definitions {
		if err := in.apply(ctx, definitionResource, d); err != nil {
			return err
		}
	}
	for _, d := range in.manifests.Definitions {
		if err := in.established(ctx, d.GetName()); err != nil {
			return fmt.Errorf("wait for %s to be served: %w", d.GetName(), err)
		}
	}
	return nil
}

func (in installer) established(ctx context.Context, definition string) error {
	return wait.PollUntilContextTimeout(ctx, pollEvery, readyLimit, true, func(ctx context.Context) (bool, error) {
		found, err := in.client.Resource(definitionResource).Get(ctx, definition, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return isEstablished(found), nil
	})
}

// isEstablished says whether a definition is served. One that nobody has looked at yet has conditions that are null, which is no
// list and no mistake.
func isEstablished(definition *unstructured.Unstructured) bool {
	found, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "status", "conditions")
	conditions, _ := found.([]any)
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == string(apiextensionsv1.Established) && condition["status"] == string(metav1.ConditionTrue) {
			return true
		}
	}
	return false
}

// webhooks installs the admission webhook configurations.
func (in installer) webhooks(ctx context.Context) error {
	for _, w := range in.manifests.Webhooks {
		resource, known := webhookResources[w.GetKind()]
		if !known {
			return fmt.Errorf("install %s %s: not a webhook configuration", w.GetKind(), w.GetName())
		}
		if err := in.apply(ctx, resource, w); err != nil {
			return err
		}
	}
	return nil
}
