// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/check/secret"
	"minos.dev/minos/talos/pki"
)

// TestBundle finds every secret of a bundle, and nothing else, and says which is which.
func TestBundle(t *testing.T) {
	made, err := pki.New(nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"cluster.secret":                    "the secret of a cluster's members",
		"secrets.bootstraptoken":            "the token by which nodes join Kubernetes",
		"secrets.secretboxencryptionsecret": "a key that encrypts Secrets in etcd",
		"trustdinfo.token":                  "the token by which machines join",
		"certs.etcd.key":                    "the private key of etcd's authority",
		"certs.k8s.key":                     "the private key of the Kubernetes authority",
		"certs.k8saggregator.key":           "the private key of the aggregator's authority",
		"certs.k8sserviceaccount.key":       "the private key that signs the tokens of service accounts",
		"certs.os.key":                      "the private key of the Talos authority",
	}
	if diff := cmp.Diff(want, found("secrets.yaml", text)); diff != "" {
		t.Error(diff)
	}
}

// found are the kinds of secrets by their paths.
func found(path string, text []byte) map[string]string {
	all := map[string]string{}
	for _, leak := range secret.Scan(path, text) {
		all[leak.Path] = leak.Kind
	}
	return all
}

// ed25519 is a private key of the form that OpenSSL writes, made for this test.
const body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF"

var key = "-----BEGIN " + "PRIVATE KEY-----\n" + body + "\n-----END " + "PRIVATE KEY-----\n"

