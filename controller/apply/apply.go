// SPDX-License-Identifier: Apache-2.0

// Package apply writes objects: whole by server-side apply, as one field owner, and only if something differs. A steady state
// writes nothing.
package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"minos.dev/minos/plan/names"
)

// A Writer writes objects.
type Writer struct {
	client client.Client
}

// New returns a writer. What the client reads may come from a cache.
func New(c client.Client) *Writer { return &Writer{client: c} }

// Apply makes an object be as wanted, and says whether anything was written. Fields that others own and that are wanted
// otherwise are an error, and not fought over. Whatever the object says is wanted: a field of a Go type that is written even
// when it is empty has to be given the value that the API server would give it.
func (w *Writer) Apply(ctx context.Context, wanted client.Object) (bool, error) {
	object, err := w.unstructured(wanted)
	if err != nil {
		return false, err
	}
	print, err := fingerprint(object.Object)
	if err != nil {
		return false, err
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[names.AnnotationApplied] = print
	object.SetAnnotations(annotations)

	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err = w.client.Get(ctx, client.ObjectKeyFromObject(object), live)
	if err == nil && isAs(live, object) {
		return false, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return false, err
	}
	if err := w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(names.Owner)); err != nil {
		return false, fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return true, nil
}

// Create makes an object that must never be made anew or changed: what is there already stays as it is. It says whether it was
// made.
func (w *Writer) Create(ctx context.Context, wanted client.Object) (bool, error) {
	err := w.client.Create(ctx, wanted, client.FieldOwner(names.Owner))
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	return err == nil, err
}

// unstructured is an object as maps, without what only the API server writes.
func (w *Writer) unstructured(wanted client.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: fields}
	kind, err := apiutil.GVKForObject(wanted, w.client.Scheme())
	if err != nil {
		return nil, err
	}
	object.SetGroupVersionKind(kind)
	delete(object.Object, "status")
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	return object, nil
}

// fingerprint is a short name of what is wanted. Of a Secret it tells nothing that could be guessed back: tokens in it are long.
func fingerprint(fields map[string]any) (string, error) {
	text, err := json.Marshal(fields) // which sorts
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// isAs says whether an object is as wanted. Others may own it too: the API server keeps owners by their identity.
func isAs(live, wanted *unstructured.Unstructured) bool {
	for _, owner := range wanted.GetOwnerReferences() {
		if !slices.ContainsFunc(live.GetOwnerReferences(), func(found metav1.OwnerReference) bool { return reflect.DeepEqual(found, owner) }) {
			return false
		}
	}
	wanted = wanted.DeepCopy()
	wanted.SetOwnerReferences(nil)
	return contains(live.Object, wanted.Object)
}

// contains says whether all that is wanted is there. Lists are compared whole, but for fields of their elements that are not
// wanted in any way.
func contains(live, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		found, ok := live.(map[string]any)
		if !ok {
			return len(wanted) == 0 && live == nil
		}
		return containsFields(found, wanted)
	case []any:
		found, ok := live.([]any)
		if !ok {
			return len(wanted) == 0 && live == nil
		}
		return slices.EqualFunc(found, wanted, contains)
	}
	return same(live, wanted)
}

// containsFields is the same for objects.
func containsFields(live, wanted map[string]any) bool {
	for key, value := range wanted {
		if !contains(live[key], value) {
			return false
		}
	}
	return true
}

// same compares two values; a number is the same whatever its type.
func same(live, wanted any) bool {
	if live == wanted {
		return true
	}
	return fmt.Sprint(live) == fmt.Sprint(wanted) && live != nil && wanted != nil
}
