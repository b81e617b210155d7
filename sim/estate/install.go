// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/charts"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/file"
)

// operatorNamespace and operatorAccount are the operator's own, as its manifests have them.
const (
	operatorNamespace = "minos-system"
	operatorAccount   = "minos-operator"
)

// install installs what the parts need: our kinds, those of Kamaji and KubeVirt, and the operator's manifests. What is there
// already becomes what this program brings; what a start before this one has installed is left alone.
func (e *Estate) install(ctx context.Context) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	kinds, err := e.kinds(ctx)
	if err != nil {
		return err
	}
	manifests, err := documents(charts.Operator, "minos/operator/*.yaml")
	if err != nil {
		return err
	}
	done := filepath.Join(e.options.Folder, "installed")
	digest, err := fingerprint(kinds, manifests)
	if err != nil {
		return err
	}
	if before, err := os.ReadFile(done); err == nil && string(before) == digest {
		return nil
	}
	if err := apply(ctx, c, append(kinds[:len(kinds):len(kinds)], manifests...)); err != nil {
		return err
	}
	for _, object := range kinds {
		if err := served(ctx, c, object.GetName()); err != nil {
			return err
		}
	}
	return file.Write(done, []byte(digest))
}

// kinds are the definitions: ours, and those of Kamaji and KubeVirt.
func (e *Estate) kinds(ctx context.Context) ([]*unstructured.Unstructured, error) {
	all, err := documents(charts.CRDs, "minos/crds/*.yaml")
	for _, module := range []string{crds.KubeVirt, crds.Kamaji} {
		if err != nil {
			return nil, err
		}
		var more []*unstructured.Unstructured
		more, err = e.definitions(ctx, module)
		all = append(all, more...)
	}
	return all, err
}

// apply makes objects what they should be. The operator's Deployment is left out: it is this program that runs the operator.
func apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GetKind() == "Deployment" {
			continue
		}
		if err := c.Patch(ctx, object, client.Apply, client.FieldOwner("install"), client.ForceOwnership); err != nil { //nolint:staticcheck // objects of any kind
			return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// fingerprint tells what is installed from anything else.
func fingerprint(objects ...[]*unstructured.Unstructured) (string, error) {
	text, err := json.Marshal(objects)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// documents are the objects in files.
func documents(folder fs.FS, pattern string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(folder, pattern)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, name := range files {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		objects, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, objects...)
	}
	return found, nil
}

// Parse reads the objects of a text, between which a line of three dashes stands.
func Parse(text []byte) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(part, object); err != nil {
			return nil, err
		}
		found = append(found, object)
	}
	return found, nil
}

// definitions are the kinds of somebody else's module. They are read from the module once, for which Go is needed, and are kept
// in the folder.
func (e *Estate) definitions(ctx context.Context, module string) ([]*unstructured.Unstructured, error) {
	version, err := crds.Version(module)
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(e.options.Folder, path.Base(module)+"-"+version+".json")
	var found []*unstructured.Unstructured
	if ok, err := file.ReadJSON(kept, &found); ok || err != nil {
		return found, err
	}
	definitions, err := crds.Of(ctx, module, version)
	if err != nil {
		return nil, err
	}
	for _, definition := range definitions {
		definition.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
		definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition)
		if err != nil {
			return nil, err
		}
		delete(object, "status") // which is the API server's
		found = append(found, &unstructured.Unstructured{Object: object})
	}
	return found, file.WriteJSON(kept, found)
}

// served waits until the API server serves a definition.
func served(ctx context.Context, c client.Client, name string) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, definition); err != nil {
			return false, err
		}
		return crds.IsServed(definition), nil
	})
}

// tokenLife is how long the operator's token is good for. Every start makes another.
const tokenLife = 30 * 24 * time.Hour

// operatorAccess writes a kubeconfig with which the operator may do what its manifests say, and nothing else.
func (e *Estate) operatorAccess(ctx context.Context) (string, error) {
	c, err := e.Client()
	if err != nil {
		return "", err
	}
	seconds := int64(tokenLife.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}}
	if err := c.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("ask for the operator's token: %w", err)
	}
	access, err := clientcmd.LoadFromFile(e.Kubeconfig())
	if err != nil {
		return "", err
	}
	for name := range access.AuthInfos {
		access.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	}
	if err := e.lead(access); err != nil {
		return "", err
	}
	written, err := clientcmd.Write(*access)
	if err != nil {
		return "", err
	}
	to := filepath.Join(e.options.Folder, "operator.kubeconfig")
	return to, file.Write(to, written)
}
