// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/kubetest"
)

// seen is what a container sees in a folder.
func seen(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "..") {
			continue
		}
		if link, err := os.Readlink(filepath.Join(folder, name)); err != nil || link != filepath.Join("..data", name) {
			t.Errorf("%s leads to %s, %v", name, link, err)
		}
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			name = filepath.Join(name, "b")
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}

// TestProject changes a folder several times, also after it was cut off in the middle.
func TestProject(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "volumes", "one")
	for _, files := range []map[string]string{
		{"a": "1", "dir/b": "2"}, {"a": "3"}, {}, {"dir/b": "4", "c": "5"},
	} {
		content := map[string][]byte{}
		for name, text := range files {
			content[name] = []byte(text)
		}
		if err := project(folder, content); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files, seen(t, folder)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		hidden, err := filepath.Glob(filepath.Join(folder, "..*"))
		if err != nil || len(hidden) != 2 {
			t.Errorf("there should be one folder and one link: %v, %v", hidden, err)
		}
		// As a power cut would leave it: a folder and a link that nobody uses.
		if err := os.Mkdir(filepath.Join(folder, "..half"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..half", filepath.Join(folder, newLink)); err != nil {
			t.Fatal(err)
		}
	}
}

// yes makes something optional.
var yes = true

// TestReader reads volumes and variables from a real API server.
func TestReader(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace}, StringData: map[string]string{"a": "1", "b": "2"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: namespace}, Data: map[string]string{"c": "3"}, BinaryData: map[string][]byte{"d": []byte("4")}},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	r := reader{client: c, pod: types.NamespacedName{Namespace: namespace, Name: "shop"}, address: "127.16.1.1"}
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	for name, test := range map[string]struct {
		source  corev1.VolumeSource
		want    map[string][]byte
		wantErr string
	}{
		"a Secret":     {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, want: map[string][]byte{"a": []byte("1"), "b": []byte("2")}},
		"a ConfigMap":  {source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("m")}}, want: map[string][]byte{"c": []byte("3"), "d": []byte("4")}},
		"an empty one": {source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, want: map[string][]byte{}},
		"items": {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "s", Items: []corev1.KeyToPath{{Key: "a", Path: "x/y"}},
		}}, want: map[string][]byte{"x/y": []byte("1")}},
		"projected": {source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: named("s"), Items: []corev1.KeyToPath{{Key: "b", Path: "b"}}}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("m")}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: named("none"), Optional: &yes}},
		}}}, want: map[string][]byte{"b": []byte("2"), "c": []byte("3"), "d": []byte("4")}},
		"a missing one":   {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}, wantErr: `volume v: secret "none" not found`},
		"may be missing":  {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none", Optional: &yes}}, want: map[string][]byte{}},
		"a missing key":   {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "z", Path: "z"}}}}, wantErr: `volume v: secret "s" has no key "z"`},
		"a way out":       {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "a", Path: "../z"}}}}, wantErr: "leads out of the volume"},
		"something else":  {source: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}, wantErr: "are simulated"},
		"projected other": {source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}}}}, wantErr: "are simulated"},
	} {
		s := &sidecar{
			Container: corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}},
			Volumes:   []corev1.Volume{{Name: "v", VolumeSource: test.source}},
		}
		got, err := r.volumes(t.Context(), s)
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got %v, want %q in it", name, err, test.wantErr)
			}
			continue
		}
		if diff := cmp.Diff(map[string]map[string][]byte{"v": test.want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	_, err := r.volumes(t.Context(), &sidecar{Container: corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v"}}}})
	if err == nil || !strings.Contains(err.Error(), "mounts volume v, which there is not") {
		t.Errorf("got %v", err)
	}
	variables(t, r)
}

// variables reads what a container's environment may be made of.
func variables(t *testing.T, r reader) {
	t.Helper()
	secret := func(key string, optional *bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: key, Optional: optional}}
	}
	config := &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, Key: "c"}}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	got, err := r.environ(t.Context(), corev1.Container{Env: []corev1.EnvVar{
		{Name: "A", ValueFrom: secret("a", nil)}, {Name: "B", Value: "$(A)$(C)"}, {Name: "C", ValueFrom: config},
		{Name: "D", ValueFrom: field("status.podIP")}, {Name: "E", ValueFrom: secret("z", &yes)},
	}})
	if diff := cmp.Diff([]string{"A=1", "B=1$(C)", "C=3", "D=127.16.1.1", "E="}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for want, container := range map[string]corev1.Container{
		`variable A: secret "s" has no key "z"`:      {Env: []corev1.EnvVar{{Name: "A", ValueFrom: secret("z", nil)}}},
		"field spec.nodeName is not simulated":       {Env: []corev1.EnvVar{{Name: "A", ValueFrom: field("spec.nodeName")}}},
		"it is not simulated where it comes from":    {Env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}}},
		"container signer: envFrom is not simulated": {Name: "signer", EnvFrom: []corev1.EnvFromSource{{}}},
	} {
		if _, err := r.environ(t.Context(), container); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
