// SPDX-License-Identifier: Apache-2.0

package sops_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/sops"
)

func TestConfig(t *testing.T) {
	a, b := identity(t).Recipient().String(), identity(t).Recipient().String()
	fill := strings.NewReplacer("KEY-A", a, "KEY-B", b)
	tests := map[string]struct {
		text string
		want sops.Rule
	}{
		"one text with commas": {"creation_rules: [{age: 'KEY-A, KEY-B,'}]", sops.Rule{Recipients: []string{a, b}}},
		"several lines":        {"creation_rules:\n  - age: >-\n      KEY-A,\n      KEY-B\n", sops.Rule{Recipients: []string{a, b}}},
		"a list":               {"creation_rules: [{age: [KEY-B, KEY-A]}]", sops.Rule{Recipients: []string{b, a}}},
		"a group":              {"creation_rules: [{key_groups: [{age: [KEY-A], merge: [{age: [KEY-B]}]}], shamir_threshold: 1}]", sops.Rule{Recipients: []string{b, a}}},
		"the first that matches": {
			"creation_rules: [{path_regex: ^other/, age: KEY-B}, {path_regex: '\\.yaml$', age: KEY-A}, {age: KEY-B}]",
			sops.Rule{Recipients: []string{a}},
		},
		"which values": {
			"creation_rules: [{age: KEY-A, encrypted_regex: ^data$, mac_only_encrypted: true}]",
			sops.Rule{Recipients: []string{a}, EncryptedRegex: "^data$", MACOnlyEncrypted: true},
		},
		"empty fields of others": {"creation_rules: [{age: KEY-A, pgp: '', kms: []}]", sops.Rule{Recipients: []string{a}}},
		"how far to indent":      {"creation_rules: [{age: KEY-A}]\nstores: {yaml: {indent: 2}}", sops.Rule{Recipients: []string{a}, Indent: 2}},
		"what else is there":     {"creation_rules: [{age: KEY-A}]\ndestination_rules: [{s3_bucket: x}]", sops.Rule{Recipients: []string{a}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := sops.ParseConfig([]byte(fill.Replace(test.text)))
			if err != nil {
				t.Fatal(err)
			}
			rule, err := config.For("fleet/shop.secrets.sops.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, rule); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	key := identity(t).Recipient().String()
	tests := map[string]struct{ text, want string }{
		"no rules":           {"{}", "creation_rules: none of the 0 is for a.yaml"},
		"no rule for it":     {"creation_rules: [{path_regex: ^b, age: KEY}]", "creation_rules: none of the 1 is for a.yaml"},
		"no YAML":            {"creation_rules: [", "yaml: line 1: did not find expected node content"},
		"no expression":      {"creation_rules: [{path_regex: '(', age: KEY}]", "creation_rules[0].path_regex: error parsing regexp: missing closing ): `(`"},
		"nobody":             {"creation_rules: [{encrypted_regex: x}]", "creation_rules[0]: names no age recipient"},
		"no recipient":       {"creation_rules: [{age: me}]", "creation_rules[0]: age: an age recipient must start with age1 and be whole"},
		"PGP too":            {"creation_rules: [{age: KEY, pgp: ABCD}]", "creation_rules[0]: pgp is not supported here: use the program sops for it"},
		"PGP in the group":   {"creation_rules: [{key_groups: [{age: [KEY], pgp: [ABCD]}]}]", "creation_rules[0]: pgp is not supported here: use the program sops for it"},
		"two groups":         {"creation_rules: [{key_groups: [{age: [KEY]}, {age: [KEY]}]}]", "creation_rules[0]: a data key that is split between key groups is not supported here: use the program sops for it"},
		"a word with a typo": {"creation_rules: [{age: KEY, encrypted_regx: x}]", "creation_rules[0]: encrypted_regx is not supported here: use the program sops for it"},
		"two ways":           {"creation_rules: [{age: KEY, encrypted_regex: x, encrypted_suffix: y}]", "creation_rules[0]: only one of encrypted_regex, unencrypted_regex, encrypted_suffix and unencrypted_suffix can be set"},
		"a far indent":       {"stores: {yaml: {indent: 40}}", "stores.yaml.indent: 40 is not between 1 and 9"},
		"too large":          {"#" + strings.Repeat("x", 5<<20), "has 5 MiB, and may have 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := sops.ParseConfig([]byte(strings.ReplaceAll(test.text, "KEY", key)))
			if err == nil {
				_, err = config.For("a.yaml")
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	tests := map[string]struct {
		rule sops.Rule
		path string
		want bool
	}{
		"all":                    {sops.Rule{}, "machine.ca.key", true},
		"by its own name":        {sops.Rule{EncryptedRegex: "^(key|token)$"}, "machine.ca.key", true},
		"by one above":           {sops.Rule{EncryptedRegex: "^ca$"}, "machine.ca.key", true},
		"not chosen":             {sops.Rule{EncryptedRegex: "^token$"}, "machine.ca.key", false},
		"left out by its ending": {sops.Rule{UnencryptedSuffix: "ey"}, "machine.ca.key", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := test.rule.Covers(strings.Split(test.path, ".")); got != test.want || err != nil {
				t.Errorf("got %t and %v, want %t", got, err, test.want)
			}
		})
	}
	if _, err := (sops.Rule{EncryptedRegex: "("}).Covers(nil); err == nil {
		t.Error("no error for an expression that is none")
	}
}
