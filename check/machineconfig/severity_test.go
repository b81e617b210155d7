// SPDX-License-Identifier: Apache-2.0

package machineconfig_test

import (
	"testing"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// TestSeverities holds the rules of two severities to both.
func TestSeverities(t *testing.T) {
	install := func(boot, more string) string {
		return "version: v1alpha1\nmachine: {type: worker, install: {image: \"factory.talos.dev/metal-installer" + boot + "/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9\", " + more + "}}\n"
	}
	for name, test := range map[string]struct {
		id, text, settings string
		want               rule.Severity
	}{
		"persist off":              {"CFG-016", "version: v1alpha1\npersist: false\nmachine: {type: worker}\n", "environment: Homelab\n", rule.Error},
		"debug in production":      {"CFG-016", "version: v1alpha1\ndebug: true\nmachine: {type: worker}\n", "environment: Production\n", rule.Warning},
		"debug at home":            {"CFG-016", "version: v1alpha1\ndebug: true\nmachine: {type: worker}\n", "environment: Homelab\n", rule.Info},
		"extensions":               {"CFG-018", install("", "extensions: [{image: a}]"), "{}\n", rule.Error},
		"arguments with sd-boot":   {"CFG-018", install("-secureboot", "extraKernelArgs: [a]"), "{}\n", rule.Error},
		"arguments with GRUB":      {"CFG-018", install("", "extraKernelArgs: [a]"), "notes: {bootloader: grub}\n", rule.Warning},
		"arguments with who knows": {"CFG-018", install("", "extraKernelArgs: [a]"), "{}\n", rule.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes, _ := judged(t, test.id, &facts.File{Path: "one.yaml", Text: []byte(test.text)}, &facts.File{Path: facts.SettingsFile, Text: []byte(test.settings)})
			if len(outcomes) != 1 || outcomes[0].Verdict != rule.Failed || outcomes[0].Severity != test.want {
				t.Errorf("wanted one failure of %s, got %+v", test.want, outcomes)
			}
		})
	}
}
