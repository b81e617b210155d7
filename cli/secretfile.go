// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/sops"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
	"minos.dev/minos/talos/redact"
)

// The files with the secrets of a cluster lie beside the file that declares it.
const (
	encryptedSuffix = ".secrets.sops.yaml"
	plainSuffix     = ".secrets.yaml"
)

// readSecretFile reads a file and decrypts it if SOPS encrypted it. That it is not there, that it cannot be read and that it
// cannot be decrypted are three different errors; the first is fs.ErrNotExist.
func readSecretFile(path string, keys *keyring) ([]byte, error) {
	text, err := readBounded(path)
	if err != nil || !sops.Encrypted(text) {
		return text, err
	}
	plain, err := sops.Decrypt(text, keys.identities...)
	return plain, cannotDecrypt(path, err, keys)
}

// A notFoundError is fs.ErrNotExist in our words.
type notFoundError string

func (e notFoundError) Error() string { return string(e) }

// Is lets callers tell it from a file that could not be read.
func (e notFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// readBounded reads a file that is not too large to be one of ours.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > largest {
		return nil, fmt.Errorf("%s has %d MiB, and may have %d", path, info.Size()>>20, largest>>20)
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFoundError("there is no file " + path)
	case err != nil:
		return nil, fmt.Errorf("could not read it: %w", err)
	}
	return text, nil
}

// cannotDecrypt says whose key is missing and where it is looked for, or what else is wrong. Of nil it is nil.
func cannotDecrypt(path string, err error, keys *keyring) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s: cannot be decrypted: %w", path, err)
	if missing, ok := errors.AsType[*sops.NoKeyError](err); ok {
		return Hint(wrapped, keys.missing(missing))
	}
	if _, ok := errors.AsType[*sops.TamperedError](err); ok {
		return Hint(wrapped, "take the file from your Git history; a merge by hand does this too: decrypt both sides, and merge those")
	}
	return wrapped
}

// missing says whose key is needed, and where it is looked for.
func (k *keyring) missing(err *sops.NoKeyError) string {
	hint := fmt.Sprintf("the secret key of %s is needed; keys are looked for in %s", orList(err.Recipients), keyPlaces())
	if k.passedOver > 0 {
		hint += "; keys in plugins are not supported"
	}
	return hint
}

// A secretFile is the file with the secrets of a cluster.
type secretFile struct {
	path    string
	text    []byte     // as it was read
	sealed  *sops.File // nil if it is not encrypted
	secrets *pki.Secrets
}

// findSecretFile returns the file with the secrets of a cluster. That there is none is fs.ErrNotExist.
func findSecretFile(dir, cluster string) (string, error) {
	var found []string
	for _, suffix := range []string{encryptedSuffix, plainSuffix} {
		path := filepath.Join(dir, cluster+suffix)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("could not look for the secrets of %s: %w", cluster, err)
		}
	}
	switch len(found) {
	case 0:
		return "", notFoundError(fmt.Sprintf("cluster %s has no secrets: there is no file %s", cluster, filepath.Join(dir, cluster+encryptedSuffix)))
	case 2:
		return "", Hint(fmt.Errorf("the secrets of cluster %s are there twice: %s", cluster, strings.Join(found, " and ")),
			"remove the one that is not in use: the clear text should not be there at all")
	}
	return found[0], nil
}

// openSecrets finds a cluster in a folder and reads its secrets with the keys of this computer.
func openSecrets(cmd *cobra.Command, folder, name string) (*declaredCluster, *secretFile, error) {
	cluster, err := findCluster(cmd, folder, name)
	if err != nil {
		return nil, nil, err
	}
	keys, err := loadKeyring()
	if err != nil {
		return nil, nil, err
	}
	file, err := readSecrets(cmd, cluster, keys)
	return cluster, file, err
}

// readSecrets reads the secrets of a declared cluster. What is unusual about them is said on stderr.
func readSecrets(cmd *cobra.Command, cluster *declaredCluster, keys *keyring) (*secretFile, error) {
	path, err := findSecretFile(cluster.dir, cluster.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Hint(err, cluster.howToGetSecrets())
	}
	if err != nil {
		return nil, err
	}
	file := &secretFile{path: path}
	if file.text, err = readBounded(path); err != nil {
		return nil, err
	}
	plain := file.text
	if sops.Encrypted(file.text) {
		if file.sealed, err = sops.Open(file.text, keys.identities...); err != nil {
			return nil, cannotDecrypt(path, err, keys)
		}
		plain = file.sealed.Plain()
	} else {
		warnPlain(cmd, path)
	}
	if file.secrets, err = pki.Parse(plain, cluster.need()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := file.secrets.CheckTime(time.Now()); err != nil {
		say(cmd, "warning: %s: %v", path, err)
	}
	return file, nil
}

// warnPlain says that secrets are in clear, and what to do about it.
func warnPlain(cmd *cobra.Command, path string) {
	if strings.HasSuffix(path, encryptedSuffix) {
		say(cmd, "warning: %s is not encrypted, although its name says so: 'minos secrets encrypt %s' does it", path, path)
		return
	}
	better := strings.TrimSuffix(path, plainSuffix) + encryptedSuffix
	say(cmd, "warning: %s is not encrypted: rename it to %s, and encrypt that with 'minos secrets encrypt'", path, filepath.Base(better))
}

// forMachines is what machines get of it, with what is accepted while something is being replaced.
func (f *secretFile) forMachines() fleet.Secrets {
	return fleet.Secrets{
		Bundle: f.secrets.Bundle,
		Accepted: config.Accepted{
			TalosCAs:           f.secrets.Accepted(pki.PartTalosCA),
			KubernetesCAs:      f.secrets.Accepted(pki.PartKubernetesCA),
			ServiceAccountKeys: f.secrets.Accepted(pki.PartServiceAccount),
		},
	}
}

// write writes other secrets into the file, encrypted as it was. If somebody changed it meanwhile, it stays.
func (f *secretFile) write(secrets *pki.Secrets) error {
	text, err := secrets.Marshal()
	if err != nil {
		return err
	}
	if f.sealed != nil {
		if text, err = f.sealed.Replace(text, rand.Reader, time.Now()); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := allHidden(text, secrets); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	now, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.text) {
		return Hint(fmt.Errorf("%s was changed by somebody else meanwhile, and nothing is written", f.path), "run it again")
	}
	return replaceFile(f.path, text, modeSecret)
}

// allHidden says which secret can be read in an encrypted text: a rule that is meant for other files may leave all of them
// readable.
func allHidden(text []byte, secrets *pki.Secrets) error {
	hidden := secrets.Describe(true)
	for i, item := range secrets.Describe(false) {
		if hidden[i].Value == redact.Mark && bytes.Contains(text, []byte(item.Value)) {
			return Hint(fmt.Errorf("the rule in %s leaves %s readable", sopsConfigName, item.Name),
				"give these files a rule of their own, without encrypted_regex and the like")
		}
	}
	return nil
}

// canOpen says whether one of the keys is among recipients.
func (k *keyring) canOpen(recipients []string) bool {
	return slices.ContainsFunc(k.recipients, func(own string) bool { return slices.Contains(recipients, own) })
}
