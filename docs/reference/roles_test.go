// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check"
	"minos.dev/minos/talos"
)

// readGuide reads the guide to roles.
func readGuide(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../roles.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestRoleTables holds the tables of the guide to the built-in roles.
func TestRoleTables(t *testing.T) {
	made, err := roleTables()
	if err != nil {
		t.Fatal(err)
	}
	_, written, _ := strings.Cut(readGuide(t), rolesBegin)
	written, _, _ = strings.Cut(written, rolesEnd)
	if diff := cmp.Diff(written, made); diff != "" {
		t.Errorf("run make generate (-written +made):\n%s", diff)
	}
	for _, row := range []string{
		"| `gateway` | A compute machine that routes a Tailscale network to pods and services. | One |",
		"`ext-zfs-service` has ended, which waits for `/dev/zfs`; `ext-tailscale` runs, which waits for its configuration",
		"`authkey` in the Secret `tailscale`",
		"| graphics of AMD, `amd64` |",
	} {
		if !strings.Contains(made, row) {
			t.Errorf("the tables do not say %q:\n%s", row, made)
		}
	}
}

// TestRoleGuide holds what is written by hand to what there is: every role has its advice, and every rule about roles its mistake.
func TestRoleGuide(t *testing.T) {
	page := readGuide(t)
	advice, _, _ := strings.Cut(page, rolesBegin)
	for _, name := range talos.BuiltinRoleNames() {
		if !strings.Contains(advice, "| `"+name+"` |") {
			t.Errorf("nobody is told when to take %s", name)
		}
	}
	_, mistakes, _ := strings.Cut(page, "\n## Common mistakes\n")
	for _, rule := range check.Rules() {
		if rule.Group() == "ROL" && !strings.Contains(mistakes, "["+rule.ID+"](rules/roles.md#"+strings.ToLower(rule.ID)+")") {
			t.Errorf("no mistake leads to %s: %s", rule.ID, rule.Title)
		}
	}
}
