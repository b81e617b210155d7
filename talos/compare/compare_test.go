// SPDX-License-Identifier: Apache-2.0

package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/talos/compare"
	"minos.dev/minos/talos/redact"
)

func TestConfigs(t *testing.T) {
	tests := map[string]struct {
		before, now string
		want        []string
	}{
		"style, order and comments are no difference": {
			"machine: {type: worker, sysctls: {a: '1', b: \"2\"}}\n---\nkind: B\n---\nkind: A\n",
			"# a comment\nkind: A\n---\nmachine:\n  sysctls:\n    b: '2'\n    a: \"1\"\n  type: worker\n---\nkind: B\n", nil,
		},
		"a value changes, one comes and one goes": {
			"machine: {install: {disk: /dev/sda, wipe: true}}", "machine: {install: {disk: /dev/sdb, image: x}}",
			[]string{"v1alpha1 machine.install.disk: /dev/sda -> /dev/sdb", "v1alpha1 machine.install.image: none -> x", "v1alpha1 machine.install.wipe: true -> none"},
		},
		"a key with dots is quoted": {
			"machine: {sysctls: {}}", "machine: {sysctls: {vm.max_map_count: '1'}}",
			[]string{"v1alpha1 machine.sysctls: {} -> none", `v1alpha1 machine.sysctls["vm.max_map_count"]: none -> 1`},
		},
		"documents of one kind are told apart by name": {
			"kind: LinkConfig\nname: eno1\nmtu: 1500\n---\nkind: LinkConfig\nname: eno2\nmtu: 1500", "kind: LinkConfig\nname: eno1\nmtu: 9000\n---\nkind: LinkConfig\nname: eno2\nmtu: 1500",
			[]string{"LinkConfig/eno1 mtu: 1500 -> 9000"},
		},
		"two documents of one name are both shown": {
			"kind: A\nx: 1", "kind: A\nx: 1\n---\nkind: A\nx: 2",
			[]string{"A (2) kind: none -> A", "A (2) x: none -> 2"},
		},
		"a list grows": {
			"cluster: {network: {podSubnets: [a]}}", "cluster: {network: {podSubnets: [a, b]}}",
			[]string{"v1alpha1 cluster.network.podSubnets[1]: none -> b"},
		},
		"a secret is hidden by its path": {
			"machine: {token: abc}\ncluster: {ca: {crt: public, key: k1}}", "machine: {token: abd}\ncluster: {ca: {crt: other, key: k2}}",
			[]string{"v1alpha1 cluster.ca.crt: public -> other", "v1alpha1 cluster.ca.key: (redacted) -> (redacted)", "v1alpha1 machine.token: (redacted) -> (redacted)"},
		},
		"a secret of one place is hidden wherever its value turns up": {
			"machine: {token: the-long-token}\nnote: nothing", "machine: {token: the-long-token}\nnote: it is the-long-token",
			[]string{"v1alpha1 note: nothing -> (redacted)"},
		},
		"of a variable the name remains": {
			"kind: ExtensionServiceConfig\nname: tailscale\nenvironment: [TS_AUTHKEY=one, TS_HOSTNAME=a]",
			"kind: ExtensionServiceConfig\nname: tailscale\nenvironment: [TS_AUTHKEY=two, TS_HOSTNAME=b]",
			[]string{
				"ExtensionServiceConfig/tailscale environment[0]: TS_AUTHKEY=(redacted) -> TS_AUTHKEY=(redacted)",
				"ExtensionServiceConfig/tailscale environment[1]: TS_HOSTNAME=a -> TS_HOSTNAME=b",
			},
		},
		"a value that was given is hidden": {
			"note: nothing", "note: behind-base64 Z2l2ZW4tc2VjcmV0\nencoded: Z2l2ZW4tc2VjcmV0", // given-secret
			[]string{"v1alpha1 encoded: none -> (redacted)", "v1alpha1 note: nothing -> behind-base64 Z2l2ZW4tc2VjcmV0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hidden := &redact.Redactor{}
			hidden.Learn("given-secret", "short")
			changes, err := compare.Configs([]byte(test.before), []byte(test.now), hidden)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range changes {
				got = append(got, change.Document+" "+change.Path+": "+text(change.Old)+" -> "+text(change.New))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func text(value *string) string {
	if value == nil {
		return "none"
	}
	return *value
}

func TestConfigsOfNonsense(t *testing.T) {
	if _, err := compare.Configs([]byte("a: ["), nil, nil); err == nil {
		t.Error("a text that is no YAML was compared")
	}
}
