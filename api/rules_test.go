// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/talos"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// A refusal is a story of something that is refused, and the line with which it is. It is told twice: to the loader and
// to a real API server.
type refusal struct {
	object, old []byte
	path, text  string
	server      string // what the API server says instead, where it has words of its own
}

// readRefusal reads a story.
func readRefusal(t *testing.T, file string) refusal {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var story refusal
	for _, part := range archive.Files {
		switch part.Name {
		case "object.yaml":
			story.object = part.Data
		case "old.yaml":
			story.old = part.Data
		case "want":
			story.path, story.text, _ = strings.Cut(strings.TrimSpace(string(part.Data)), ":")
			story.path, story.text = strings.TrimPrefix(story.path, "<root>"), strings.TrimSpace(story.text)
		case "want.server":
			story.server = strings.TrimSpace(string(part.Data))
		}
	}
	return story
}

func TestRefused(t *testing.T) {
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/refused/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			story := readRefusal(t, file)
			t.Run("in a file", func(t *testing.T) { story.refusedInFile(t, reader) })
			t.Run("by the API server", func(t *testing.T) { story.refusedByServer(t) })
		})
	}
}

// refusedInFile expects the loader to say one thing, at the right field, on a line of the file.
func (r refusal) refusedInFile(t *testing.T, reader *load.Reader) {
	documents, problems := reader.Read("object.yaml", r.object)
	if r.old != nil {
		before, wrong := reader.Read("old.yaml", r.old)
		if len(before) != 1 || len(documents) != 1 {
			t.Fatalf("both states must be valid by themselves: %v %v", wrong, problems)
		}
		problems = load.Change(before[0], documents[0])
	}
	if len(problems) != 1 {
		t.Fatalf("got %d problems, want one: %v", len(problems), problems)
	}
	got := problems[0]
	if got.Path != r.path || !strings.Contains(got.Text, r.text) {
		t.Errorf("got  %s\nwant %s: %s", got, r.path, r.text)
	}
	if strings.Contains(got.String(), "\n") {
		t.Errorf("it takes more than one line: %q", got)
	}
	if lines := strings.Count(string(r.object), "\n"); got.Line < 1 || got.Line > lines {
		t.Errorf("line %d is not in the file, which has %d", got.Line, lines)
	}
}

// refusedByServer expects the API server to say the same.
func (r refusal) refusedByServer(t *testing.T) {
	c := client.WithFieldValidation(kubetest.Client(t), metav1.FieldValidationStrict)
	namespace := kubetest.Namespace(t)
	object := decode(t, r.object, namespace)
	var err error
	if r.old == nil {
		err = c.Create(t.Context(), object)
	} else {
		old := decode(t, r.old, namespace)
		create(t, c, old)
		object.SetResourceVersion(old.GetResourceVersion())
		err = c.Update(t.Context(), object)
	}
	if err == nil {
		t.Fatal("the API server accepted it")
	}
	if r.server != "" {
		if !strings.Contains(err.Error(), r.server) {
			t.Errorf("got  %v\nwant %s", err, r.server)
		}
		return
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		t.Fatalf("not an answer of the API server: %v", err)
	}
	for _, cause := range status.Status().Details.Causes {
		if strings.TrimPrefix(cause.Field, "<nil>") == r.path && strings.Contains(cause.Message, r.text) {
			return
		}
	}
	t.Errorf("got  %v\nwant %s: %s", err, r.path, r.text)
}

// decode reads an object for a namespace of the test's own. Objects without a namespace get a name of their own
// instead, so that tests do not meet.
func decode(t *testing.T, text []byte, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, object); err != nil {
		t.Fatal(err)
	}
	if kind := object.GetKind(); kind == "NodeRole" || kind == "ClusterLocation" {
		return object
	}
	object.SetNamespace(namespace)
	return object
}

// create creates an object and removes it after the test.
func create(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("create %s %s: %v", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := client.IgnoreNotFound(c.Delete(context.Background(), object)); err != nil {
			t.Errorf("remove %s: %v", object.GetName(), err)
		}
	})
}

// TestAccepted holds the loader and the API server to the same answer for what is good: the examples of the
// documentation and the built-in roles.
func TestAccepted(t *testing.T) {
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, name := range talos.BuiltinRoleNames() {
		if texts["role "+name], err = talos.BuiltinRole(name); err != nil {
			t.Fatal(err)
		}
	}
	err = fs.WalkDir(os.DirFS("../docs/examples"), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		texts[path], err = os.ReadFile(filepath.Join("../docs/examples", path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			documents, problems := reader.Read(name, text)
			if len(problems) > 0 || len(documents) == 0 {
				t.Fatalf("%d documents; %v", len(documents), problems)
			}
			namespace := kubetest.Namespace(t)
			for _, document := range documents {
				sameAsServed(t, document, namespace)
			}
		})
	}
}

// sameAsServed creates what the loader read and expects the API server to add nothing to it: the defaults are the same.
func sameAsServed(t *testing.T, document *load.Document, namespace string) {
	t.Helper()
	c := client.WithFieldValidation(kubetest.Client(t), metav1.FieldValidationStrict)
	object, ok := document.Object.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T is no client.Object", document.Object)
	}
	if document.Kind.Namespaced {
		object.SetNamespace(namespace)
	}
	want := asYAML(t, object)
	object.GetObjectKind().SetGroupVersionKind(api.GroupVersion.WithKind(document.Kind.Name))
	create(t, c, object)
	served := object.DeepCopyObject().(client.Object)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), served); err != nil {
		t.Fatal(err)
	}
	if got := asYAML(t, served); got != want {
		t.Errorf("%s %s\nread from the file:\n%s\nserved:\n%s", document.Kind.Name, object.GetName(), want, got)
	}
}

// asYAML is an object's spec as text.
func asYAML(t *testing.T, object client.Object) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(content["spec"])
	if err != nil {
		t.Fatal(err)
	}
	return string(spec)
}
