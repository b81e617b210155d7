// SPDX-License-Identifier: Apache-2.0

package dev_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/dev"
)

// TestFleetPassesTheChecks holds what is declared to what is asked of everybody else, and to the names by which stories know it.
func TestFleetPassesTheChecks(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "fleet")
	if err := os.CopyFS(folder, dev.Fleet); err != nil {
		t.Fatal(err)
	}
	var out, words bytes.Buffer
	root := cli.New(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &words}, cli.Version{})
	if code := cli.Run(t.Context(), root, []string{"check", folder, "--history", "off"}); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s%s", code, out.String(), words.String())
	}
	if !strings.Contains(out.String()+words.String(), "in 3 files") {
		t.Errorf("it was not looked at:\n%s%s", out.String(), words.String())
	}
	all := ""
	for _, name := range []string{"cluster", "pools", "platform"} {
		text, err := dev.Fleet.ReadFile("fleet/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	for _, word := range []string{"name: " + dev.Cluster, "namespace: " + dev.Namespace, "role: compute", "role: gateway", "role: gpu-nvidia", "kamaji:", "kubevirt:", "sim:"} {
		if !strings.Contains(all, word) {
			t.Errorf("nothing declares %q", word)
		}
	}
}
