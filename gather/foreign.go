// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/talhelper"
	"minos.dev/minos/adopt/topf"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// A tool is another one whose folders can be checked as if they were ours.
type tool struct {
	name    string
	secrets string // the file that stands in for secrets that are not there
	read    func(*adopt.Folder, adopt.Given) (*adopt.Source, *adopt.File, error)
}

// tools are by the name of their main file.
var tools = map[string]tool{
	"talconfig.yaml": {"talhelper", "talsecret.sops.yaml", talhelper.Read},
	"talconfig.yml":  {"talhelper", "talsecret.sops.yaml", talhelper.Read},
	"topf.yaml":      {"topf", "secrets.yaml", topf.Read},
}

// foreign makes declarations of ours from the folders of other tools, in memory, so that they can be judged too. Secrets are not
// needed for that: placeholders stand in for them. A folder that has declarations of ours already was taken over before.
func foreign(dir string, source *facts.Source) {
	if slices.ContainsFunc(source.Files, isOurs) {
		return
	}
	for _, file := range slices.Clone(source.Files) {
		tool, ok := tools[file.Base()]
		if !ok || file.Ignored || file.Text == nil {
			continue
		}
		made, remarks, err := convert(dir, file, tool)
		for _, remark := range remarks {
			source.Remarks = append(source.Remarks, fmt.Sprintf("%s: %s", path.Join(path.Dir(file.Path), remark.File), remark.Text))
		}
		if err != nil {
			source.Remarks = append(source.Remarks, fmt.Sprintf("%s: the folder of %s could not be taken for declarations of ours: %v", file.Path, tool.name, err))
			continue
		}
		hideRendered(source.Files, path.Join(path.Dir(file.Path), "clusterconfig"))
		source.Files = append(source.Files, made...)
	}
}

// isOurs says whether a file has declarations of ours.
func isOurs(file *facts.File) bool {
	return strings.HasSuffix(file.Path, "ml") && bytes.Contains(file.Text, []byte("\napiVersion: minos.dev/")) || bytes.HasPrefix(file.Text, []byte("apiVersion: minos.dev/"))
}

// hideRendered takes away the content of configurations that the other tool made from what is judged already: a machine counts
// once.
func hideRendered(files []*facts.File, folder string) {
	for _, file := range files {
		if path.Dir(file.Path) == folder && bytes.Contains(file.Text, []byte("version: v1alpha1")) {
			file.Text = nil
		}
	}
}

// convert makes declarations of one folder. What is wrong in it is said, and stops nothing else.
func convert(dir string, main *facts.File, tool tool) (made []*facts.File, left []adopt.Remark, err error) {
	defer func() {
		if broken := recover(); broken != nil { // libraries of others read what nobody has to trust
			err = fmt.Errorf("it broke the reader: %v", broken)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	below, err := fs.Sub(root.FS(), path.Dir(main.Path))
	if err != nil {
		return nil, nil, err
	}
	bundle, err := placeholders()
	if err != nil {
		return nil, nil, err
	}
	read, _, err := tool.read(&adopt.Folder{FS: withSecrets{below, tool.secrets, bundle}, Decrypt: decryptor(bundle)}, adopt.Given{Config: main.Base()})
	if err != nil {
		return nil, nil, err
	}
	result, err := adopt.Convert(read, adopt.Options{Plaintext: true})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(result.Files)) {
		made = append(made, &facts.File{Path: main.Path + "#" + name, Text: result.Files[name], Tracked: main.Tracked})
	}
	return made, result.Left, nil
}

// placeholders is a bundle of secrets that are none.
func placeholders() ([]byte, error) {
	secrets, err := fleet.Placeholders(&api.NodeRole{})
	if err != nil {
		return nil, err
	}
	bundle, inner := *secrets.Bundle, *secrets.Bundle.Secrets // they are everybody's
	inner.AESCBCEncryptionSecret = ""                         // of the two keys one is usual
	bundle.Secrets = &inner
	return (&pki.Secrets{Bundle: &bundle}).Marshal()
}

// decryptor puts placeholders where something is encrypted, and in place of every bundle: what is made must not depend on keys,
// and real secrets have no business in it.
func decryptor(bundle []byte) func([]byte) ([]byte, bool, error) {
	return func(text []byte) ([]byte, bool, error) {
		var node yaml.Node
		if yaml.Unmarshal(text, &node) != nil || len(node.Content) == 0 || node.Content[0].Kind != yaml.MappingNode {
			return text, false, nil
		}
		if keys := keysOf(node.Content[0]); slices.Contains(keys, "certs") && slices.Contains(keys, "trustdinfo") {
			return bundle, false, nil
		}
		if !sops.Encrypted(text) {
			return text, false, nil
		}
		replace(node.Content[0], 0)
		plain, err := yaml.Marshal(&node)
		return plain, false, err
	}
}

// keysOf are the keys of a mapping.
func keysOf(mapping *yaml.Node) []string {
	var keys []string
	for at := 0; at < len(mapping.Content); at += 2 {
		keys = append(keys, mapping.Content[at].Value)
	}
	return keys
}

// replace puts placeholders in place of encrypted values, and leaves out what SOPS added.
func replace(node *yaml.Node, depth int) {
	if depth == 0 {
		if at := slices.Index(keysOf(node), "sops"); at >= 0 {
			node.Content = slices.Delete(node.Content, 2*at, 2*at+2)
		}
	}
	if node.Kind == yaml.ScalarNode && strings.HasPrefix(node.Value, "ENC[") {
		node.SetString("placeholder")
	}
	for _, below := range node.Content {
		if depth < 100 {
			replace(below, depth+1)
		}
	}
}

// withSecrets is a folder that has a file with secrets even if it has none.
type withSecrets struct {
	fs.FS
	name string
	text []byte
}

// Open opens a file of the folder, or the one that stands in.
func (w withSecrets) Open(name string) (fs.File, error) {
	file, err := w.FS.Open(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || name != w.name {
		return file, err
	}
	return &standIn{Reader: bytes.NewReader(w.text)}, nil
}

// A standIn is a file in memory.
type standIn struct{ *bytes.Reader }

// Stat is not known: nobody needs it.
func (*standIn) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// Close does nothing.
func (*standIn) Close() error { return nil }
