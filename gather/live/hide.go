// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/talos/redact"
)

// hide takes out of an object what gives itself away as a secret. It changes the object.
func hide(object map[string]any) map[string]any {
	for key, value := range object {
		object[key] = hidden(value)
	}
	return object
}

// hidden is a value without what gives itself away.
func hidden(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return hide(value)
	case []any:
		for at, one := range value {
			value[at] = hidden(one)
		}
	case string:
		if redact.Find(value) != "" {
			return redact.Mark
		}
	}
	return value
}

// hideConfig is a machine configuration without its secrets, as it was applied: made anew by Talos it would have fields that nobody
// wrote. Talos itself knows where its own secrets stand; what users put into services, files and manifests it does not know.
func hideConfig(provider talosconfig.Provider) (string, error) {
	text, err := provider.Bytes()
	if err != nil {
		return "", err
	}
	known, err := knownTo(provider)
	if err != nil {
		return "", err
	}
	h := &hider{known: known}
	for secret := range known {
		h.Learn(secret) // wherever else it stands
	}
	documents, err := parse(text)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, document := range documents {
		h.hide(document, nil)
		part, err := yaml.Marshal(document)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(part))
	}
	return strings.Join(parts, "---\n"), nil
}

// parse reads the documents of a text.
func parse(text []byte) ([]*yaml.Node, error) {
	reader := yaml.NewDecoder(bytes.NewReader(text))
	var found []*yaml.Node
	for {
		document := &yaml.Node{}
		if err := reader.Decode(document); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, errors.New("its configuration is no YAML") // what the reader says may quote it
		}
		found = append(found, document)
	}
}

// knownTo are the secrets that Talos knows as such, with what it puts in their place: it keeps keys in base64.
func knownTo(provider talosconfig.Provider) (map[string]string, error) {
	var both [2][]*yaml.Node
	for at, one := range []talosconfig.Provider{provider, provider.RedactSecrets(redact.Mark)} {
		text, err := one.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
		if err != nil {
			return nil, err
		}
		if both[at], err = parse(text); err != nil {
			return nil, err
		}
	}
	found := map[string]string{}
	for at := range min(len(both[0]), len(both[1])) {
		differing(both[0][at], both[1][at], found)
	}
	return found, nil
}

// differing collects the values below two nodes of one shape that are not the same.
func differing(before, after *yaml.Node, found map[string]string) {
	if before.Kind == yaml.ScalarNode && before.Value != after.Value {
		found[before.Value] = after.Value
	}
	for at := range min(len(before.Content), len(after.Content)) {
		differing(before.Content[at], after.Content[at], found)
	}
}

// A hider hides secrets in what somebody wrote.
type hider struct {
	redact.Redactor
	known map[string]string
}

// hide hides the secrets below a node. Remarks go, since anything may stand in them.
func (h *hider) hide(node *yaml.Node, path []string) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	switch node.Kind {
	case yaml.DocumentNode:
		for _, below := range node.Content {
			h.hide(below, path)
		}
	case yaml.SequenceNode:
		for at, below := range node.Content {
			h.hide(below, append(path, fmt.Sprintf("[%d]", at)))
		}
	case yaml.MappingNode:
		for at := 0; at+1 < len(node.Content); at += 2 {
			h.hide(node.Content[at], nil)
			h.hide(node.Content[at+1], append(path, node.Content[at].Value))
		}
	case yaml.ScalarNode:
		h.scalar(node, path)
	}
}

// scalar hides a value. What Talos put in place of its own stays a value that Talos reads.
func (h *hider) scalar(node *yaml.Node, path []string) {
	if with, is := h.known[node.Value]; is {
		node.SetString(with)
		return
	}
	if text, hid := h.Text(path, node.Value); hid && node.Tag == "!!str" {
		node.SetString(text)
	}
}
