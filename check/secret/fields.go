// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// scalar reads the value of a key.
func (s *Scanner) scalar(frame *frame, value []byte) {
	if len(value) == 0 {
		return
	}
	key := frame.key
	switch key {
	case "kind":
		frame.kind = s.text(value)
	case "name":
		frame.name = s.text(value)
	case "value": // a variable of a container has its name beside it
		if frame.name != "" {
			key = frame.name
		}
	}
	s.value(key, frame, value)
}

// value judges a value by the key at which it stands, and looks into it.
func (s *Scanner) value(key string, frame *frame, value []byte) {
	if bytes.HasPrefix(value, []byte("ENC[")) {
		s.encrypted = true
		return
	}
	if len(value) < 6 {
		return
	}
	before := len(s.found)
	if len(value) > 40 {
		s.inner(value)
	}
	if len(s.found) > before || s.byField(key, value) {
		return
	}
	if s.holds(frame) && !isPlaceholder(value) && !isPublic(value) {
		s.hold(s.steps(), value)
	}
}

// byField judges a value by its field alone, and says whether it is a secret by that.
func (s *Scanner) byField(key string, value []byte) bool {
	if !mayName(key) || isPlaceholder(value) || isPublic(value) {
		return false
	}
	steps := s.steps()
	kind := s.fieldKind(key, steps, value)
	if kind != "" {
		s.tell(hit{kind: kind, evidence: fmt.Sprintf("%d characters", len(value)), steps: steps, value: value})
	}
	return kind != ""
}

// mayName says, cheaply, whether a key can be that of a secret.
func mayName(key string) bool {
	if len(key) < 4 {
		return false
	}
	switch key[len(key)-1] | 0x20 {
	case 'y':
		return hasEnding(key, "key")
	case 'n', 't', 'd', 'e', 'h':
		for _, ending := range endings {
			if hasEnding(key, ending) {
				return true
			}
		}
	}
	return false
}

// hasEnding says whether a key ends in a word.
func hasEnding(key, word string) bool {
	_, ok := cutEnding(key, word)
	return ok
}

// isPublic says whether a value is a certificate or a public key, also behind base64.
func isPublic(value []byte) bool {
	for _, start := range []string{"-----BEGIN CERTIFICATE", "-----BEGIN PUBLIC KEY", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS", "LS0tLS1CRUdJTiBQVUJMSUMg", "LS0tLS1CRUdJTiBUUlVTVEVEIENF", "ssh-", "age1"} {
		if bytes.HasPrefix(value, []byte(start)) {
			return true
		}
	}
	return false
}

// authorities are the private keys that have a name, by the document in which they stand, or by what leads to them.
var authorities = []struct {
	document string
	steps    []string
	kind     string
}{
	{"KubeAggregatorCAConfig", []string{"aggregatorca", "k8saggregator", "k8s_aggregator"}, "the private key of the aggregator's authority"},
	{"KubeServiceAccountConfig", []string{"serviceaccount", "k8sserviceaccount", "k8s_serviceaccount"}, "the private key that signs the tokens of service accounts"},
	{"", []string{"etcd"}, "the private key of etcd's authority"},
	{"", []string{"machine.ca", "certs.os"}, "the private key of the Talos authority"},
	{"KubeAPIServerCAConfig", []string{"cluster.ca", "certs.k8s"}, "the private key of the Kubernetes authority"},
	{"", []string{"client-key-data"}, "the private key of a Kubernetes client"},
	{"", []string{"contexts", "client_key"}, "the private key of a Talos client"},
}

// keyKind says which private key it is, by what leads to it.
func keyKind(document, label string, steps []string) string {
	path := "." + strings.ToLower(strings.Join(steps, ".")) + "."
	for _, one := range authorities {
		if document != "" && document == one.document || slices.ContainsFunc(one.steps, func(step string) bool { return strings.Contains(path, "."+step+".") }) {
			return one.kind
		}
	}
	switch {
	case label == "OPENSSH PRIVATE KEY":
		return "a private key of SSH"
	case strings.HasPrefix(label, "PGP"):
		return "a private key of PGP"
	}
	return "a private key"
}

