// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt/patch"
)

const before = `version: v1alpha1
machine:
  type: worker
  token: aaaaaa.bbbbbbbbbbbbbbbb
  certSANs: [a.example.com, b.example.com]
  kubelet:
    extraArgs:
      event-qps: "5"
    image: ghcr.io/siderolabs/kubelet:v1.35.0
  nodeLabels:
    old: "1"
  network:
    interfaces:
      - interface: eth0
        dhcp: true
cluster:
  network:
    podSubnets: [10.244.0.0/16]
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: stable
---
apiVersion: v1alpha1
kind: UserVolumeConfig
name: data
provisioning:
  diskSelector:
    match: disk.transport == "nvme"
  minSize: 10GiB
`

func load(t *testing.T, text string) *patch.Config {
	t.Helper()
	config, err := patch.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestDiff changes a configuration and expects patches that lead there.
func TestDiff(t *testing.T) {
	tests := map[string]struct {
		old, with string
		want      []patch.Document
	}{
		"nothing":                      {"worker", "worker", nil},
		"a value":                      {`event-qps: "5"`, `event-qps: "10"`, []patch.Document{{"machine": patch.Document{"kubelet": patch.Document{"extraArgs": patch.Document{"event-qps": "10"}}}}}},
		"one item more":                {"b.example.com]", "b.example.com, c.example.com]", []patch.Document{{"machine": patch.Document{"certSANs": []any{"c.example.com"}}}}},
		"a list that Talos overwrites": {"10.244.0.0/16", "10.42.0.0/16", []patch.Document{{"cluster": patch.Document{"network": patch.Document{"podSubnets": []any{"10.42.0.0/16"}}}}}},
		"one item less": {"a.example.com, ", "", []patch.Document{
			{"machine": patch.Document{"certSANs": patch.Document{"$patch": "delete"}}}, {"machine": patch.Document{"certSANs": []any{"b.example.com"}}},
		}},
		"a field less":              {"    image: ghcr.io/siderolabs/kubelet:v1.35.0\n", "", []patch.Document{{"machine": patch.Document{"kubelet": patch.Document{"image": patch.Document{"$patch": "delete"}}}}}},
		"a label more and one less": {`old: "1"`, `new: "2"`, []patch.Document{{"machine": patch.Document{"nodeLabels": patch.Document{"new": "2", "old": patch.Document{"$patch": "delete"}}}}}},
		"inside of a list": {"dhcp: true", "dhcp: true\n        mtu: 9000", []patch.Document{
			{"machine": patch.Document{"network": patch.Document{"interfaces": []any{patch.Document{"interface": "eth0", "dhcp": true, "mtu": 9000}}}}},
		}},
		"a field in place of another": {"auto: stable", "auto: \"off\"\nhostname: x", []patch.Document{{"apiVersion": "v1alpha1", "kind": "HostnameConfig", "auto": "off", "hostname": "x"}}},
		"beside an expression": {"minSize: 10GiB", "minSize: 20GiB", []patch.Document{{
			"apiVersion": "v1alpha1", "kind": "UserVolumeConfig", "name": "data",
			"provisioning": patch.Document{"diskSelector": patch.Document{"match": `disk.transport == "nvme"`}, "minSize": "20GiB"},
		}}},
		"a document less": {"---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n", "", []patch.Document{{"apiVersion": "v1alpha1", "kind": "HostnameConfig", "$patch": "delete"}}},
		"a document more": {"---\napiVersion: v1alpha1\nkind: HostnameConfig", "---\napiVersion: v1alpha1\nkind: TimeSyncConfig\nntp:\n  servers: [a]\n---\napiVersion: v1alpha1\nkind: HostnameConfig", []patch.Document{
			{"apiVersion": "v1alpha1", "kind": "TimeSyncConfig", "ntp": patch.Document{"servers": []any{"a"}}},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old, new := load(t, before), load(t, strings.Replace(before, test.old, test.with, 1))
			got, err := patch.Diff(old, new)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			merged, err := old.Merge(got...)
			if err != nil || !merged.Equal(new) {
				t.Errorf("the patches lead elsewhere (%v): %s", err, cmp.Diff(new.Documents(), merged.Documents()))
			}
		})
	}
}

func TestCommute(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"other fields":                 {"machine: {sysctls: {a: '1'}}", "machine: {sysctls: {b: '1'}}", true},
		"other documents":              {"machine: {sysctls: {a: '1'}}", "{apiVersion: v1alpha1, kind: HostnameConfig, auto: 'off'}", true},
		"other names":                  {"{apiVersion: v1alpha1, kind: LinkConfig, name: a, mtu: 1}", "{apiVersion: v1alpha1, kind: LinkConfig, name: b, mtu: 2}", true},
		"the same value":               {"machine: {sysctls: {a: '1'}}", "machine: {sysctls: {a: '1'}}", true},
		"another value":                {"machine: {sysctls: {a: '1'}}", "machine: {sysctls: {a: '2'}}", false},
		"lists":                        {"machine: {certSANs: [a]}", "machine: {certSANs: [a]}", false},
		"removing what the other sets": {"machine: {sysctls: {$patch: delete}}", "machine: {sysctls: {a: '1'}}", false},
		"removing the same":            {"machine: {sysctls: {$patch: delete}}", "machine: {sysctls: {$patch: delete}}", true},
		"a mapping and a word":         {"machine: {kubelet: x}", "machine: {kubelet: {image: y}}", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := patch.Decode([]byte(test.a))
			if err != nil {
				t.Fatal(err)
			}
			b, err := patch.Decode([]byte(test.b))
			if err != nil {
				t.Fatal(err)
			}
			if got, back := patch.Commute(a, b), patch.Commute(b, a); got != test.want || back != test.want {
				t.Errorf("got %v and back %v, want %v", got, back, test.want)
			}
		})
	}
}

// TestDecode reads what YAML allows and JSON does not.
func TestDecode(t *testing.T) {
	got, err := patch.Decode([]byte("---\n# nothing\n---\na: 2024-01-02\nb: {1: x}\nc: [&x {d: e}, *x]\n---\nnull\n---\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []patch.Document{{"a": "2024-01-02", "b": patch.Document{"1": "x"}, "c": []any{patch.Document{"d": "e"}, patch.Document{"d": "e"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"[a]", "a", "a: [", "&a [*a]"} {
		if _, err := patch.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken for documents", text)
		}
	}
}
