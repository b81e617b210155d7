// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/file"
)

// The names in the declarations.
const (
	// Namespace is the tenant's.
	Namespace = "tenant-shop"
	// Cluster is the tenant's cluster.
	Cluster = "shop"
)

// Fleet is what is declared: the same files that a user would write.
//
//go:embed fleet/*.yaml
var Fleet embed.FS

// declaredFile marks a folder whose declarations were made: from then on they are the user's, who may have changed them.
const declaredFile = "declared"

// declare makes the tenant's namespace, the key of its gateway and its objects, once in the life of a folder. The files are left in
// the folder to be read.
func (s *Session) declare(ctx context.Context) error {
	done := filepath.Join(s.options.Folder, declaredFile)
	if _, err := os.Stat(done); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The key is in no file, as with real ones; the place asks nobody whether it is good.
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace, Labels: map[string]string{"example.com/tenant": "true"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "tailscale"}, StringData: map[string]string{"authkey": rand.Text()}},
	}
	for _, name := range []string{"platform.yaml", "cluster.yaml", "pools.yaml"} {
		text, err := Fleet.ReadFile("fleet/" + name)
		if err != nil {
			return err
		}
		if err := s.keep(name, text); err != nil {
			return err
		}
		read, err := estate.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, object := range read {
			objects = append(objects, object)
		}
	}
	for _, object := range objects {
		if err := client.IgnoreAlreadyExists(s.client.Create(ctx, object)); err != nil {
			return fmt.Errorf("declare %s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
	}
	return file.Write(done, nil)
}

// keep leaves a declaration in the folder.
func (s *Session) keep(name string, text []byte) error {
	folder := filepath.Join(s.options.Folder, "fleet")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return file.Write(filepath.Join(folder, name), text)
}
