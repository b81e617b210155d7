// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"minos.dev/minos/sim/soak/invariant"
)

// TestLeaksInLogs looks into every log once, also into those that were put aside, and into what was written since.
func TestLeaksInLogs(t *testing.T) {
	const secret = "a-token-of-somebody"
	for name, isLog := range map[string]bool{
		"logs/operator.log": true, "logs/operator.log.old": true, "management/log.txt": true, "management/log.old.txt": true,
		"places/cloud/disks/i-1/disk.json": false, "management/pki/ca.key": false,
	} {
		t.Run(name, func(t *testing.T) {
			s := &Stage{options: Options{Folder: t.TempDir()}, read: map[string]int64{}, known: invariant.Known{"a token": secret}}
			looks := func(want bool) {
				t.Helper()
				if found, err := s.leaksInLogs(); err != nil || len(found) > 0 != want {
					t.Errorf("it finds %v, %v", found, err)
				}
			}
			file := filepath.Join(s.options.Folder, name)
			write := func(text string) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			write("it begins\n")
			looks(false)
			write("it begins\nit says " + secret + "\n")
			looks(isLog)
			looks(false)
		})
	}
}
