// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/apply"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// service is something with a list of objects, to which the API server adds fields of its own.
func service(namespace string, change func(*corev1.Service)) *corev1.Service {
	wanted := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "api", Labels: map[string]string{"a": "1", "b": "2"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromInt32(6443)}, {Name: "trustd", Port: 50001, TargetPort: intstr.FromInt32(50001)}}},
	}
	if change != nil {
		change(wanted)
	}
	return wanted
}

// TestApply writes an object, and writes again only if something differs.
func TestApply(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	writer := apply.New(c)
	steps := []struct {
		name   string
		meddle func(*corev1.Service)
		change func(*corev1.Service)
		writes bool
	}{
		{name: "it is not there", writes: true},
		{name: "it is as wanted"},
		{name: "somebody added a label", meddle: func(s *corev1.Service) { s.Labels["theirs"] = "x" }},
		{name: "a label is wanted no more", change: func(s *corev1.Service) { delete(s.Labels, "b") }, writes: true},
		{name: "it stays so", change: func(s *corev1.Service) { delete(s.Labels, "b") }},
		{name: "a port is wanted no more", change: func(s *corev1.Service) { delete(s.Labels, "b"); s.Spec.Ports = s.Spec.Ports[:1] }, writes: true},
	}
	for _, step := range steps {
		if step.meddle != nil {
			live := service(namespace, nil)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
				t.Fatal(err)
			}
			step.meddle(live)
			if err := c.Update(t.Context(), live, client.FieldOwner("somebody")); err != nil {
				t.Fatal(err)
			}
		}
		wrote, err := writer.Apply(t.Context(), service(namespace, step.change))
		if err != nil || wrote != step.writes {
			t.Errorf("%s: it wrote: %v, %v", step.name, wrote, err)
		}
	}
	live := service(namespace, nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	if live.Labels["a"] != "1" || live.Labels["b"] != "" || live.Labels["theirs"] != "x" || len(live.Spec.Ports) != 1 {
		t.Errorf("it is %+v", live)
	}
}

// TestApplyShares leaves alone an owner that somebody else added, and notices when its own is missing.
func TestApplyShares(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	writer := apply.New(c)
	owner := func(name string) metav1.OwnerReference {
		t.Helper()
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if err := c.Create(t.Context(), made); err != nil { // or the object would be collected
			t.Fatal(err)
		}
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: made.UID}
	}
	ours, theirs := owner("ours"), owner("theirs")
	owned := func(s *corev1.Service) { s.OwnerReferences = []metav1.OwnerReference{ours} }
	if _, err := writer.Apply(t.Context(), service(namespace, owned)); err != nil {
		t.Fatal(err)
	}
	set := func(owners ...metav1.OwnerReference) {
		t.Helper()
		live := service(namespace, nil)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			t.Fatal(err)
		}
		live.OwnerReferences = owners
		if err := c.Update(t.Context(), live, client.FieldOwner("somebody")); err != nil {
			t.Fatal(err)
		}
	}
	set(theirs, ours)
	if wrote, err := writer.Apply(t.Context(), service(namespace, owned)); err != nil || wrote {
		t.Errorf("with an owner of others it wrote: %v, %v", wrote, err)
	}
	set(theirs)
	if wrote, err := writer.Apply(t.Context(), service(namespace, owned)); err != nil || !wrote {
		t.Errorf("without its own owner it wrote: %v, %v", wrote, err)
	}
}

// TestApplyDoesNotFight reports a field that somebody else owns.
func TestApplyDoesNotFight(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	writer := apply.New(c)
	if _, err := writer.Apply(t.Context(), service(namespace, nil)); err != nil {
		t.Fatal(err)
	}
	theirs := &unstructured.Unstructured{}
	theirs.SetAPIVersion("v1")
	theirs.SetKind("Service")
	theirs.SetNamespace(namespace)
	theirs.SetName("api")
	theirs.SetLabels(map[string]string{"a": "theirs"})
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner("somebody"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Apply(t.Context(), service(namespace, nil)); !apierrors.IsConflict(err) {
		t.Errorf("it is %v", err)
	}
}

// TestCreate never changes what is there.
func TestCreate(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	writer := apply.New(c)
	secret := func(value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "identity"}, Data: map[string][]byte{"key": []byte(value)}}
	}
	if made, err := writer.Create(t.Context(), secret("first")); err != nil || !made {
		t.Fatal(made, err)
	}
	if made, err := writer.Create(t.Context(), secret("second")); err != nil || made {
		t.Fatal(made, err)
	}
	live := secret("")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil || string(live.Data["key"]) != "first" {
		t.Errorf("it is %q, %v", live.Data["key"], err)
	}
}
