// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// revisionLength is how much of the hash names a revision: enough to tell all revisions of a pool apart.
const revisionLength = 10

// Rolls names what machines roll for where Minos makes them itself: that part of the configuration which Talos cannot change on a
// running machine, as [minos.dev/minos/talos/config.Revision] names it, what a machine is made of, and what it boots.
func Rolls(configuration string, machine api.Machine, schematic string, version api.TalosVersion) (string, error) {
	text, err := json.Marshal([]any{"v1", configuration, machine, schematic, version})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:revisionLength], nil
}

// Revision names a machine configuration by its whole content. The order of maps and documents, the style of the YAML and
// comments do not show in it. It is not [minos.dev/minos/talos/config.Revision], which names what machines must roll for: a
// revision is never edited, so that every other content has another name.
func Revision(text []byte) (string, error) { return named(text, func(map[string]any) {}) }

// Lasting is the same but for the labels with which a kubelet registers its Node: they are changed on the Node itself, so that a
// machine of Cluster API, which is made anew for another revision, need not be for a label.
func Lasting(text []byte) (string, error) {
	return named(text, func(document map[string]any) {
		kubelet, arguments := argumentsOf(document)
		delete(arguments, config.NodeLabels)
		if len(arguments) == 0 {
			delete(kubelet, "extraArgs")
		}
	})
}

// Labels are those with which a kubelet registers its Node, by its arguments.
func Labels(text []byte) (map[string]string, error) {
	found := map[string]string{}
	_, err := named(text, func(document map[string]any) {
		_, arguments := argumentsOf(document)
		values, several := arguments[config.NodeLabels].([]any)
		if !several {
			values = []any{arguments[config.NodeLabels]}
		}
		for _, value := range values {
			said, _ := value.(string)
			for _, label := range strings.Split(said, ",") {
				if key, value, is := strings.Cut(strings.TrimSpace(label), "="); is {
					found[key] = value
				}
			}
		}
	})
	return found, err
}

// argumentsOf are the arguments of the kubelet in a document, and what holds them; nil if it says nothing of them.
func argumentsOf(document map[string]any) (kubelet, arguments map[string]any) {
	kubelet = document
	if document["kind"] == nil {
		machine, _ := document["machine"].(map[string]any)
		kubelet, _ = machine["kubelet"].(map[string]any)
	} else if document["kind"] != "KubeletConfig" {
		return nil, nil
	}
	arguments, _ = kubelet["extraArgs"].(map[string]any)
	return kubelet, arguments
}

// named names a configuration by its content, without what is taken out of each document.
func named(text []byte, without func(document map[string]any)) (string, error) {
	lines := [][]byte{[]byte("v1")} // another way to compute it would be another version, and known as such
	reader := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document map[string]any
		err := reader.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read the configuration: %w", err)
		}
		without(document)
		line, err := json.Marshal(document) // with sorted keys
		if err != nil {
			return "", fmt.Errorf("read the configuration: %w", err)
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b []byte) int { return cmp.Compare(string(a), string(b)) })
	sum := sha256.Sum256(bytes.Join(lines, []byte("\n")))
	return hex.EncodeToString(sum[:])[:revisionLength], nil
}
