// SPDX-License-Identifier: Apache-2.0

package dev_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/loopback"
)

// TestEmpty empties what is ours and not in use, and nothing else.
func TestEmpty(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "dev")
	if err := dev.Empty(folder); err != nil {
		t.Errorf("what is not there: %v", err)
	}
	if err := dev.Claim(folder); err != nil {
		t.Fatal(err)
	}
	network, err := loopback.Claim(folder) // as somebody does who runs in it
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Empty(folder); err == nil || !strings.Contains(err.Error(), "is in use by another program") {
		t.Errorf("what is in use: %v", err)
	}
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
	if err := dev.Empty(folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
