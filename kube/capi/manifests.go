// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"bytes"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// embedded holds what kube/build copied, and always the README that says so: an empty directory cannot be embedded.
//
//go:embed manifests
var embedded embed.FS

const (
	definitionsDir = "manifests/crd"
	webhooksFile   = "manifests/webhook.yaml"
	// namePrefix tells our webhook configurations from those of a Cluster API installed by other means.
	namePrefix = "minos-kube-capi-"
)

// Manifests is what Cluster API wants installed before its controllers run, as its module ships it.
type Manifests struct {
	Definitions []*unstructured.Unstructured // custom resource definitions
	Webhooks    []*unstructured.Unstructured // admission webhook configurations
}

// An Endpoint is where webhooks answer, and who vouches for the server there.
type Endpoint struct {
	URL string // without a path
	CA  []byte // PEM
}

// Load reads the manifests. The webhooks are copied last, so when they are there everything is.
func Load(from fs.FS) (Manifests, error) {
	var m Manifests
	var err error
	if m.Webhooks, err = load(from, webhooksFile); errors.Is(err, fs.ErrNotExist) {
		return Manifests{}, errors.New("this program was built without Cluster API's manifests; build it with kube/build")
	}
	if err != nil {
		return Manifests{}, err
	}
	files, err := fs.Glob(from, path.Join(definitionsDir, "*.yaml"))
	if err != nil {
		return Manifests{}, fmt.Errorf("find the custom resource definitions: %w", err)
	}
	for _, file := range files {
		found, err := load(from, file)
		if err != nil {
			return Manifests{}, err
		}
		m.Definitions = append(m.Definitions, found...)
	}
	return m, nil
}

func load(from fs.FS, file string) ([]*unstructured.Unstructured, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// At gives the manifests with every webhook, of conversion and of admission, answered at one endpoint. What it is called
// on stays as it is.
func (m Manifests) At(e Endpoint) (Manifests, error) {
	var out Manifests
	for _, d := range m.Definitions {
		d = d.DeepCopy()
		if err := e.converts(d); err != nil {
			return Manifests{}, fmt.Errorf("prepare %s: %w", d.GetName(), err)
		}
		out.Definitions = append(out.Definitions, d)
	}
	for _, w := range m.Webhooks {
		w = w.DeepCopy()
		if err := e.admits(w); err != nil {
			return Manifests{}, fmt.Errorf("prepare %s: %w", w.GetName(), err)
		}
		w.SetName(namePrefix + w.GetName())
		out.Webhooks = append(out.Webhooks, w)
	}
	return out, nil
}

func (e Endpoint) client(path string) map[string]any {
	return map[string]any{"url": e.URL + path, "caBundle": base64.StdEncoding.EncodeToString(e.CA)}
}

// converts has a definition's versions converted at the endpoint, and labels it as Cluster API's own installation does.
func (e Endpoint) converts(definition *unstructured.Unstructured) error {
	labels := definition.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels["cluster.x-k8s.io/provider"] = "cluster-api"
	definition.SetLabels(labels)
	return unstructured.SetNestedMap(definition.Object, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"clientConfig":             e.client("/convert"),
			"conversionReviewVersions": []any{"v1"},
		},
	}, "spec", "conversion")
}

// admits moves every webhook of a configuration from the service it names to the same path at the endpoint.
func (e Endpoint) admits(configuration *unstructured.Unstructured) error {
	hooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for i, hook := range hooks {
		fields, ok := hook.(map[string]any)
		if !ok {
			return fmt.Errorf("webhook %d is not an object", i)
		}
		path, found, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
		if err != nil || !found {
			return fmt.Errorf("webhook %d has no path", i)
		}
		fields["clientConfig"] = e.client(path)
	}
	return unstructured.SetNestedSlice(configuration.Object, hooks, "webhooks")
}
