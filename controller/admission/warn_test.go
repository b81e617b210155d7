// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	webhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/admission"
	"minos.dev/minos/sim/kubetest"
)

// A listener hears warnings as kubectl does.
type listener struct {
	mutex sync.Mutex
	heard []string
}

// HandleWarningHeader hears one.
func (l *listener) HandleWarningHeader(_ int, _, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.heard = append(l.heard, text)
}

// take returns what was heard, and forgets it.
func (l *listener) take() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// listening is a client that hears warnings.
func listening(t *testing.T) (client.Client, *listener) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	ears := &listener{}
	config.WarningHandler = ears
	c, err := client.New(config, client.Options{Scheme: kubetest.Client(t).Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c, ears
}

// rolling is a cluster whose two pools have machines.
const rolling = `
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata: {name: own-NS}
spec: {extends: plain}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec: {kubernetesVersion: v1.35.2, talosVersion: v1.13.9, endpoint: {host: 192.0.2.1}, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here}
spec: {sim: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: general}
spec: {clusterName: shop, role: own-NS, locationRef: {kind: Location, name: here}, replicas: 3, machine: {sim: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: small}
spec: {clusterName: shop, role: plain, locationRef: {kind: Location, name: here}, replicas: 1, machine: {sim: {}}, rollout: {maxSurge: 0, maxUnavailable: 1}}
`

// TestWarnings is what whoever makes a change hears of it at once.
func TestWarnings(t *testing.T) {
	openDoor(t)
	c, ears := listening(t)
	namespace := kubetest.Namespace(t)
	for _, object := range objectsOf(t, namespace, rolling) {
		if object.GetKind() == "NodeRole" {
			object.SetNamespace("")
			t.Cleanup(func() { _ = c.Delete(context.Background(), object) })
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for name, count := range map[string]int32{"general": 3, "small": 1} {
		pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		status := fmt.Appendf(nil, `{"status":{"replicas":%d,"desiredReplicas":%d}}`, count, count)
		if err := c.Status().Patch(t.Context(), pool, client.RawPatch("application/merge-patch+json", status)); err != nil {
			t.Fatal(err)
		}
	}
	general := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "general"}}
	shop := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}
	here := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "here"}}
	own := &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "own-" + namespace}}
	for name, test := range map[string]struct {
		object client.Object
		patch  string
		want   []string
	}{
		"a pool":               {general, `{"spec":{"role":"storage"}}`, []string{"3 machines of pool general will be replaced, 1 at a time: role changed"}},
		"what is changed live": {general, `{"spec":{"config":{"labels":{"example.com/a":"b"}}}}`, nil},
		"what is scaled":       {general, `{"spec":{"replicas":5}}`, nil},
		"what is not declared": {general, `{"metadata":{"labels":{"a":"b"}}}`, nil},
		"a cluster, by its pools": {shop, `{"spec":{"talosVersion":"v1.13.8"}}`, []string{
			"1 machine of pool small will be replaced, 1 at a time: talosVersion of TalosCluster shop changed",
			"3 machines of pool general will be replaced, 1 at a time: talosVersion of TalosCluster shop changed",
		}},
		"a role, by its pools": {own, `{"spec":{"kernelModules":[{"name":"zfs"}]}}`, []string{
			"3 machines of pool general will be replaced, 1 at a time: kernelModules of NodeRole own-" + namespace + " changed",
			"STO-008: general loads the module zfs, which its image does not have",
		}},
		"a place, by its pools": {here, `{"spec":{"sim":{"config":{"patches":[{"machine":{"install":{"wipe":true}}}]}}}}`, []string{
			"1 machine of pool small will be replaced, 1 at a time: sim.config of Location here changed",
			"3 machines of pool general will be replaced, 1 at a time: sim.config of Location here changed",
		}},
	} {
		// The guard foretells as soon as its cache has seen what was made.
		kubetest.Eventually(t, within, func(ctx context.Context) error {
			ears.take()
			if err := c.Patch(ctx, test.object.DeepCopyObject().(client.Object), client.RawPatch("application/merge-patch+json", []byte(test.patch)), client.DryRunAll); err != nil {
				return err
			}
			if heard := slices.Sorted(slices.Values(ears.take())); !slices.Equal(heard, test.want) {
				return fmt.Errorf("%s: %q, want %q", name, heard, test.want)
			}
			return nil
		})
	}
}

// deaf is a cache that does not answer.
type deaf struct{ client.Reader }

var errDeaf = errors.New("the cache does not answer")

func (deaf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errDeaf
}
func (deaf) List(context.Context, client.ObjectList, ...client.ListOption) error { return errDeaf }

// TestNothingIsRefusedUnseen lets in what cannot be looked at, and says so.
func TestNothingIsRefusedUnseen(t *testing.T) {
	guard := &admission.Guard{Client: deaf{}, Decoder: webhook.NewDecoder(kubetest.Client(t).Scheme())}
	request := webhook.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Delete, Kind: metav1.GroupVersionKind{Kind: "TalosCluster"}, Name: "shop", Namespace: "x", OldObject: runtime.RawExtension{Raw: []byte("{}")},
	}}
	answer := guard.Handle(t.Context(), request)
	if !answer.Allowed || len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], "TalosCluster shop could not be looked at") {
		t.Errorf("%+v", answer)
	}
	request.Operation, request.Kind.Kind = admissionv1.Update, "NodeRole"
	request.Object = runtime.RawExtension{Raw: []byte("nonsense")}
	if answer := guard.Handle(t.Context(), request); !answer.Allowed || len(answer.Warnings) != 0 {
		t.Errorf("a warning that cannot be made is missed: %+v", answer)
	}
}
