// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"minos.dev/minos/api/schema"
	api "minos.dev/minos/api/v1alpha1"
)

// definitions are the generated definitions, by kind.
func definitions(t *testing.T) schema.Kinds {
	t.Helper()
	kinds, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// A part is one field of a definition.
type part struct {
	path   string
	schema *apiextensionsv1.JSONSchemaProps
	above  []string // the descriptions of what holds it
}

// walk visits every field of a definition.
func walk(at part, visit func(part)) {
	visit(at)
	above := append(slices.Clone(at.above), at.schema.Description)
	for _, name := range slices.Sorted(maps.Keys(at.schema.Properties)) {
		below := at.schema.Properties[name]
		walk(part{strings.TrimPrefix(at.path+"."+name, "."), &below, above}, visit)
	}
	if items := at.schema.Items; items != nil {
		walk(part{at.path + "[]", items.Schema, above}, visit)
	}
}

// fields returns every field of every definition but those that other projects own.
func fields(t *testing.T) map[string][]part {
	t.Helper()
	found := map[string][]part{}
	for name, kind := range definitions(t) {
		walk(part{"", kind.Definition.Spec.Versions[0].Schema.OpenAPIV3Schema, nil}, func(p part) {
			foreign := strings.HasPrefix(p.path, "metadata") || strings.HasPrefix(p.path, "status.conditions[]")
			if !foreign && p.path != "apiVersion" && p.path != "kind" {
				found[name] = append(found[name], p)
			}
		})
	}
	return found
}

func TestEveryFieldIsBounded(t *testing.T) {
	for kind, parts := range fields(t) {
		for _, p := range parts {
			if text := unbounded(p.schema); text != "" {
				t.Errorf("%s %s: %s", kind, p.path, text)
			}
		}
	}
}

// unbounded says what has no bound, or nothing. A quantity has a pattern that bounds it well enough.
func unbounded(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString || len(s.Enum) > 0:
		return ""
	case s.Type == "string" && s.MaxLength == nil:
		return "a string without a greatest length"
	case s.Type == "array" && s.MaxItems == nil:
		return "a list without a greatest number of items"
	case s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil:
		return "a map without a greatest number of entries"
	case s.Type == "integer" && s.Minimum == nil:
		return "a number without a least value"
	case s.Type == "number" || s.Type == "boolean":
		return "a " + s.Type + ": use an integer, or words"
	case s.Type == "object" && s.XPreserveUnknownFields != nil && s.MaxProperties == nil:
		return "an open object without a greatest number of fields"
	}
	return ""
}

func TestEveryFieldIsDocumented(t *testing.T) {
	for kind, parts := range fields(t) {
		for _, p := range parts {
			item := strings.HasSuffix(p.path, "[]")
			name := p.path[strings.LastIndexByte(p.path, '.')+1:]
			if p.path != "" && !item && !strings.HasPrefix(p.schema.Description, name+" ") {
				t.Errorf("%s %s: the description begins with %q and not with the name", kind, p.path, firstWords(p.schema.Description))
			}
		}
	}
}

// TestDescriptionsFitATerminal holds every line of a description to what "kubectl explain" prints on one: it breaks longer
// lines and keeps the breaks that are there, and both together are hard to read.
func TestDescriptionsFitATerminal(t *testing.T) {
	const width = 76
	for kind, parts := range fields(t) {
		for _, p := range parts {
			for line := range strings.Lines(p.schema.Description) {
				if line = strings.TrimSuffix(line, "\n"); len(line) > width {
					t.Errorf("%s %s: a line of %d characters, and %d fit: %s", kind, p.path, len(line), width, line)
				}
			}
		}
	}
}

// firstWords is the beginning of a text.
func firstWords(text string) string {
	return text[:min(len(text), 30)]
}

// change is how a description says what a change does to machines.
var change = regexp.MustCompile(`(?i)\bchang|cannot be|\brolls?\b|replaces every|when it changes|applied live|installs it|applies to new`)

// TestEveryFieldSaysWhatAChangeDoes holds every field of a spec to saying, itself or where it stands, what happens to
// machines when it changes.
func TestEveryFieldSaysWhatAChangeDoes(t *testing.T) {
	for kind, parts := range fields(t) {
		if kind == "TalosMachine" {
			continue // Minos writes these, and nobody else
		}
		for _, p := range parts {
			leaf := len(p.schema.Properties) == 0 && p.schema.Items == nil
			if !leaf || !strings.HasPrefix(p.path, "spec.") {
				continue
			}
			said := slices.ContainsFunc(append(p.above[1:], p.schema.Description), change.MatchString)
			if !said {
				t.Errorf("%s %s: neither it nor what holds it says what a change does", kind, p.path)
			}
		}
	}
}

