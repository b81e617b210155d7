// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"filippo.io/age"
)

// Where keys are looked for: where sops looks for them too.
const (
	keyVariable     = "SOPS_AGE_KEY"
	keyFileVariable = "SOPS_AGE_KEY_FILE"
)

// A keyring is the age keys of whoever runs the command.
type keyring struct {
	identities []age.Identity
	recipients []string // of the keys, in their order
	passedOver int      // keys that are in a plugin, which is a program of somebody else's
}

// loadKeyring reads all keys that there are. That there are none is no error until one is needed; a variable that leads
// nowhere is.
func loadKeyring() (*keyring, error) {
	keys := &keyring{}
	if err := keys.add(keyVariable, os.Getenv(keyVariable)); err != nil {
		return nil, err
	}
	if path := os.Getenv(keyFileVariable); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: could not read the keys: %w", keyFileVariable, err)
		}
		if err := keys.add(path, string(text)); err != nil {
			return nil, err
		}
	}
	path := defaultKeyFile()
	text, err := os.ReadFile(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist):
		return keys, nil
	case err != nil:
		return nil, fmt.Errorf("could not read the keys: %w", err)
	}
	return keys, keys.add(path, string(text))
}

// add reads keys out of a text: any number of them, with comments. No error shows what it is about.
func (k *keyring) add(place, text string) error {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "AGE-PLUGIN-") {
				k.passedOver++
				continue
			}
			found, err := age.ParseIdentities(strings.NewReader(word))
			if err != nil {
				return Hint(fmt.Errorf("%s: there is something in it that is no age key", place),
					"a key starts with AGE-SECRET-KEY-, and a comment with #")
			}
			k.identities = append(k.identities, found...)
			for _, identity := range found {
				k.recipients = append(k.recipients, recipientOf(identity))
			}
		}
	}
	return nil
}

// recipientOf is the public side of a key.
func recipientOf(identity age.Identity) string {
	switch identity := identity.(type) {
	case *age.X25519Identity:
		return identity.Recipient().String()
	case *age.HybridIdentity:
		return identity.Recipient().String()
	}
	return ""
}

// defaultKeyFile is where sops has its keys if nobody says otherwise; empty if this machine has no such place.
func defaultKeyFile() string {
	dir, err := os.UserConfigDir()
	if given := os.Getenv("XDG_CONFIG_HOME"); runtime.GOOS == "darwin" && given != "" { // which Go ignores there
		dir, err = given, nil
	}
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sops", "age", "keys.txt")
}

// keyPlaces says where keys are looked for.
func keyPlaces() string {
	places := keyVariable + ", " + keyFileVariable
	if path := defaultKeyFile(); path != "" {
		places += " and " + path
	}
	return places
}

// makeKey makes an age key where sops looks for it and returns its recipient and the file. A key that is there is kept.
func makeKey(now time.Time) (recipient, path string, err error) {
	path = defaultKeyFile()
	if path == "" {
		return "", "", Hint(errors.New("there is no place for a key: neither HOME nor XDG_CONFIG_HOME is set"),
			"give the key in "+keyVariable)
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", "", err
	}
	recipient = key.Recipient().String()
	text := fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", now.UTC().Format(time.RFC3339), recipient, key)
	return recipient, path, createFile(path, []byte(text), modeSecret)
}
