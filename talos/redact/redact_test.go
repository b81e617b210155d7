// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"minos.dev/minos/talos/redact"
)

func TestText(t *testing.T) {
	key := "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\n"
	certificate := "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"
	tests := map[string]struct {
		path, value, want string
	}{
		"a key by its path":                {"cluster.ca.key", "x", redact.Mark},
		"a certificate is public":          {"cluster.ca.crt", certificate, certificate},
		"a key by its form":                {"machine.files.[0].content", key, redact.Mark},
		"a key behind base64":              {"machine.ca.crt", base64.StdEncoding.EncodeToString([]byte(key)), redact.Mark},
		"a list of keys":                   {"keys.[0]", "x", redact.Mark},
		"a password":                       {"auth.password", "x", redact.Mark},
		"a variable keeps its name":        {"environment.[0]", "TS_AUTHKEY=abc", "TS_AUTHKEY=" + redact.Mark},
		"a join token in an address":       {"apiUrl", "https://example.com?jointoken=abc", redact.Mark},
		"an empty value says that it is":   {"machine.token", "", ""},
		"a known value":                    {"anything", "before known-value after", redact.Mark},
		"a short value is not looked for":  {"anything", "tiny things", "tiny things"},
		"an ordinary value":                {"machine.install.disk", "/dev/sda", "/dev/sda"},
		"a word that is only like a name":  {"machine.kubelet.image", "example.com/secretive:v1", "example.com/secretive:v1"},
		"a key of a taint is still hidden": {"taints.[0].key", "example.com/gpu", redact.Mark}, // better one too many
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var hidden redact.Redactor
			hidden.Learn("known-value", "tiny")
			got, was := hidden.Text(strings.Split(test.path, "."), test.value)
			if got != test.want || was != (got != test.value) {
				t.Errorf("got %q (hidden: %t), want %q", got, was, test.want)
			}
		})
	}
}
