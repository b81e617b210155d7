// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"strings"
	"testing"

	"minos.dev/minos/talos/config"
)

const revised = `version: v1alpha1
machine:
    type: worker
    token: aaaaaa.bbbbbbbbbbbbbbbb
    install:
        disk: /dev/sda
    nodeLabels:
        a: b
---
apiVersion: v1alpha1
kind: KernelModuleConfig
name: zfs
---
apiVersion: v1alpha1
kind: KubeNodeConfig
labels:
    a: b
taints:
    gate: only:NoSchedule
---
apiVersion: v1alpha1
kind: RegistryMirrorConfig
name: docker.io
`

func TestRevision(t *testing.T) {
	replace := func(old, with string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, with, 1) }
	}
	parts := strings.Split(revised, "---\n")
	tests := map[string]struct {
		change   func(string) string
		wantSame bool
	}{
		"nothing":                 {replace("", ""), true},
		"a comment":               {replace("machine:", "# hello\nmachine: # world"), true},
		"another style":           {replace("    install:\n        disk: /dev/sda\n", "    install: {\"disk\": '/dev/sda'}\n"), true},
		"another order of fields": {replace("    type: worker\n    token: aaaaaa.bbbbbbbbbbbbbbbb\n", "    token: aaaaaa.bbbbbbbbbbbbbbbb\n    type: worker\n"), true},
		"another order of documents": {func(string) string {
			return strings.Join([]string{parts[2], parts[0], strings.TrimSuffix(parts[3], "\n") + "\n", parts[1]}, "---\n")
		}, true},
		"a rotated authority":      {replace("    token:", "    ca: {crt: abc}\n    token:"), true},
		"a rotated token":          {replace("bbbbbbbbbbbbbbbb", "cccccccccccccccc"), true},
		"a label":                  {replace("a: b\n---", "a: c\n---"), true},
		"a label in its document":  {replace("labels:\n    a: b\n", "labels:\n    a: c\n"), true},
		"no label at all any more": {replace("    nodeLabels:\n        a: b\n", ""), true},
		"a first name server": {func(text string) string {
			return text + "---\napiVersion: v1alpha1\nkind: ResolverConfig\nnameservers: [{address: 192.0.2.53}]\n"
		}, true},
		"a document that means something by being there": {func(text string) string {
			return text + "---\napiVersion: v1alpha1\nkind: KubeFlannelCNIConfig\n"
		}, false},
		"a mirror": {replace("docker.io", "ghcr.io"), true},
		"a disk":   {replace("/dev/sda", "/dev/sdb"), false},
		"a taint":  {replace("only:", "other:"), false},
		"a module": {replace("name: zfs", "name: drbd"), false},
		"one module more": {func(text string) string {
			return text + "---\napiVersion: v1alpha1\nkind: KernelModuleConfig\nname: drbd\n"
		}, false},
	}
	before, err := config.Revision([]byte(revised))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			changed := test.change(revised)
			if name != "nothing" && changed == revised {
				t.Fatal("the test changes nothing")
			}
			after, err := config.Revision([]byte(changed))
			if err != nil {
				t.Fatal(err)
			}
			if (after == before) != test.wantSame {
				t.Errorf("revision %s became %s", before, after)
			}
		})
	}
}

func TestRevisionOfNonsense(t *testing.T) {
	if _, err := config.Revision([]byte("a: [")); err == nil {
		t.Error("nonsense has a revision")
	}
}
