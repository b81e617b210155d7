// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// newSecretsEncrypt returns the command that encrypts files.
func newSecretsEncrypt() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "encrypt FILE...",
		Short: "Encrypt YAML files in place, by SOPS",
		Long: `Encrypts the values of YAML files in place, as the nearest .sops.yaml says or
for the recipients that --age names. Keys stay readable. A file that is
encrypted already is left alone, so that it can be run again.`,
		Example: "minos secrets encrypt fleet/shop.secrets.yaml\nminos secrets encrypt token.sops.yaml --age age1example",
	}
	recipients := ageFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, path := range args {
			if err := encryptFile(cmd, path, *recipients); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// encryptFile encrypts one file in place.
func encryptFile(cmd *cobra.Command, path string, recipients []string) error {
	file, err := openYAML(path)
	if err != nil {
		return err
	}
	if sops.Encrypted(file.text) {
		say(cmd, "%s is encrypted already", path)
		return nil
	}
	rule, err := ruleFor(path, recipients)
	if err != nil {
		return err
	}
	encrypted, err := sops.Encrypt(file.text, rule, rand.Reader, time.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if bundle, err := pki.Parse(file.text, pki.NeedWorkers); err == nil {
		if err := allHidden(encrypted, bundle); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := replaceFile(file.path, encrypted, file.mode); err != nil {
		return err
	}
	say(cmd, "encrypted %s for %s; what is in your Git history stays readable", path, orList(rule.Recipients))
	return nil
}

// newSecretsDecrypt returns the command that decrypts a file.
func newSecretsDecrypt() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decrypt FILE",
		Short: "Decrypt a YAML file of SOPS",
		Long: `Prints what is in a file that SOPS encrypted, or with --in-place writes it in
clear, readable for you alone. What was changed since it was encrypted is not
printed.`,
		Example: "minos secrets decrypt fleet/shop.secrets.sops.yaml\nminos secrets decrypt token.sops.yaml --in-place",
	}
	inPlace := cmd.Flags().Bool("in-place", false, "write the file in clear instead of printing it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plain, err := decryptFile(args[0])
		if err != nil {
			return err
		}
		if !*inPlace {
			_, err = cmd.OutOrStdout().Write(plain)
			return err
		}
		file, err := openYAML(args[0])
		if err != nil {
			return err
		}
		if err := replaceFile(file.path, plain, modeSecret); err != nil {
			return err
		}
		say(cmd, "decrypted %s: do not commit it like this; 'minos secrets encrypt' encrypts it again", args[0])
		return nil
	}
	return cmd
}

// decryptFile returns what is in a file that must be encrypted.
func decryptFile(path string) ([]byte, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	if !sops.Encrypted(text) {
		return nil, fmt.Errorf("%s is not encrypted: there is no SOPS metadata in it", path)
	}
	keys, err := loadKeyring()
	if err != nil {
		return nil, err
	}
	plain, err := sops.Decrypt(text, keys.identities...)
	return plain, cannotDecrypt(path, err, keys)
}

// A yamlFile is one that can be written again.
type yamlFile struct {
	path string // where it is, behind links
	text []byte
	mode fs.FileMode
}

// openYAML reads a file that is to be written again. We write YAML, so that its name must say so: sops goes by it.
func openYAML(path string) (*yamlFile, error) {
	if extension := filepath.Ext(path); extension != ".yaml" && extension != ".yml" {
		return nil, Hint(fmt.Errorf("%s is not called .yaml or .yml, and only YAML is written here", path), "use the program sops for other files")
	}
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	behind, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(behind)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + " is not a file")
	}
	if err != nil {
		return nil, err
	}
	return &yamlFile{path: behind, text: text, mode: info.Mode().Perm()}, nil
}