// TestForms finds secrets in all the ways in which files write them.
func TestForms(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	escaped := strings.ReplaceAll(key, "\n", `\n`)
	indented := strings.ReplaceAll(strings.TrimSpace(key), "\n", "\n    ")
	token, word, wireguard := "k3v9dz.7h2m4x8qk1wz0p5c", "q8F2mZx7Lw0vT4sYh6Kd", "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="
	tests := map[string]struct{ path, text, want string }{
		"plain PEM":                             {"a.key", key, "1 : a private key"},
		"PEM in a block":                        {"a.yaml", "cluster:\n  ca:\n    key: |\n      " + strings.ReplaceAll(key, "\n", "\n      "), "4 cluster.ca.key: the private key of the Kubernetes authority"},
		"base64 PEM":                            {"a.yaml", "machine:\n  ca:\n    crt: x\n    key: " + encoded, "4 machine.ca.key: the private key of the Talos authority"},
		"on one line":                           {"a.yaml", "cluster: {etcd: {ca: {crt: x, key: " + encoded + "}}}", "1 cluster.etcd.ca.key: the private key of etcd's authority"},
		"JSON":                                  {"a.json", `{"machine":{"ca":{"crt":"x","key":"` + encoded + `"}}}`, "1 machine.ca.key: the private key of the Talos authority"},
		"JSON with line ends":                   {"a.json", "{\n  \"tls\": {\n    \"key\": \"" + escaped + "\"\n  }\n}", "3 tls.key: a private key"},
		"base64 twice":                          {"a.yaml", "x: " + base64.StdEncoding.EncodeToString([]byte(encoded)), "1 x: a private key"},
		"a program":                             {"a.go", "const key = `" + key + "`", "1 : a private key"},
		"commented out":                         {"a.yaml", "machine:\n  # token: " + token + "\n  type: worker", "2 machine.token: the token by which machines join"},
		"after a comment":                       {"a.yaml", "machine:\n  # about\n  token: " + token, "3 machine.token: the token by which machines join"},
		"quoted":                                {"a.yaml", `"machine": {"token": "` + token + `"}`, "1 machine.token: the token by which machines join"},
		"a machine configuration behind base64": {"a.tf", "user_data = \"" + base64.StdEncoding.EncodeToString([]byte("machine:\n  type: worker\n  install: {disk: /dev/sda}\n  token: "+token+"\n")) + "\"", "1 user_data.machine.token: the token by which machines join"},
		"etcd encryption":                       {"a.yaml", "kind: KubeEtcdEncryptionConfig\nconfig:\n  resources:\n  - providers:\n    - secretbox:\n        keys:\n        - name: key1\n          secret: " + wireguard, "8 config.resources.providers.secretbox.keys.secret: a key that encrypts Secrets in etcd"},
		// minos:not-secret: made for this test
		"a static key of a disk": {"a.yaml", "encryption:\n  keys:\n  - slot: 0\n    static:\n      passphrase: correct-horse-battery", "5 encryption.keys.static.passphrase: the key of an encrypted disk"},
		"WireGuard":              {"a.yaml", "kind: WireguardConfig\nprivateKey: " + wireguard, "2 privateKey: a key of WireGuard"},
		// minos:not-secret: made for this test
		"a registry": {"a.yaml", "machine:\n  registries:\n    config:\n      ghcr.io:\n        auth:\n          username: me\n          password: hunter22", "7 machine.registries.config.ghcr.io.auth.password: the password of a registry"},
		"Tailscale":  {"a.yaml", "kind: ExtensionServiceConfig\nenvironment:\n  - TS_AUTHKEY=tskey-" + "auth-kFG4jYk2CNTRL-8WzJ3mXq5vT9", "3 environment.TS_AUTHKEY: a key of Tailscale"},
		"a tunnel":   {"a.yaml", "environment:\n  - TUNNEL_TOKEN=" + base64.StdEncoding.EncodeToString([]byte(`{"a":"`+word+`","t":"6f1b2c3d-0000-4e5f-8a9b-1c2d3e4f5a6b","s":"`+word+word+`"}`)), "2 environment.TUNNEL_TOKEN: a token of a Cloudflare tunnel"},
		// minos:not-secret: made for this test
		"a Secret": {"a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  blob: c3VycHJpc2Uh\n", "5 data.blob: a value of a Kubernetes Secret"},
		// minos:not-secret: made for this test
		"a Secret, kind at the end": {"a.yaml", "stringData:\n  blob: surprise!\nkind: Secret\n", "2 stringData.blob: a value of a Kubernetes Secret"},
		// minos:not-secret: made for this test
		"a Secret within": {"a.yaml", "cluster:\n  inlineManifests:\n  - name: x\n    contents: |\n      apiVersion: v1\n      kind: Secret\n      stringData:\n        blob: surprise!\n", "8 cluster.inlineManifests.contents.stringData.blob: a value of a Kubernetes Secret"},
		// minos:not-secret: made for this test
		"a Secret on one line":         {"a.json", `{"kind":"List","items":[{"kind":"Secret","data":{"blob":"c3VycHJpc2Uh"}}]}`, "1 items.data.blob: a value of a Kubernetes Secret"},
		"a kubeconfig's token":         {"config", "users:\n- name: me\n  user:\n    token: " + word, "4 users.user.token: the token of a Kubernetes user"},
		"a variable of a container":    {"a.yaml", "env:\n- name: DB_PASSWORD\n  value: hunter22", "3 env.value: a password"},
		"a file of variables":          {".env", "export HCLOUD_TOKEN=" + word + word, "1 HCLOUD_TOKEN: a key or a token"},
		"age":                          {"keys.txt", "# public key: age1x\nAGE-SECRET-KEY-" + "1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQ4G3", "2 : a private key of age"},
		"half encrypted":               {"a.yaml", "machine:\n  token: " + token + "\n  ca:\n    key: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\nsops:\n  mac: ENC[AES256_GCM,data:x]", "2 machine.token: the token by which machines join"},
		"the mark lacks a reason":      {"a.yaml", "machine:\n  token: " + token + " # minos:not-secret:", "2 machine.token: the token by which machines join"},
		"a file that cannot be marked": {"a.yaml", "# minos:not-secret-file: because\nmachine:\n  token: " + token, "3 machine.token: the token by which machines join"},

		"after a marked block of Markdown":     {"a.md", "<!-- minos:not-secret: made up -->\n```yaml\nmachine:\n  token: " + token + "\n```\n\nmachine:\n  token: " + token[:22] + "d\n", "8 machine.token: the token by which machines join"},
		"a block of Markdown that is not next": {"a.md", "<!-- minos:not-secret: made up -->\n\n```yaml\nmachine:\n  token: " + token + "\n```\n", "5 machine.token: the token by which machines join"},

		"nothing: a marked block of Markdown": {"a.md", "<!-- minos:not-secret: made up -->\n````yaml\nmachine:\n```\n  token: " + token + "\nca:\n  key: |\n    " + indented + "\n````\n", ""},
		"nothing: a marked line":              {"a.yaml", "machine:\n  token: " + token + " # minos:not-secret: made for this test", ""},
		"nothing: marked above":               {"a.yaml", "# minos:not-secret: made for this test\ntoken: " + token, ""},
		"nothing: a marked block":             {"a.yaml", "key: | # minos:not-secret: made for this test\n    " + indented, ""},
		"nothing: a marked file":              {"testdata/a.yaml", "# minos:not-secret-file: made for this test\nmachine:\n  token: " + token, ""},
		"nothing: a certificate":              {"a.pem", strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"), ""},
		"nothing: a base64 certificate":       {"a.yaml", "ca:\n  crt: " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"))), ""},
		"nothing: a key under a passphrase":   {"a.pem", strings.ReplaceAll(key, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), ""},
		"nothing: an example in PEM":          {"a.md", "-----BEGIN " + "PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", ""},
		"nothing: placeholders":               {"a.yaml", "token: ${TOKEN}\npassword: <password>\npassphrase: {{ .Values.pass }}\nsecret: REDACTED\napiToken: your-token-here\npassword: changeme", ""},
		"nothing: our own placeholders":       {"a.yaml", "machine:\n  token: aaaaaa.aaaaaaaaaaaaaaaa\ncluster:\n  secret: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", ""},
		"nothing: references":                 {"a.yaml", "secretName: my-app-secret-5f6d7c8b9\nexistingSecret: postgres-credentials\nsecretKeyRef: {name: a, key: password}\ntokenPath: /var/run/secrets/token", ""},
		"nothing: a sealed secret":            {"a.yaml", "kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgBy8hCi8erSS0mvqeJRP2jk4Q9ZzX7v1r5Jm3n6pQ==", ""},
		"nothing: a ConfigMap":                {"a.yaml", "kind: ConfigMap\ndata:\n  blob: c3VycHJpc2Uh\n", ""},
		"nothing: a program's words":          {"a.go", "token := reader.ReadToken(ctx1234567890)\npassword := flag.String(\"password\", \"\", \"the password\")", ""},
		"nothing: a cluster's identity":       {"a.yaml", "cluster:\n  id: " + wireguard, ""},
		"nothing: a public key":               {"a.yaml", "peers:\n- publicKey: " + wireguard, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, leak := range secret.Scan(test.path, []byte(test.text)) {
				got = append(got, fmt.Sprintf("%d %s: %s", leak.Line, leak.Path, leak.Kind))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRead reads a large file as it reads a small one, also where a line has no end.
func TestRead(t *testing.T) {
	token := "k3v9dz.7h2m4x8qk1wz0p5c"
	for name, text := range map[string]string{
		"many lines":    strings.Repeat("filler: 1\n", 200_000) + "machine:\n  token: " + token + "\n",
		"one long line": `{"filler":"` + strings.Repeat("nothing ", 300_000) + `","machine":{"token":"` + token + `"}}`,
	} {
		whole := secret.Find("a.json", []byte(text))
		pieces, err := secret.Read("a.json", strings.NewReader(text))
		if err != nil || len(whole) != 1 {
			t.Errorf("%s: %d found, %v", name, len(whole), err)
		}
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzFind never breaks, never shows a secret, and says the same of a text whole and in pieces.
func FuzzFind(f *testing.F) {
	// minos:not-secret: made for this test
	f.Add("a.yaml", []byte("machine:\n  token: k3v9dz.7h2m4x8qk1wz0p5c\n  ca: {key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t}\n"))
	f.Add("a.json", []byte(`{"a":["b",{"kind":"Secret","data":{"x":"c3VycHJpc2Uh"}}],"c":"\n\\`))
	f.Add("x", []byte("-----BEGIN PRIVATE KEY-----\n"+body+"\n\n# x: 'y\n- - - a: |\n\t\"\n---\n]}[{,:="))
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		whole := secret.Find(path, text)
		for _, found := range whole {
			if found.Line < 1 || found.Kind == "" || strings.Contains(found.Evidence, body) {
				t.Errorf("bad: %+v", found)
			}
		}
		if pieces, err := secret.Read(path, strings.NewReader(string(text))); err != nil || len(pieces) < len(whole) {
			t.Errorf("%d in pieces, %d whole, %v", len(pieces), len(whole), err)
		}
	})
}

// BenchmarkFind says how fast text is read: that of an ordinary repository, and that which is made to be slow.
func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"ordinary": strings.Repeat("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop\nspec:\n  template:\n    spec:\n      containers:\n        - image: ghcr.io/shop/shop:v1\n          env:\n            - {name: TOKEN, valueFrom: {secretKeyRef: {name: shop, key: token}}}\n", 500),
		"braces":   strings.Repeat("{", 100_000) + strings.Repeat(`"a`, 50_000),
		"begins":   strings.Repeat("-----BEGIN PRIVATE KEY-----", 8_000),
		"base64":   "key: " + strings.Repeat("YWFhYWFh", 40_000),
		"deep":     strings.Repeat(" ", 1000) + strings.Repeat("- ", 100_000) + "a: b",
		"indents": func() (all string) {
			for at := range 600 {
				all += strings.Repeat(" ", at) + "key:\n"
			}
			return all
		}(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				secret.Find("a.yaml", []byte(text))
			}
		})
	}
}

// FuzzFilter holds the cheap look at a text to the thorough one: it never passes over what that would find.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{"token: k3v9dz.7h2m4x8qk1wz0p5c", "a_KEY='q8F2mZx7Lw0vT4sYh6Kd'", "kind: Secret\ndata: {a: c3VycHJpc2Uh}", "passphrase: |\n  hunter22", "- name: X_TOKEN\n  value: q8F2mZx7Lw0vT4sYh6Kd"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if secret.Binary(text) {
			return
		}
		thorough := secret.NewScanner("a.yaml")
		for line := range strings.SplitSeq(string(text), "\n") {
			thorough.Line([]byte(line))
		}
		if found := thorough.Close(); len(found) > 0 && len(secret.Find("a.yaml", text)) == 0 {
			t.Errorf("passed over: %+v", found)
		}
	})
}
