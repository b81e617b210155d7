// SPDX-License-Identifier: Apache-2.0

package gather_test

import (
	"fmt"
	"strings"
	"testing"
)

// fileWays have secrets in every kind of file.
func fileWays() map[string]way {
	machine := func(m *material) string {
		return fmt.Sprintf("version: v1alpha1\nmachine:\n  type: worker\n  token: %s\n", m.secrets.Bundle.TrustdInfo.Token)
	}
	return map[string]way{
		"a Secret": file("app.yaml", func(*material) string {
			return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  sauce: " + encode("worcester") + "\n"
		}, value),
		"a Secret in readable form": file("app.yaml", func(*material) string {
			// minos:not-secret: made for this test
			return "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\nstringData: {sauce: worcester}\n"
		}, value),
		"a Secret in an inline manifest": file("cp.yaml", func(*material) string {
			// minos:not-secret: made for this test
			return "cluster:\n  inlineManifests:\n    - name: app\n      contents: |-\n        apiVersion: v1\n        kind: Secret\n        metadata:\n          name: app\n        stringData:\n          sauce: worcester\n"
		}, value),
		"a Secret in a new document": file("cp.yaml", func(*material) string {
			return "apiVersion: v1alpha1\nkind: KubeInlineManifestConfig\nname: app\ncontents: |\n  kind: Secret\n  data:\n    sauce: " + encode("worcester") + "\n"
		}, value),
		"a bundle within a Secret": file("app.yaml", func(m *material) string {
			return "kind: Secret\ndata:\n  bundle: " + encode(m.bundle) + "\n"
		}, talosCA, kubeCA, etcdCA, frontCA, account, join, nodes, members, cipher).sorted(),
		"a configuration behind base64": file("main.tf", func(m *material) string { return "user_data = \"" + encode(machine(m)) + "\"\n" }, join),
		"a state of Terraform": file("terraform.tfstate", func(m *material) string {
			return "{\n  \"resources\": [\n    {\n      \"attributes\": {\n        \"machine_configuration\": " + text(machine(m)) + "\n      }\n    }\n  ]\n}\n"
		}, join),
		"a program": file("main.go", func(m *material) string { return "var key = `" + string(m.secrets.Bundle.Certs.OS.Key) + "`\n" }, some),
		"the documentation": file("docs/setup.md", func(m *material) string {
			return "Join with:\n\n```yaml\nmachine:\n  token: " + m.secrets.Bundle.TrustdInfo.Token + "\n```\n"
		}, join),
		"a service's environment": file("tailscale.yaml", func(*material) string {
			return "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: tailscale\nenvironment:\n  - TS_AUTHKEY=tskey-" + "auth-k7Xw2CNTRL-9fGh3Jk5Lm7Np9Qr2St4\n"
		}, "a key of Tailscale"),
		"a registry": file("worker.yaml", func(*material) string {
			// minos:not-secret: made for this test
			return "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: ghcr.io\nusername: me\npassword: worcester\n"
		}, "the password of a registry"),
		"a disk": file("worker.yaml", func(*material) string {
			// minos:not-secret: made for this test
			return "kind: VolumeConfig\nname: EPHEMERAL\nencryption:\n  keys:\n    - slot: 0\n      static:\n        passphrase: worcester\n"
		}, "the key of an encrypted disk"),
		"a file of variables": file("talenv.yaml", func(*material) string { return "HCLOUD_TOKEN: k3Jd8sLq0ZxW7vB2nM5tR9yU1pE4cF6g\n" }, "a key or a token"),
		"a kubeconfig's token": file("config", func(*material) string {
			// minos:not-secret: made for this test
			return "apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user:\n    token: k3Jd8sLq0ZxW7vB2nM5t\n"
		}, "the token of a Kubernetes user"),
		"commented out": file("worker.yaml", func(m *material) string { return "machine:\n  # token: " + m.secrets.Bundle.TrustdInfo.Token + "\n" }, join),
		"a large file":  file("dump.yaml", func(m *material) string { return strings.Repeat("filler: nothing to see here\n", 300_000) + machine(m) }, join),
		"one long line": file("dump.json", func(m *material) string {
			return `{"filler":"` + strings.Repeat("nothing ", 200_000) + `","machine":{"token":"` + m.secrets.Bundle.TrustdInfo.Token + `"}}`
		}, join),
		"a name with blanks and quotes": file(`my "odd" näme.yaml`, machine, join),
		"half encrypted": {func(r *repo, m *material) {
			r.commit("cp.yaml", m.encrypt(r, "machine:\n  token: "+m.secrets.Bundle.TrustdInfo.Token+"\n  ca:\n    key: "+encode(string(m.secrets.Bundle.Certs.OS.Key))+"\n", "^key$"))
		}, []string{"now cp.yaml: " + join}},
	}
}

