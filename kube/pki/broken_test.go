// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	nonsenseCert = "-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n"
	nonsenseKey  = "-----BEGIN PRIVATE KEY-----\nbm8=\n-----END PRIVATE KEY-----\n"
)

func TestBrokenFileIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		file    string
		content string
		want    string
	}{
		"an empty key":          {"ca.key", "", "ca.key is not PEM"},
		"a truncated cert":      {"apiserver.crt", "-----BEGIN CERTIFICATE-----\nMIIB", "apiserver.crt is not PEM"},
		"nonsense inside PEM":   {"admin.crt", nonsenseCert, "admin.crt is not a certificate"},
		"nonsense for a key":    {"etcd.key", nonsenseKey, "etcd.key is not a private key"},
		"a key for a cert":      {"ca.crt", nonsenseKey, "ca.crt holds a PRIVATE KEY"},
		"a service account's":   {"service-account.key", "x", "service-account.key is not PEM"},
		"a directory for a key": {"admin.key", "/", "admin.key: is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := keyed(t)
			ensure(t, request(dir))
			path := filepath.Join(dir, test.file)
			if test.content == "/" {
				_ = os.Remove(path)
				_ = os.Mkdir(path, 0o700)
			} else if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Ensure(request(dir))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			if got, _ := os.ReadFile(path); test.content != "/" && string(got) != test.content {
				t.Errorf("%s was overwritten", test.file)
			}
		})
	}
}

func TestAuthorityWithoutItsKeyIsRefused(t *testing.T) {
	dir := keyed(t)
	files := ensure(t, request(dir))
	if err := os.Remove(files.CA.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(request(dir)); err == nil || !strings.Contains(err.Error(), "ca.key is missing although") {
		t.Errorf("got %v", err)
	}
	if err := os.Rename(files.EtcdCA.Key, files.CA.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(request(dir)); err == nil || !strings.Contains(err.Error(), "ca.key is not the key of") {
		t.Errorf("got %v", err)
	}
}

// TestKilledHalfWay has every state that a process killed between two files can leave behind completed by the next.
func TestKilledHalfWay(t *testing.T) {
	whole := keyed(t)
	ensure(t, request(whole))
	order := []string{
		"ca.key", "ca.crt", "etcd-ca.key", "etcd-ca.crt", "apiserver.key", "apiserver.crt", "admin.key", "admin.crt",
		"controller-manager.key", "controller-manager.crt", "etcd.key", "etcd.crt", "service-account.key",
	}
	all := contents(t, whole)
	for n := range order {
		dir := keyed(t)
		written := map[string]string{}
		for _, name := range order[:n] {
			written[name] = all[name]
			if err := os.WriteFile(filepath.Join(dir, name), []byte(all[name]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ensure(t, request(dir))
		after := contents(t, dir)
		for name, content := range written {
			if after[name] != content {
				t.Errorf("killed before %s: %s was made anew", order[n], name)
			}
		}
	}
}
