// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/compare"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/redact"
)

// Rules are what a comparison needs to know beside the configurations.
type Rules struct {
	// Talos is the version of the machines.
	Talos api.TalosVersion
	// Schematics are IDs that name the same image as another ID: ours has the extensions sorted.
	Schematics map[string]string
	// Secrets hides what must not be shown.
	Secrets *redact.Redactor
}

// A rule takes one difference out of documents that has no meaning, and says what it took.
type rule func(documents []patch.Document, rules Rules) ([]patch.Document, []Likeness)

// all are the rules. The order does not matter.
var all = []rule{defaults, podNetwork, installer, mirrors, endpoint}

// Normal returns documents without what has no meaning.
func Normal(documents []patch.Document, rules Rules) []patch.Document {
	documents, _ = normal(documents, rules)
	return documents
}

func normal(documents []patch.Document, rules Rules) ([]patch.Document, []Likeness) {
	documents = patch.Clone(documents)
	var notes []Likeness
	for _, apply := range all {
		var found []Likeness
		documents, found = apply(documents, rules)
		notes = append(notes, found...)
	}
	return documents, notes
}

// about says whether a change is what a note speaks of.
func (l Likeness) about(change compare.Change) bool {
	return l.Document == change.Document && (l.Path == "" || l.Path == change.Path || strings.HasPrefix(change.Path, l.Path+".") || strings.HasPrefix(change.Path, l.Path+"["))
}

// unsaid are values that Talos assumes where nothing is said.
var unsaid = []struct {
	kind  string
	path  []string
	value any
}{
	{"ResolverConfig", []string{"searchDomains", "disableDefault"}, false},
	{"RegistryMirrorConfig", []string{"skipFallback"}, false},
	{"UnattendedInstallConfig", []string{"provisioning", "wipe"}, false},
	{"", []string{"cluster", "network", "cni"}, patch.Document{"name": "flannel"}},
}

func defaults(documents []patch.Document, _ Rules) ([]patch.Document, []Likeness) {
	var notes []Likeness
	for _, document := range documents {
		kind, _ := document["kind"].(string)
		for _, one := range unsaid {
			found := patch.Get(document, one.path...)
			if kind != one.kind || found == nil || !same(found, one.value) {
				continue
			}
			patch.Without(document, one.path)
			notes = append(notes, Likeness{Document: patch.ID(document), Path: strings.Join(one.path, "."), Why: "it is what Talos assumes where nothing is said"})
		}
	}
	return documents, notes
}

func same(a, b any) bool {
	left, err := json.Marshal(a)
	right, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(left) == string(right)
}

// podNetwork takes the choice of pod network from workers.
func podNetwork(documents []patch.Document, _ Rules) ([]patch.Document, []Likeness) {
	path := []string{"cluster", "network", "cni"}
	for _, document := range documents {
		if patch.ID(document) == "v1alpha1" && patch.Get(document, "machine", "type") == "worker" && patch.Get(document, path...) != nil {
			patch.Without(document, path)
			return documents, []Likeness{{Document: "v1alpha1", Path: strings.Join(path, "."), Why: "Talos installs the pod network from the control plane, and workers do not look at it"}}
		}
	}
	return documents, nil
}

var reference = regexp.MustCompile(`^([^/]+/(?:[^/]+/)*)(metal-)?installer(-secureboot)?/([0-9a-f]{64}):(.+)$`)

// installer writes the reference of an installer image in one way.
func installer(documents []patch.Document, rules Rules) ([]patch.Document, []Likeness) {
	var notes []Likeness
	for _, document := range documents {
		path := map[string][]string{"v1alpha1": {"machine", "install", "image"}, "UnattendedInstallConfig": {"installer", "image"}}[patch.ID(document)]
		if path == nil {
			continue
		}
		image, _ := patch.Get(document, path...).(string)
		parts := reference.FindStringSubmatch(image)
		if parts == nil {
			continue
		}
		id := parts[4]
		if other, ok := rules.Schematics[id]; ok {
			id = other
		}
		written := parts[1] + "metal-installer" + parts[3] + "/" + id + ":" + parts[5]
		if written == image {
			continue
		}
		patch.Set(document, written, path...)
		reason := "the installer for metal has two names"
		if id != parts[4] {
			reason = "the schematic has the same extensions in another order, so that its ID is another"
		}
		notes = append(notes, Likeness{Document: patch.ID(document), Path: strings.Join(path, "."), Why: reason})
	}
	return documents, notes
}

// mirrors writes registry mirrors as the documents that replaced the old fields.
func mirrors(documents []patch.Document, rules Rules) ([]patch.Document, []Likeness) {
	contract, err := config.Contract(rules.Talos)
	if err != nil || !contract.MultidocNetworkConfigSupported() {
		return documents, nil
	}
	path := []string{"machine", "registries", "mirrors"}
	for _, document := range documents {
		old, ok := patch.Get(document, path...).(patch.Document)
		if patch.ID(document) != "v1alpha1" || !ok {
			continue
		}
		patch.Without(document, path)
		why := "the document RegistryMirrorConfig replaced the field, and means the same"
		notes := []Likeness{{Document: "v1alpha1", Path: strings.Join(path, "."), Why: why}}
		for _, registry := range slices.Sorted(maps.Keys(old)) {
			fields, _ := old[registry].(patch.Document)
			added := mirror(registry, fields)
			documents = append(documents, added)
			notes = append(notes, Likeness{Document: patch.ID(added), Why: why})
		}
		return documents, notes
	}
	return documents, nil
}

func mirror(registry string, old patch.Document) patch.Document {
	document := patch.Document{"apiVersion": "v1alpha1", "kind": "RegistryMirrorConfig", "name": registry}
	list, _ := old["endpoints"].([]any)
	var endpoints []any
	for _, address := range list {
		endpoint := patch.Document{"url": address}
		if old["overridePath"] == true {
			endpoint["overridePath"] = true
		}
		endpoints = append(endpoints, endpoint)
	}
	if len(endpoints) > 0 {
		document["endpoints"] = endpoints
	}
	if old["skipFallback"] == true {
		document["skipFallback"] = true
	}
	return document
}

// endpoint gives the address of the API server its port.
func endpoint(documents []patch.Document, _ Rules) ([]patch.Document, []Likeness) {
	var notes []Likeness
	for _, document := range documents {
		path := map[string][]string{"v1alpha1": {"cluster", "controlPlane", "endpoint"}, "KubeClusterConfig": {"endpoint"}}[patch.ID(document)]
		if path == nil {
			continue
		}
		text, _ := patch.Get(document, path...).(string)
		address, err := url.Parse(text)
		if err != nil || address.Scheme != "https" || address.Port() != "" || address.Host == "" {
			continue
		}
		address.Host += ":443"
		patch.Set(document, address.String(), path...)
		notes = append(notes, Likeness{Document: patch.ID(document), Path: strings.Join(path, "."), Why: "443 is the port of https"})
	}
	return documents, notes
}

// why says why a value differs, where that is known.
func why(change compare.Change) string {
	fields := patch.Document{}
	if kind, _, _ := strings.Cut(change.Document, "/"); kind != "v1alpha1" {
		fields["apiVersion"], fields["kind"] = "v1alpha1", kind
	}
	patch.Set(fields, "x", strings.Split(change.Path, ".")...)
	raw, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	if protected, ok := errors.AsType[*config.ProtectedError](config.Protected("", []api.Patch{{Raw: raw}})); ok {
		return protected.Reason
	}
	return ""
}
