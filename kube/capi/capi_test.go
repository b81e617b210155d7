// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/kube/box"
)

func TestContractVersion(t *testing.T) {
	const v1beta1, v1beta2 = "cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2"
	for name, test := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"one version":                       {map[string]string{v1beta2: "v1beta2"}, "v1beta2"},
		"the newest, not the last":          {map[string]string{v1beta2: "v1beta1_v1_v1alpha4"}, "v1"},
		"numbers are compared as numbers":   {map[string]string{v1beta2: "v1beta2_v1beta10"}, "v1beta10"},
		"the newer contract, older version": {map[string]string{v1beta1: "v1beta2", v1beta2: "v1alpha1"}, "v1alpha1"},
		"the older contract alone":          {map[string]string{v1beta1: "v1beta1"}, "v1beta1"},
		"an empty label is no label":        {map[string]string{v1beta2: "", v1beta1: "v1beta1"}, "v1beta1"},
		"a contract that is not understood": {map[string]string{"cluster.x-k8s.io/v1alpha4": "v1alpha4"}, ""},
		"no label":                          {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ContractVersion(test.labels)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

var sample = fstest.MapFS{
	"manifests/README.md": {Data: []byte("words")},
	"manifests/crd/things.yaml": {Data: []byte(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com}
`)},
	"manifests/webhook.yaml": {Data: []byte(`---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating}
webhooks:
- name: default.thing
  clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-thing}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks:
- name: validation.thing
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate-thing}}
`)},
}

func TestManifestsAtAnEndpoint(t *testing.T) {
	loaded, err := Load(sample)
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.At(Endpoint{URL: "https://127.0.0.1:1234", CA: []byte("pem")})
	if err != nil {
		t.Fatal(err)
	}
	clientConfig := func(path string) map[string]any {
		return map[string]any{"url": "https://127.0.0.1:1234" + path, "caBundle": "cGVt"}
	}
	wantDefinition := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name": "things.example.com", "labels": map[string]any{"cluster.x-k8s.io/provider": "cluster-api"},
		},
		"spec": map[string]any{
			"group": "example.com",
			"conversion": map[string]any{
				"strategy": "Webhook",
				"webhook":  map[string]any{"clientConfig": clientConfig("/convert"), "conversionReviewVersions": []any{"v1"}},
			},
		},
	}
	if diff := cmp.Diff(wantDefinition, got.Definitions[0].Object); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
	wantHooks := map[string]any{
		"minos-kube-capi-mutating":   []any{map[string]any{"name": "default.thing", "clientConfig": clientConfig("/mutate-thing")}},
		"minos-kube-capi-validating": []any{map[string]any{"name": "validation.thing", "clientConfig": clientConfig("/validate-thing")}},
	}
	gotHooks := map[string]any{}
	for _, w := range got.Webhooks {
		gotHooks[w.GetName()] = w.Object["webhooks"]
	}
	if diff := cmp.Diff(wantHooks, gotHooks); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	if _, found, _ := unstructured.NestedMap(loaded.Definitions[0].Object, "spec", "conversion"); found {
		t.Error("what was loaded has changed")
	}
}

func TestBuiltWithoutManifests(t *testing.T) {
	_, err := Load(fstest.MapFS{"manifests/README.md": sample["manifests/README.md"]})
	if err == nil || err.Error() != "this program was built without Cluster API's manifests; build it with kube/build" {
		t.Errorf("got %v", err)
	}
}

func TestParse(t *testing.T) {
	got, err := parse([]string{"--kubeconfig", "k", "--webhook-port=9443", "--log", "l", "--stop-with-stdin"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Options{Kubeconfig: "k", WebhookPort: 9443, Log: "l", StopWithStdin: true}, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	for words, args := range map[string][]string{
		"--kubeconfig is needed":       {},
		"--webhook-port -1 is no":      {"--kubeconfig", "k", "--webhook-port", "-1"},
		`"more" is not a flag`:         {"--kubeconfig", "k", "more"},
		"unknown flag: --metrics-port": {"--metrics-port", "1"},
	} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: got %v, want %q in it", args, err, words)
		}
	}
}

func TestServe(t *testing.T) {
	var out, errs bytes.Buffer
	run := func(ctx context.Context, spec Spec, ready func()) error {
		go func() { _ = http.Serve(spec.Listener, http.NotFoundHandler()) }()
		ready()
		<-ctx.Done()
		return nil
	}
	code := program{run, sample}.command().Run(box.Call{
		Args: []string{"--kubeconfig", "k", "--stop-with-stdin"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	want := regexp.MustCompile(`^minos-kube capi ready: webhooks https://127\.0\.0\.1:[1-9]\d* after=\d+\.\ds\n$`)
	if code != 0 || errs.Len() > 0 || !want.MatchString(out.String()) {
		t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
	}
}