// historyWays have secrets that are in no file any more.
func historyWays() map[string]way {
	token := func(m *material) string { return "machine:\n  token: " + m.secrets.Bundle.TrustdInfo.Token + "\n" }
	return map[string]way{
		"in the history": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.commit("worker.yaml", "machine: {}\n")
		}, []string{"past worker.yaml: " + join}},
		"in a file that was removed": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.git("rm", "--quiet", "worker.yaml")
			r.commit("README.md", "clean\n")
		}, []string{"past worker.yaml: " + join}},
		"in a file that was renamed": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.git("mv", "worker.yaml", "notes.txt")
			r.commit("other", "x\n")
		}, []string{"now notes.txt: " + join}},
		"renamed and cleaned": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.git("mv", "worker.yaml", "node.yaml")
			r.commit("other", "x\n")
			r.commit("node.yaml", "machine: {}\n")
		}, []string{"past worker.yaml: " + join}},
		"encrypted too late": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.commit("worker.yaml", m.encrypt(r, token(m), ""))
		}, []string{"past worker.yaml: " + join}},
		"on a branch": {func(r *repo, m *material) {
			r.commit("README.md", "clean\n")
			r.git("checkout", "--quiet", "-b", "try")
			r.commit("worker.yaml", token(m))
			r.git("checkout", "--quiet", "main")
		}, []string{"past worker.yaml: " + join}},
		"behind a tag": {func(r *repo, m *material) {
			r.commit("worker.yaml", token(m))
			r.git("tag", "v1")
			r.git("checkout", "--quiet", "--orphan", "new")
			r.commit("worker.yaml", "machine: {}\n")
			r.git("branch", "-D", "main")
		}, []string{"past worker.yaml: " + join}},
		"in a stash below another": {func(r *repo, m *material) {
			r.commit("worker.yaml", "machine: {}\n")
			r.write("worker.yaml", token(m))
			r.git("stash", "--quiet")
			r.write("worker.yaml", "machine: {type: worker}\n")
			r.git("stash", "--quiet")
		}, []string{"past worker.yaml: " + join}},
		"in a merge only": {func(r *repo, m *material) {
			r.commit("a", "1\n")
			r.git("checkout", "--quiet", "-b", "side")
			r.commit("b", "1\n")
			r.git("checkout", "--quiet", "main")
			r.commit("c", "1\n")
			r.git("merge", "--quiet", "--no-commit", "side")
			r.commit("worker.yaml", token(m))
			r.commit("worker.yaml", "machine: {}\n")
		}, []string{"past worker.yaml: " + join}},
		"staged, and cleaned in the folder": {func(r *repo, m *material) {
			r.commit("README.md", "clean\n")
			r.write("worker.yaml", token(m))
			r.git("add", "worker.yaml")
			r.write("worker.yaml", "machine: {}\n")
		}, []string{"past worker.yaml: " + join}},
		"a large file in the history": {func(r *repo, m *material) {
			r.commit("dump.yaml", strings.Repeat("filler: nothing to see here\n", 300_000)+token(m))
			r.commit("dump.yaml", "clean\n")
		}, []string{"past dump.yaml: " + join}},
		"the same secret in many versions": {func(r *repo, m *material) {
			for at := range 5 {
				r.commit("worker.yaml", token(m)+fmt.Sprintf("# %d\n", at))
			}
		}, []string{"now worker.yaml: " + join}},
	}
}

// harmlessWays look like secrets and are none.
func harmlessWays(t *testing.T) map[string]way {
	return map[string]way{
		"encrypted": file("secrets.yaml", func(m *material) string { return m.encrypt(t, m.bundle, "") }),
		"encrypted where it must": file("secrets.yaml", func(m *material) string {
			return m.encrypt(t, m.bundle, "^(key|secret|token|bootstraptoken|secretboxencryptionsecret)$")
		}),
		"a public certificate": file("ca.crt", func(m *material) string { return string(m.secrets.Bundle.Certs.OS.Crt) }),
		"certificates in a configuration": file("worker.yaml", func(m *material) string {
			return "machine:\n  ca:\n    crt: " + encode(string(m.secrets.Bundle.Certs.OS.Crt)) + "\n    key: \"\"\ncluster:\n  id: " + m.secrets.Bundle.Cluster.ID + "\n"
		}),
		"a recipient of age": file(".sops.yaml", func(m *material) string { return "creation_rules:\n  - age: " + m.identity.Recipient().String() + "\n" }),
		"a marked test vector": file("testdata/worker.yaml", func(m *material) string {
			return "machine:\n  token: " + m.secrets.Bundle.TrustdInfo.Token + " # minos:not-secret: made for a test\n"
		}),
		"a marked file of test vectors": file("testdata/secrets.yaml", func(m *material) string { return "# minos:not-secret-file: made for a test\n" + m.bundle }),
		"marked later": {func(r *repo, m *material) {
			r.commit("testdata/secrets.yaml", m.bundle)
			r.commit("testdata/secrets.yaml", "# minos:not-secret-file: made for a test\n"+m.bundle)
		}, nil},
		"ignored by Git": {func(r *repo, m *material) {
			r.commit(".gitignore", "talosconfig\n")
			r.write("talosconfig", m.talosconfig)
		}, nil},
		"not tracked": {func(r *repo, m *material) {
			r.commit("README.md", "clean\n")
			r.write("talosconfig", m.talosconfig)
		}, nil},
		"placeholders": file("worker.yaml", func(*material) string {
			return "machine:\n  token: ${MACHINE_TOKEN}\n  ca:\n    key: <base64>\ncluster:\n  secret: REDACTED\n  token: aaaaaa.aaaaaaaaaaaaaaaa\n"
		}),
		"a picture with a key in it": file("logo.png", func(m *material) string { return "\x89PNG\x00" + string(m.secrets.Bundle.Certs.OS.Key) }),
	}
}
