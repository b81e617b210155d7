// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/facts"
)

// encode is base64.
func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// indented is a text below a key.
func indented(text, blanks string) string {
	return blanks + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+blanks) + "\n"
}

// privateKey is a new key in PEM.
func privateKey(t testing.TB, kind string) string {
	t.Helper()
	var key any
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// text is a value in the form of JSON.
func text(value string) string {
	written, _ := json.Marshal(value) // a string always can
	return string(written)
}

// told is what was found, in words: when, where and what.
func told(source facts.Source) []string {
	var all []string
	for _, leak := range source.Leaks {
		all = append(all, fmt.Sprintf("now %s: %s", leak.File, leak.Kind))
	}
	for _, leak := range source.PastLeaks {
		all = append(all, fmt.Sprintf("past %s: %s", leak.File, leak.Kind))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A way is one in which secrets get into a repository, and what is to be said of it.
type way struct {
	plant func(r *repo, m *material)
	want  []string
}

// file is a way: a file with a text, committed.
func file(path string, content func(m *material) string, want ...string) way {
	for at := range want {
		want[at] = "now " + path + ": " + want[at]
	}
	return way{func(r *repo, m *material) { r.commit(path, content(m)) }, want}
}

const (
	talosCA = "the private key of the Talos authority"
	kubeCA  = "the private key of the Kubernetes authority"
	etcdCA  = "the private key of etcd's authority"
	frontCA = "the private key of the aggregator's authority"
	account = "the private key that signs the tokens of service accounts"
	join    = "the token by which machines join"
	nodes   = "the token by which nodes join Kubernetes"
	members = "the secret of a cluster's members"
	cipher  = "a key that encrypts Secrets in etcd"
	some    = "a private key"
	value   = "a value of a Kubernetes Secret"
)

// TestPlanted plants secrets in every way in which they get into repositories, and in ways that only look so.
func TestPlanted(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			way.plant(r, newMaterial(t))
			source := r.gather()
			if diff := cmp.Diff(way.want, told(source)); diff != "" {
				t.Error(diff)
			}
			if source.HistoryUnknown != "" || !source.Git {
				t.Errorf("the history is not known: %s", source.HistoryUnknown)
			}
			for _, leak := range append(source.Leaks, source.PastLeaks...) {
				if strings.Contains(leak.Evidence, newMaterial(t).secrets.Bundle.TrustdInfo.Token) || leak.Line == 0 {
					t.Errorf("bad evidence: %+v", leak)
				}
			}
		})
	}
}

// ways are all of them.
func ways(t *testing.T) map[string]way {
	all := map[string]way{}
	for _, part := range []map[string]way{keyWays(t), fileWays(), historyWays(), harmlessWays(t)} {
		for name, one := range part {
			all[name] = one
		}
	}
	if len(all) < 40 {
		t.Errorf("there are only %d ways", len(all))
	}
	return all
}