// oneOf is the message by which a union is recognised. The rule itself is written differently by every version of the
// generator; the message is not.
var oneOf = regexp.MustCompile(`^exactly one of the fields in \[(.*)\] must be set$`)

// TestUnionsHoldNothingElse holds every union to being one: its members are exactly its fields.
func TestUnionsHoldNothingElse(t *testing.T) {
	unions := map[string]bool{}
	for kind, parts := range fields(t) {
		for _, p := range parts {
			for _, rule := range p.schema.XValidations {
				found := oneOf.FindStringSubmatch(strings.Join(strings.Fields(rule.Message), " "))
				if found == nil {
					continue
				}
				unions[kind+" "+p.path] = true
				members := slices.Sorted(slices.Values(strings.Fields(found[1])))
				if diff := cmp.Diff(members, slices.Sorted(maps.Keys(p.schema.Properties))); diff != "" {
					t.Errorf("%s %s: members and fields differ: %s", kind, p.path, diff)
				}
			}
		}
	}
	for _, known := range []string{"TalosCluster spec.controlPlane", "NodePool spec.machine", "Location spec", "ClusterLocation spec"} {
		if !unions[known] {
			t.Errorf("%s is not recognised as a union", known)
		}
	}
}

// TestMembersAreKnown sets each member in turn and expects Member to name it as people write it. A new kind of place
// is thereby noticed in both unions.
func TestMembersAreKnown(t *testing.T) {
	machine := members(t, reflect.TypeFor[api.Machine](), func(v reflect.Value) api.Member { return v.Interface().(api.Machine).Member() })
	place := members(t, reflect.TypeFor[api.LocationSpec](), func(v reflect.Value) api.Member { return v.Interface().(api.LocationSpec).Member() })
	if diff := cmp.Diff(machine, place); diff != "" {
		t.Errorf("machines and places differ: %s", diff)
	}
}

// members sets each member of a union in turn.
func members(t *testing.T, union reflect.Type, member func(reflect.Value) api.Member) []api.Member {
	t.Helper()
	var found []api.Member
	for i := range union.NumField() {
		value := reflect.New(union).Elem()
		value.Field(i).Set(reflect.New(union.Field(i).Type.Elem()))
		name, _, _ := strings.Cut(union.Field(i).Tag.Get("json"), ",")
		if got := member(value); string(got) != name {
			t.Errorf("Member of %s with %s set is %q", union.Name(), name, got)
		}
		found = append(found, api.Member(name))
	}
	if got := member(reflect.New(union).Elem()); got != "" {
		t.Errorf("Member of an empty %s is %q", union.Name(), got)
	}
	return found
}

// TestKindsAreComplete holds the list of kinds, the scheme and the definitions to each other.
func TestKindsAreComplete(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, object := range api.Kinds() {
		gvks, _, err := scheme.ObjectKinds(object)
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, gvks[0].Kind)
		if !scheme.Recognizes(api.GroupVersion.WithKind(gvks[0].Kind + "List")) {
			t.Errorf("%s has no list", gvks[0].Kind)
		}
	}
	if diff := cmp.Diff(definitions(t).Names(), slices.Sorted(slices.Values(listed))); diff != "" {
		t.Error(diff)
	}
}

// TestNamesPeopleType holds what scripts rely on.
func TestNamesPeopleType(t *testing.T) {
	want := map[string]string{
		"TalosCluster": "talosclusters tc [minos] Namespaced", "NodePool": "nodepools np [minos] Namespaced",
		"NodeRole": "noderoles nr [minos] Cluster", "ClusterLocation": "clusterlocations cloc [minos] Cluster",
		"Location": "locations loc [minos] Namespaced", "TalosMachine": "talosmachines tm [minos] Namespaced",
	}
	got := map[string]string{}
	for name, kind := range definitions(t) {
		names := kind.Definition.Spec.Names
		got[name] = fmt.Sprintf("%s %s %v %s", names.Plural, strings.Join(names.ShortNames, ","), names.Categories, kind.Definition.Spec.Scope)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	scale := definitions(t)["NodePool"].Definition.Spec.Versions[0].Subresources.Scale
	if scale == nil || scale.SpecReplicasPath != ".spec.replicas" || scale.StatusReplicasPath != ".status.replicas" {
		t.Errorf("NodePool cannot be scaled: %v", scale)
	}
}