// fieldKind says which secret it is by its field; empty if it is none by that.
func (s *Scanner) fieldKind(key string, steps []string, value []byte) string {
	name := squeeze(key)
	if name == "" || slices.Contains(steps, "encryptedData") {
		return ""
	}
	parent := ""
	if len(steps) > 1 {
		parent = squeeze(steps[len(steps)-2])
	}
	if kind := talosKind(name, parent, steps, value); kind != "" {
		return kind
	}
	if kind := accessKind(name, parent, s.kind(), value); kind != "" {
		return kind
	}
	if !s.data || bytes.ContainsAny(value, " \t()") {
		return ""
	}
	return namedKind(name, value)
}

// squeeze is a key in small letters, without what divides its words.
func squeeze(key string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case char == '_' || char == '-' || char == '.':
			return -1
		case char >= 'A' && char <= 'Z':
			return char + 'a' - 'A'
		}
		return char
	}, key)
}

// talosKind knows the fields of machine configurations and of secrets bundles.
func talosKind(name, parent string, steps []string, value []byte) string {
	switch name {
	case "token", "bootstraptoken":
		if isBootstrapToken(value) {
			return tokenKind(name, parent)
		}
	case "clustersecret":
		return ifRandom(value, "the secret of a cluster's members")
	case "secret":
		switch {
		case parent == "cluster":
			return ifRandom(value, "the secret of a cluster's members")
		case parent == "keys" && slices.ContainsFunc(steps, isCipher):
			return ifRandom(value, "a key that encrypts Secrets in etcd")
		}
	case "aescbcencryptionsecret", "secretboxencryptionsecret":
		return ifRandom(value, "a key that encrypts Secrets in etcd")
	}
	return diskKind(name, parent, value)
}

// tokenKind says which token it is that has the form of those by which machines and nodes join.
func tokenKind(name, parent string) string {
	switch {
	case parent == "machine" || parent == "trustdinfo":
		return "the token by which machines join"
	case parent == "cluster" || name == "bootstraptoken":
		return "the token by which nodes join Kubernetes"
	}
	return "a bootstrap token"
}

// diskKind knows the keys of disks and of tunnels.
func diskKind(name, parent string, value []byte) string {
	switch {
	case name == "passphrase" && parent == "static":
		return "the key of an encrypted disk"
	case (name == "privatekey" || name == "presharedkey") && isKey32(value):
		return "a key of WireGuard"
	}
	return ""
}

// isCipher says whether a key names how etcd is encrypted.
func isCipher(key string) bool { return key == "secretbox" || key == "aescbc" || key == "aesgcm" }

// ifRandom is a kind if a value can be a key at all.
func ifRandom(value []byte, kind string) string {
	if len(value) >= 16 && len(token(value)) == len(value) {
		return kind
	}
	return ""
}

// accessKind knows the fields of kubeconfigs, of registries and of interfaces that the machines use themselves.
func accessKind(name, parent, document string, value []byte) string {
	switch {
	case parent == "user":
		return userKind(name, value)
	case isRegistryField(name) && (parent == "auth" || document == "RegistryAuthConfig"), name == "auth" && isRegistryAuth(value):
		return "the password of a registry"
	case (name == "apitoken" || name == "uniquetoken") && len(value) >= 8:
		return "a token of an interface of others"
	}
	return ""
}

// userKind knows what a user of a kubeconfig has.
func userKind(name string, value []byte) string {
	switch {
	case name == "token" && len(value) >= 16:
		return "the token of a Kubernetes user"
	case name == "password":
		return "the password of a Kubernetes user"
	}
	return ""
}

// isRegistryField says whether a field is one by which somebody proves to a registry who he is.
func isRegistryField(name string) bool {
	return name == "password" || name == "auth" || name == "identitytoken"
}

// trimSteps leaves out of a path the steps that have no name.
func trimSteps(path string) string {
	return strings.Trim(strings.ReplaceAll(path, "..", "."), ".")
}
