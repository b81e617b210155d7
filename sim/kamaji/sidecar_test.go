// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// container is a container with an image, a command and arguments.
func container(image string, command []string, args ...string) corev1.Container {
	return corev1.Container{Name: "signer", Image: image, Command: command, Args: args}
}

func TestFindSidecar(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		want      bool
	}{
		"by its image":                   {container("minos-signer", nil), true},
		"with registry, tag and digest":  {container("registry.example.com:5000/a/minos-signer:v1@sha256:01", nil), true},
		"by its command":                 {container("tools", []string{"/bin/minos-signer"}), true},
		"another image":                  {container("registry.example.com/minos-signer-tools:v1", nil), false},
		"another image of that registry": {container("minos-signer/other", nil), false},
		"named so, but something else":   {corev1.Container{Name: "minos-signer", Image: "other"}, false},
	} {
		other := container("konnectivity", nil)
		found := findSidecar(spec{Deployment: deployment{ExtraContainers: []corev1.Container{other, test.container}}})
		if (found != nil) != test.want {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// where is a container with two volumes.
var where = place{
	mounts: []corev1.VolumeMount{
		{Name: "tokens", MountPath: "/etc/minos-signer/tokens/"}, {Name: "ca", MountPath: "/etc/minos-signer"},
		{Name: "tls", MountPath: "/cert.pem", SubPath: "tls.crt"},
	},
	volumes: "/v", image: "/i",
}

func TestPlace(t *testing.T) {
	for name, want := range map[string]string{
		"/etc/minos-signer/tls.crt": "/v/ca/tls.crt", "/etc/minos-signer": "/v/ca", "/etc/minos-signer/tokens": "/v/tokens",
		"/etc/minos-signer/tokens/a": "/v/tokens/a", "/cert.pem": "/v/tls/tls.crt",
		"/etc/minos-signer-2/tls.crt": "/i/etc/minos-signer-2/tls.crt", "/etc/passwd": "/i/etc/passwd", "/etc/minos-signer/../passwd": "/i/etc/passwd",
	} {
		if got := where.find(name); got != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
}

// TestSettings reads command lines as the signer does.
func TestSettings(t *testing.T) {
	never := func(string) bool { return false }
	s := &sidecar{Container: container("minos-signer", []string{"/minos-signer", "serve"},
		"--ca-cert=/etc/minos-signer/a.crt", "--accepted-cas=/etc/minos-signer/old,/elsewhere", "--serving-names=$(HOST)")}
	got, err := s.settings([]string{"HOST=first.example.com", "HOST=a.example.com", "MINOS_SIGNER_CA_KEY=/etc/minos-signer/a.key"}, where, never)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{got.Sources.CACert, got.Sources.CAKey, got.Sources.Tokens, got.Sources.TLSCert}
	want := []string{"/v/ca/a.crt", "/v/ca/a.key", "/v/tokens", "/v/ca/tls/tls.crt"}
	if diff := cmp.Diff(append(want, "/v/ca/old", "/i/elsewhere"), append(files, got.Sources.Accepted...)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.example.com"}, got.Sources.Serving.Names); diff != "" {
		t.Errorf("serving names (-want +got):\n%s", diff)
	}
	for want, args := range map[string][]string{
		"container signer: there is no flag --colour": {"--colour=red"}, `container signer: "check" does not serve`: {"check"},
	} {
		bad := &sidecar{Container: container("minos-signer", nil, args...)}
		if _, err := bad.settings(nil, where, never); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// Of two names that its authority may have, talos-csr-signer takes the one that is there.
	old := &sidecar{Container: corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "ca", MountPath: "/etc/talos-ca"}}}}
	got, err = old.settings([]string{"TALOS_TOKEN=abcdef.0123456789abcdef"}, place{mounts: old.Container.VolumeMounts, volumes: "/v"},
		func(name string) bool { return name == "/v/ca/ca.crt" })
	if err != nil || got.Sources.CACert != "/v/ca/ca.crt" {
		t.Errorf("its authority is %s, %v", got.Sources.CACert, err)
	}
}

func TestExpand(t *testing.T) {
	environ := []string{"A=1", "B=$(A)"}
	for text, want := range map[string]string{
		"$(A)-$(B)": "1-$(A)", "$$(A)": "$(A)", "$(C)": "$(C)", "$A": "$A", "$$$(A)": "$1", "$()": "$()",
	} {
		if got := expand(text, environ); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestReachable(t *testing.T) {
	port := func(port int32, target intstr.IntOrString, protocol corev1.Protocol) servicePort {
		return servicePort{Port: port, TargetPort: target, Protocol: protocol}
	}
	number := intstr.FromInt32(50001)
	for name, test := range map[string]struct {
		ports  []servicePort
		listen string
		want   bool
	}{
		"as it should be":        {[]servicePort{port(8132, intstr.FromInt32(8132), ""), port(50001, number, "TCP")}, ":50001", true},
		"without a protocol":     {[]servicePort{port(50001, number, "")}, ":50001", true},
		"without a target":       {[]servicePort{port(50001, intstr.IntOrString{}, "TCP")}, ":50001", true},
		"by name":                {[]servicePort{port(50001, intstr.FromString("trustd"), "TCP")}, ":50001", true},
		"by another name":        {[]servicePort{port(50001, intstr.FromString("http"), "TCP")}, ":50001", false},
		"no port":                {nil, ":50001", false},
		"another port":           {[]servicePort{port(50002, number, "TCP")}, ":50001", false},
		"another protocol":       {[]servicePort{port(50001, number, "UDP")}, ":50001", false},
		"another target":         {[]servicePort{port(50001, intstr.FromInt32(50002), "TCP")}, ":50001", false},
		"where it listens":       {[]servicePort{port(50001, intstr.FromInt32(60001), "TCP")}, "10.0.0.5:60001", true},
		"where nobody listens":   {[]servicePort{port(50001, number, "TCP")}, ":60001", false},
		"an address that is not": {[]servicePort{port(50001, number, "TCP")}, "50001", false},
	} {
		s := &sidecar{Ports: test.ports, Container: corev1.Container{Ports: []corev1.ContainerPort{{Name: "trustd", ContainerPort: 50001}}}}
		if got := s.reachable(test.listen); got != test.want {
			t.Errorf("%s: reachable is %v", name, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	one := &sidecar{Container: container("minos-signer", nil, "--http=off")}
	other := &sidecar{Container: container("minos-signer", nil, "--http=off"), Volumes: []corev1.Volume{{Name: "ca"}}}
	prints := []string{(*sidecar)(nil).fingerprint(), one.fingerprint(), other.fingerprint()}
	slices.Sort(prints)
	if len(slices.Compact(prints)) != 3 {
		t.Error("two declarations cannot be told apart")
	}
}
