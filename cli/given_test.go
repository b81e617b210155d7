// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/pki"
)

// oneBundle is the secrets of a cluster for all tests that only read some: to make them takes a second, for a key of RSA.
var oneBundle = sync.OnceValues(func() (*pki.Secrets, error) { return newBundle("v1.13.9", time.Now()) })

// givenBundle is [newBundle] for tests that are about something else.
func givenBundle(api.TalosVersion, time.Time) (*pki.Secrets, error) { return oneBundle() }

// giveSecrets writes such secrets as those of a cluster, encrypted for a key that it makes in a home, unless one is there.
func giveSecrets(home, folder, cluster string) error {
	secrets, err := oneBundle()
	if err != nil {
		return err
	}
	key, err := keyIn(filepath.Join(home, ".config", "sops", "age", "keys.txt"))
	if err != nil {
		return err
	}
	path := filepath.Join(folder, cluster+encryptedSuffix)
	text, err := encryptBundle(path, secrets, sops.Rule{Recipients: []string{key.Recipient().String()}}, time.Now())
	if err != nil {
		return err
	}
	return createFile(path, text, modeSecret)
}

// keyIn is the key in a file, which is made if it is not there.
func keyIn(path string) (*age.X25519Identity, error) {
	if text, err := os.ReadFile(path); err == nil {
		return age.ParseX25519Identity(string(text))
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return key, createFile(path, []byte(key.String()), modeSecret)
}

// givenSecrets gives a cluster secrets, for transcripts that are not about how those are made: "given-secrets fleet shop".
func givenSecrets(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: given-secrets folder cluster")
	}
	ts.Check(giveSecrets(ts.Getenv("HOME"), ts.MkAbs(args[0]), args[1]))
}
