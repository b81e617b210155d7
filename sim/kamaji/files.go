// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A reader reads Secrets and ConfigMaps of one namespace, for a Pod in it.
type reader struct {
	client client.Client
	pod    types.NamespacedName
	// address is the Pod's.
	address string
}

// A source is a Secret or ConfigMap that gives files or variables.
type source struct {
	kind     string // of the two
	name     string
	items    []corev1.KeyToPath
	optional *bool
}

// content is all that a source holds; nothing, if it may be missing and is.
func (r reader) content(ctx context.Context, s source) (map[string][]byte, error) {
	key := types.NamespacedName{Namespace: r.pod.Namespace, Name: s.name}
	var err error
	found := map[string][]byte{}
	if s.kind == "secret" {
		var secret corev1.Secret
		err = r.client.Get(ctx, key, &secret)
		found = secret.Data
	} else {
		var object corev1.ConfigMap
		err = r.client.Get(ctx, key, &object)
		maps.Copy(found, object.BinaryData)
		for name, text := range object.Data {
			found[name] = []byte(text)
		}
	}
	if apierrors.IsNotFound(err) {
		if s.isOptional() {
			return nil, nil
		}
		return nil, fmt.Errorf("%s %q not found", s.kind, s.name)
	}
	return found, err
}

func (s source) isOptional() bool { return s.optional != nil && *s.optional }

// files are the files that a source becomes.
func (r reader) files(ctx context.Context, s source) (map[string][]byte, error) {
	content, err := r.content(ctx, s)
	if err != nil || len(s.items) == 0 {
		return content, err
	}
	files := map[string][]byte{}
	for _, item := range s.items {
		text, ok := content[item.Key]
		switch {
		case ok && !filepath.IsLocal(item.Path):
			return nil, fmt.Errorf("path %q of %s %q leads out of the volume", item.Path, s.kind, s.name)
		case ok:
			files[item.Path] = text
		case !s.isOptional():
			return nil, fmt.Errorf("%s %q has no key %q", s.kind, s.name, item.Key)
		}
	}
	return files, nil
}

// volume is all files of a volume.
func (r reader) volume(ctx context.Context, v corev1.Volume) (map[string][]byte, error) {
	sources, err := sourcesOf(v)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, s := range sources {
		some, err := r.files(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		maps.Copy(files, some)
	}
	return files, nil
}

// sourcesOf are the sources of a volume.
func sourcesOf(v corev1.Volume) ([]source, error) {
	switch {
	case v.Secret != nil:
		return []source{{"secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional}}, nil
	case v.ConfigMap != nil:
		return []source{{"configmap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional}}, nil
	case v.EmptyDir != nil:
		return nil, nil
	case v.Projected != nil:
		return projectedSources(v)
	}
	return nil, fmt.Errorf("volume %s: only secret, configMap, projected and emptyDir are simulated", v.Name)
}

func projectedSources(v corev1.Volume) ([]source, error) {
	var found []source
	for _, p := range v.Projected.Sources {
		switch {
		case p.Secret != nil:
			found = append(found, source{"secret", p.Secret.Name, p.Secret.Items, p.Secret.Optional})
		case p.ConfigMap != nil:
			found = append(found, source{"configmap", p.ConfigMap.Name, p.ConfigMap.Items, p.ConfigMap.Optional})
		default:
			return nil, fmt.Errorf("volume %s: of what is projected, only secret and configMap are simulated", v.Name)
		}
	}
	return found, nil
}

// volumes are the files of every volume that a container mounts.
func (r reader) volumes(ctx context.Context, s *sidecar) (map[string]map[string][]byte, error) {
	found := map[string]map[string][]byte{}
	for _, mount := range s.Container.VolumeMounts {
		at := slices.IndexFunc(s.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if at < 0 {
			return nil, fmt.Errorf("container %s mounts volume %s, which there is not", s.Container.Name, mount.Name)
		}
		files, err := r.volume(ctx, s.Volumes[at])
		if err != nil {
			return nil, err
		}
		found[mount.Name] = files
	}
	return found, nil
}

// environ is the environment of a container, as a process has it. Like a process it does not change any more.
func (r reader) environ(ctx context.Context, container corev1.Container) ([]string, error) {
	if len(container.EnvFrom) > 0 {
		return nil, fmt.Errorf("container %s: envFrom is not simulated", container.Name)
	}
	var environ []string
	for _, variable := range container.Env {
		value, err := expand(variable.Value, environ), error(nil)
		if variable.ValueFrom != nil {
			value, err = r.value(ctx, variable.ValueFrom)
		}
		if err != nil {
			return nil, fmt.Errorf("container %s: variable %s: %w", container.Name, variable.Name, err)
		}
		environ = append(environ, variable.Name+"="+value)
	}
	return environ, nil
}

// value is what a variable gets from elsewhere.
func (r reader) value(ctx context.Context, from *corev1.EnvVarSource) (string, error) {
	var s source
	var key string
	switch {
	case from.SecretKeyRef != nil:
		s, key = source{kind: "secret", name: from.SecretKeyRef.Name, optional: from.SecretKeyRef.Optional}, from.SecretKeyRef.Key
	case from.ConfigMapKeyRef != nil:
		s, key = source{kind: "configmap", name: from.ConfigMapKeyRef.Name, optional: from.ConfigMapKeyRef.Optional}, from.ConfigMapKeyRef.Key
	case from.FieldRef != nil:
		return r.field(from.FieldRef.FieldPath)
	default:
		return "", errors.New("it is not simulated where it comes from")
	}
	content, err := r.content(ctx, s)
	if err != nil {
		return "", err
	}
	text, ok := content[key]
	if !ok && !s.isOptional() {
		return "", fmt.Errorf("%s %q has no key %q", s.kind, s.name, key)
	}
	return string(text), nil
}

// field is a field of the Pod.
func (r reader) field(path string) (string, error) {
	known := map[string]string{
		"status.podIP": r.address, "status.hostIP": r.address, "metadata.namespace": r.pod.Namespace, "metadata.name": r.pod.Name,
	}
	if value, ok := known[path]; ok {
		return value, nil
	}
	return "", fmt.Errorf("field %s is not simulated", path)
}
