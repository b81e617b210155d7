// SPDX-License-Identifier: Apache-2.0

// Package crds reads the definitions of others from their own Go modules, so that none of them is copied here. A module
// that is not on this machine yet is downloaded by Go, with its checksum.
package crds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The modules whose kinds the simulator knows, and their releases.
const (
	// Kamaji is the control plane provider of Kamaji: KamajiControlPlane v1alpha2.
	Kamaji        = "github.com/clastix/cluster-api-control-plane-provider-kamaji"
	KamajiVersion = "v0.20.0"
	// KubeVirt is the infrastructure provider of KubeVirt: KubevirtCluster, KubevirtMachine and their templates.
	KubeVirt        = "sigs.k8s.io/cluster-api-provider-kubevirt"
	KubeVirtVersion = "v0.11.2"
)

// Folder is where kubebuilder has a project's definitions lie.
const Folder = "config/crd/bases"

// Version is the release of a module that is pinned here.
func Version(module string) (string, error) {
	switch module {
	case Kamaji:
		return KamajiVersion, nil
	case KubeVirt:
		return KubeVirtVersion, nil
	}
	return "", fmt.Errorf("no release of %s is pinned: add it to sim/crds", module)
}

// Of returns the definitions of a module, from the folder where kubebuilder puts them.
func Of(ctx context.Context, module, version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return In(ctx, module, version, Folder)
}

// In returns the definitions in a folder of a module, with the labels that the module's own kustomization beside the
// folder gives them: Cluster API finds out by them which version of a kind it may use.
func In(ctx context.Context, module, version, folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	root, err := download(ctx, module+"@"+version)
	if err != nil {
		return nil, err
	}
	definitions, err := Read(os.DirFS(root), folder)
	if err != nil {
		return nil, fmt.Errorf("definitions of %s@%s: %w", module, version, err)
	}
	return definitions, nil
}

// Read returns the definitions in a folder, with the labels of the kustomization above it.
func Read(root fs.FS, folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	labels, err := commonLabels(root, path.Join(path.Dir(folder), "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(root, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are none in %s", folder)
	}
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for key, value := range labels {
			if definition.Labels == nil {
				definition.Labels = map[string]string{}
			}
			definition.Labels[key] = value
		}
		found = append(found, definition)
	}
	return found, nil
}

// IsServed says whether the API server serves a definition.
func IsServed(definition *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(definition.Status.Conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
	})
}

// commonLabels are what a kustomization adds to everything. There need not be one.
func commonLabels(root fs.FS, file string) (map[string]string, error) {
	text, err := fs.ReadFile(root, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kustomization struct {
		CommonLabels map[string]string `json:"commonLabels"`
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return kustomization.CommonLabels, nil
}

// download asks Go for the folder of a module. It runs outside of every checkout, so that no go.mod is read or changed.
func download(ctx context.Context, module string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Dir = os.TempDir()
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var words bytes.Buffer
	command.Stderr = &words
	out, err := command.Output()
	var answer struct{ Dir, Error string }
	if decoded := json.Unmarshal(out, &answer); decoded == nil && answer.Error != "" {
		return "", fmt.Errorf("download %s: %s", module, answer.Error)
	}
	if err != nil {
		return "", fmt.Errorf("download %s: %w: %s", module, err, bytes.TrimSpace(words.Bytes()))
	}
	if answer.Dir == "" {
		return "", fmt.Errorf("download %s: go did not say where it is", module)
	}
	return answer.Dir, nil
}
