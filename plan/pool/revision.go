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

	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
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
func Revision(text []byte) (string, error) {
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