// keyWays have every kind of key and token by itself.
func keyWays(t *testing.T) map[string]way {
	config := func(format string, pick func(m *material) string) func(*material) string {
		return func(m *material) string { return fmt.Sprintf(format, pick(m)) }
	}
	pemOf := func(pick func(m *material) []byte) func(*material) string {
		return func(m *material) string { return encode(string(pick(m))) }
	}
	return map[string]way{
		"machine CA": file("cp.yaml", config("version: v1alpha1\nmachine:\n  type: controlplane\n  ca:\n    crt: LS0t\n    key: %s\n",
			pemOf(func(m *material) []byte { return m.secrets.Bundle.Certs.OS.Key })), talosCA),
		"cluster CA":    file("cp.yaml", config("cluster:\n  ca: {crt: LS0t, key: %s}\n", pemOf(func(m *material) []byte { return m.secrets.Bundle.Certs.K8s.Key })), kubeCA),
		"etcd CA":       file("cp.yaml", config("cluster:\n  etcd:\n    ca:\n      key: %s\n", pemOf(func(m *material) []byte { return m.secrets.Bundle.Certs.Etcd.Key })), etcdCA),
		"aggregator CA": file("cp.yaml", config("cluster:\n  aggregatorCA:\n    key: %s\n", pemOf(func(m *material) []byte { return m.secrets.Bundle.Certs.K8sAggregator.Key })), frontCA),
		"service account key": file("cp.yaml", config("cluster:\n  serviceAccount:\n    key: %s\n",
			pemOf(func(m *material) []byte { return m.secrets.Bundle.Certs.K8sServiceAccount.Key })), account),
		"Kubernetes CA as a document": file("cp.yaml", func(m *material) string {
			return "apiVersion: v1alpha1\nkind: KubeAPIServerCAConfig\nissuingCA:\n  key: |\n" + indented(string(m.secrets.Bundle.Certs.K8s.Key), "    ")
		}, kubeCA),
		"service account key as a document": file("cp.yaml", func(m *material) string {
			return "apiVersion: v1alpha1\nkind: KubeServiceAccountConfig\nprivateKey: |\n" + indented(string(m.secrets.Bundle.Certs.K8sServiceAccount.Key), "  ")
		}, account),
		"Talos client":      file("talosconfig", func(m *material) string { return m.talosconfig }, "the private key of a Talos client"),
		"Kubernetes client": file("kubeconfig", func(m *material) string { return m.kubeconfig }, "the private key of a Kubernetes client"),
		"Ed25519 in PEM":    file("a.key", func(*material) string { return privateKey(t, "ed25519") }, some),
		"ECDSA in PEM":      file("a.pem", func(*material) string { return privateKey(t, "ecdsa") }, some),
		"RSA in PEM":        file("kubelet.key", func(*material) string { return privateKey(t, "rsa") }, some),
		"machine token":     file("worker.yaml", config("machine:\n  token: %s\n", func(m *material) string { return m.secrets.Bundle.TrustdInfo.Token }), join),
		"bootstrap token":   file("worker.yaml", config("cluster:\n  token: %s\n", func(m *material) string { return m.secrets.Bundle.Secrets.BootstrapToken }), nodes),
		"cluster secret":    file("worker.yaml", config("cluster:\n  secret: %s\n", func(m *material) string { return m.secrets.Bundle.Cluster.Secret }), members),
		"cluster secret as a document": file("worker.yaml", config("apiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterSecret: %s\n",
			func(m *material) string { return m.secrets.Bundle.Cluster.Secret }), members),
		"secretbox": file("cp.yaml", config("cluster:\n  secretboxEncryptionSecret: %s\n", func(m *material) string { return m.secrets.Bundle.Secrets.SecretboxEncryptionSecret }), cipher),
		"etcd encryption as a document": file("cp.yaml", config("kind: KubeEtcdEncryptionConfig\nconfig:\n  resources:\n    - providers:\n        - secretbox:\n            keys:\n              - {name: key1, secret: %s}\n",
			func(m *material) string { return m.secrets.Bundle.Secrets.SecretboxEncryptionSecret }), cipher),
		"aescbc": file("cp.yaml", config("cluster:\n  aescbcEncryptionSecret: %s\n", func(m *material) string { return m.secrets.Bundle.Secrets.SecretboxEncryptionSecret }), cipher),
		"the whole bundle": file("secrets.yaml", func(m *material) string { return m.bundle },
			talosCA, kubeCA, etcdCA, frontCA, account, join, nodes, members, cipher).sorted(),
		"age":       file("key.txt", func(m *material) string { return "# created: today\n" + m.identity.String() + "\n" }, "a private key of age"),
		"WireGuard": file("worker.yaml", config("kind: WireguardConfig\nname: wg0\nprivateKey: %s\n", func(m *material) string { return m.secrets.Bundle.Cluster.Secret }), "a key of WireGuard"),
	}
}

// sorted puts what is wanted in the order in which it is told.
func (w way) sorted() way {
	slices.Sort(w.want)
	return w
}
