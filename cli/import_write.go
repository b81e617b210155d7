// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// An importFolder is a folder of ours that is made from another.
type importFolder struct {
	options importOptions
	to      *target
	folder  *adopt.Folder
	result  *adopt.Result
	secrets *adopt.File
}

// A newFile is a file that will be written.
type newFile struct {
	name string
	text []byte
	mode fs.FileMode
}

// write writes the folder, or nothing of it.
func (f *importFolder) write(cmd *cobra.Command) error {
	var files []newFile
	for _, name := range slices.Sorted(maps.Keys(f.result.Files)) {
		files = append(files, newFile{name, f.result.Files[name], modePublic})
	}
	secret, err := f.secretFiles(cmd)
	if err != nil {
		return err
	}
	files = append(files, secret...)
	if err := writeAll(cmd, f.to.path, files); err != nil {
		return err
	}
	say(cmd, "wrote %s to %s, for the cluster %s", count(len(files), "file"), f.to.dir, f.result.Cluster)
	return nil
}

// writeAll writes files into a folder that is made for them, or none of them.
func writeAll(cmd *cobra.Command, dir string, files []newFile) (err error) {
	undo := &undo{}
	defer func() {
		if err != nil {
			err = errors.Join(err, undo.all())
		}
	}()
	for _, file := range files {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if err := undo.file(filepath.Join(dir, filepath.FromSlash(file.name)), file.text, file.mode); err != nil {
			return err
		}
	}
	return nil
}

// secretFiles are the secrets of the cluster and of services, each as it may be written.
func (f *importFolder) secretFiles(cmd *cobra.Command) ([]newFile, error) {
	parsed, err := pki.Parse(f.secrets.Text, pki.NeedAll)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.secrets.Name, err)
	}
	name := f.result.Cluster + encryptedSuffix
	rule, err := f.rule(name)
	if errors.Is(err, errNoSopsConfig) && *f.options.plaintext {
		return f.plainFiles(cmd)
	}
	if errors.Is(err, errNoSopsConfig) {
		return nil, Hint(fmt.Errorf("%s is not encrypted, and nobody is named to encrypt the secrets for", f.secrets.Name),
			"give --age RECIPIENT, or --plaintext to write them in clear")
	}
	if err != nil {
		return nil, err
	}
	bundle, err := f.bundle(rule)
	if err != nil {
		return nil, err
	}
	if err := allHidden(bundle, parsed); err != nil {
		return nil, err
	}
	files := []newFile{{name, bundle, modeSecret}}
	for _, file := range f.values() {
		text, err := sops.Encrypt(file.text, sops.Rule{Recipients: rule.Recipients, EncryptedRegex: "^(data|stringData)$"}, rand.Reader, time.Now())
		if err != nil {
			return nil, fmt.Errorf("encrypt %s: %w", file.name, err)
		}
		files = append(files, newFile{file.name + ".sops.yaml", text, modeSecret})
	}
	if _, _, err := findSopsConfig(filepath.Join(f.to.path, name)); errors.Is(err, errNoSopsConfig) {
		files = append(files, newFile{sopsConfigName, newSopsConfig(rule.Recipients), modePublic})
	}
	return files, nil
}

// rule is how secrets are encrypted: for whom the user says, or for whom they were, or as .sops.yaml at the target says.
func (f *importFolder) rule(name string) (sops.Rule, error) {
	recipients := *f.options.age
	if len(recipients) == 0 {
		for _, file := range append([]*adopt.File{f.secrets}, f.folder.Encrypted()...) {
			if found, err := sops.Recipients(file.Raw); err == nil && len(found) > 0 {
				recipients = found
				break
			}
		}
	}
	return ruleFor(filepath.Join(f.to.path, name), recipients)
}

// bundle is the cluster's secrets: the very file that there was, if it is encrypted for the same people.
func (f *importFolder) bundle(rule sops.Rule) ([]byte, error) {
	if f.secrets.Encrypted && len(*f.options.age) == 0 && !strings.Contains(string(f.secrets.Raw), "$") {
		return f.secrets.Raw, nil
	}
	text, err := sops.Encrypt(f.secrets.Text, rule, rand.Reader, time.Now())
	if err != nil {
		return nil, fmt.Errorf("encrypt the secrets: %w", err)
	}
	return text, nil
}

// plainFiles are the same in clear.
func (f *importFolder) plainFiles(cmd *cobra.Command) ([]newFile, error) {
	files := []newFile{{f.result.Cluster + plainSuffix, f.secrets.Text, modeSecret}}
	for _, file := range f.values() {
		files = append(files, newFile{file.name + ".yaml", file.text, modeSecret})
	}
	say(cmd, "warning: the secrets are written in clear: whoever reads them owns the cluster. Keep them out of Git.")
	return files, nil
}

// values are the Secrets that roles refer to, by their names.
func (f *importFolder) values() []newFile {
	byName := map[string]map[string]string{}
	for reference, value := range f.result.Values {
		name := string(reference.Name)
		if byName[name] == nil {
			byName[name] = map[string]string{}
		}
		byName[name][reference.Key] = value
	}
	var files []newFile
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		text, _ := yaml.Marshal(map[string]any{ // maps of words always can be
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": byName[name],
		})
		files = append(files, newFile{name: name, text: text})
	}
	return files
}
