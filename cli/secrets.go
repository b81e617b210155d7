// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
)

// newSecrets returns the commands about secrets.
func newSecrets() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secrets",
		Short: "Make, show, encrypt and replace the secrets of clusters",
		Long: `The secrets of cluster NAME are in NAME.secrets.sops.yaml, beside the file that
declares it: a Talos secrets bundle, as 'talosctl gen secrets' writes it,
encrypted by SOPS with age. The programs sops and talosctl read and write the
same files.

Keys are looked for where sops looks for them: in SOPS_AGE_KEY, in the file
that SOPS_AGE_KEY_FILE names, and in sops/age/keys.txt in your configuration
folder.`,
		Example: "minos secrets new shop --folder fleet --make-key\nminos secrets show shop --folder fleet",
		GroupID: GroupImages,
	}
	cmd.AddCommand(newSecretsNew(), newSecretsShow(), newSecretsEncrypt(), newSecretsDecrypt(), newSecretsRotate())
	return cmd
}

// newSecretsOptions are the flags of 'secrets new'.
type newSecretsOptions struct {
	folder    *string
	age       *[]string
	plaintext *bool
	makeKey   *bool
}

// newSecretsNew returns the command that makes the secrets of a new cluster.
func newSecretsNew() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new CLUSTER",
		Short: "Make the secrets of a new cluster",
		Long: `Makes the identity, the authorities, the keys and the tokens of a cluster that
the folder declares, of the kinds that its Talos version wants, and writes them
beside the declaration. Secrets that exist are never written over.

They are encrypted as the nearest .sops.yaml says, or for the recipients that
--age names. With --make-key, an age key is made where sops looks for it, if
you have none, and they are encrypted for your key if there is no .sops.yaml.
Only --plaintext writes them in clear.`,
		Example: "minos secrets new shop --folder fleet\nminos secrets new shop --make-key",
	}
	options := newSecretsOptions{
		folder:    folderFlag(cmd),
		age:       ageFlag(cmd),
		plaintext: cmd.Flags().Bool("plaintext", false, "write the secrets in clear, to NAME.secrets.yaml"),
		makeKey:   cmd.Flags().Bool("make-key", false, "make an age key if there is none"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *options.plaintext && (len(*options.age) > 0 || *options.makeKey) {
			return about(cmd, "--plaintext encrypts for nobody: leave out --age and --make-key")
		}
		cluster, err := findCluster(cmd, *options.folder, args[0])
		if err != nil {
			return err
		}
		return cluster.makeSecrets(cmd, options)
	}
	return cmd
}

// ageFlag gives a command --age.
func ageFlag(cmd *cobra.Command) *[]string {
	return cmd.Flags().StringSlice("age", nil, "recipient to encrypt for, instead of what .sops.yaml says; may be repeated")
}

// makeSecrets makes the secrets of a cluster that has none, and writes them.
func (d *declaredCluster) makeSecrets(cmd *cobra.Command, options newSecretsOptions) error {
	if err := d.ownsSecrets(); err != nil {
		return err
	}
	existing, err := findSecretFile(d.dir, d.Name)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("cluster %s has secrets already, in %s, and nothing is written over them", d.Name, existing)
		}
		return Hint(err, "'minos secrets rotate' replaces parts of them")
	}
	if *options.plaintext {
		return d.writePlain(cmd)
	}
	path := filepath.Join(d.dir, d.Name+encryptedSuffix)
	recipients := *options.age
	if *options.makeKey {
		if recipients, err = ownRecipients(cmd, path, recipients); err != nil {
			return err
		}
	}
	rule, err := ruleFor(path, recipients)
	if errors.Is(err, errNoSopsConfig) {
		return Hint(err, "give --age RECIPIENT, or --make-key to encrypt for a key of your own; or write "+sopsConfigName+" with creation_rules")
	}
	if err != nil {
		return err
	}
	return d.writeEncrypted(cmd, path, rule)
}

// newBundle makes the secrets of a cluster, of the kinds that its version of Talos wants. It takes a while: one of the keys is of RSA.
func newBundle(version api.TalosVersion, now time.Time) (*pki.Secrets, error) {
	contract, err := config.Contract(version)
	if err != nil {
		return nil, err
	}
	return pki.New(contract, now)
}

// writePlain writes new secrets in clear.
func (d *declaredCluster) writePlain(cmd *cobra.Command) error {
	made, err := newBundle(d.Spec.TalosVersion, time.Now())
	if err != nil {
		return err
	}
	text, err := made.Marshal()
	if err != nil {
		return err
	}
	path := filepath.Join(d.dir, d.Name+plainSuffix)
	if err := createFile(path, text, modeSecret); err != nil {
		return err
	}
	say(cmd, "wrote %s\nwarning: it is not encrypted: whoever reads it owns the cluster. Keep it out of Git.", path)
	return nil
}

// writeEncrypted writes new secrets, encrypted by a rule.
func (d *declaredCluster) writeEncrypted(cmd *cobra.Command, path string, rule sops.Rule) error {
	keys, err := loadKeyring()
	if err != nil {
		return err
	}
	now := time.Now()
	made, err := newBundle(d.Spec.TalosVersion, now)
	if err != nil {
		return err
	}
	encrypted, err := encryptBundle(path, made, rule, now)
	if err != nil {
		return err
	}
	if err := createFile(path, encrypted, modeSecret); err != nil {
		return err
	}
	say(cmd, "wrote %s, encrypted for %s", path, orList(rule.Recipients))
	if !keys.canOpen(rule.Recipients) {
		say(cmd, "warning: none of your keys can decrypt it; keys are looked for in %s", keyPlaces())
	}
	return nil
}

// encryptBundle is the text of secrets, encrypted by a rule that hides all of them.
func encryptBundle(path string, secrets *pki.Secrets, rule sops.Rule, now time.Time) ([]byte, error) {
	text, err := secrets.Marshal()
	if err != nil {
		return nil, err
	}
	encrypted, err := sops.Encrypt(text, rule, rand.Reader, now)
	if err != nil {
		return nil, fmt.Errorf("encrypt %s: %w", path, err)
	}
	return encrypted, allHidden(encrypted, secrets)
}

// ownRecipients makes a key if there is none, and adds the recipients of all that there are to those that were given, unless
// a .sops.yaml says for whom to encrypt.
func ownRecipients(cmd *cobra.Command, path string, given []string) ([]string, error) {
	keys, err := loadKeyring()
	if err != nil {
		return nil, err
	}
	if len(keys.recipients) == 0 {
		recipient, file, err := makeKey(time.Now())
		if err != nil {
			return nil, err
		}
		keys.recipients = []string{recipient}
		say(cmd, "made an age key in %s: keep a copy of it in a safe place, for without it nobody can decrypt\nits recipient is %s", file, recipient)
	}
	_, _, err = findSopsConfig(path)
	switch {
	case len(given) > 0, errors.Is(err, errNoSopsConfig):
		return append(given, keys.recipients...), nil
	case err != nil:
		return nil, err
	}
	return nil, nil
}
