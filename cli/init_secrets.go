// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli/scaffold"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// newSecretsOf is the secrets of a cluster to be, and for whom they will be encrypted.
type newSecretsOf struct {
	file       string
	talos      api.TalosVersion
	bundle     func(api.TalosVersion, time.Time) (*pki.Secrets, error)
	recipients []string // none if a key has to be made first
	readable   bool     // by a key of whoever runs this
	key        string   // the file with a key that was made
}

// secrets finds for whom to encrypt the secrets of a cluster: those that were named, or else the owners of the keys that sops would find.
// A hosted cluster has none here.
func (s initShell) secrets(answers *scaffold.Answers) (*newSecretsOf, error) {
	if answers.BundleFile() == "" {
		return nil, nil
	}
	keys, err := loadKeyring()
	if err != nil {
		return nil, err
	}
	prepared := &newSecretsOf{file: answers.BundleFile(), talos: answers.Talos, bundle: s.bundle, recipients: answers.Recipients}
	if len(prepared.recipients) == 0 {
		prepared.recipients = keys.recipients
	}
	prepared.readable = len(prepared.recipients) == 0 || keys.canOpen(prepared.recipients)
	return prepared, nil
}

// files are the secrets, new and encrypted, and the rule for whoever encrypts more of them. A key is made if there is none.
func (n *newSecretsOf) files(undo *undo, now time.Time) ([]scaffold.File, error) {
	if n == nil {
		return nil, nil
	}
	made, err := n.bundle(n.talos, now)
	if err != nil {
		return nil, err
	}
	if len(n.recipients) == 0 {
		if err := n.makeKey(undo, now); err != nil {
			return nil, err
		}
	}
	encrypted, err := encryptBundle(n.file, made, sops.Rule{Recipients: n.recipients}, now)
	if err != nil {
		return nil, err
	}
	return []scaffold.File{{Name: sopsConfigName, Text: newSopsConfig(n.recipients)}, {Name: n.file, Text: encrypted}}, nil
}

// makeKey makes an age key where sops looks for it.
func (n *newSecretsOf) makeKey(undo *undo, now time.Time) error {
	if place := defaultKeyFile(); place != "" {
		if err := undo.folder(filepath.Dir(place), 0o700); err != nil {
			return err
		}
	}
	recipient, path, err := makeKey(now)
	if err != nil {
		return Hint(fmt.Errorf("there is no age key to encrypt for, and none can be made: %w", err), "give --age RECIPIENT, which 'age-keygen' prints")
	}
	undo.made = append(undo.made, path)
	n.recipients, n.key = []string{recipient}, path
	return nil
}

// say says who can decrypt the secrets, where that is not plain.
func (n *newSecretsOf) say(cmd *cobra.Command) {
	switch {
	case n == nil:
	case n.key != "":
		say(cmd, "made an age key, because you have none: %s\nKeep a copy of it in a safe place: without it nobody can ever decrypt %s.", n.key, n.file)
	case !n.readable:
		say(cmd, "warning: none of your keys can decrypt %s; keys are looked for in %s", n.file, keyPlaces())
	}
}

// shown are the same files as a dry run prints them.
func (n *newSecretsOf) shown() []scaffold.File {
	if n == nil {
		return nil
	}
	recipients := n.recipients
	if len(recipients) == 0 {
		recipients = []string{"(of a key that would be made in " + defaultKeyFile() + ")"}
	}
	words := fmt.Sprintf("# (the secrets of the cluster, encrypted for %s)\n", strings.Join(recipients, ", "))
	return []scaffold.File{{Name: sopsConfigName, Text: newSopsConfig(recipients)}, {Name: n.file, Text: []byte(words)}}
}
