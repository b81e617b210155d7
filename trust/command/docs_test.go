// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/token"
)

const docs = "../../docs"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifest is one document, read strictly as its kind.
func manifest[T any](t *testing.T, path, kind string) (found T) {
	t.Helper()
	for _, document := range strings.Split(read(t, path), "\n---\n") {
		if strings.Contains(document, "\nkind: "+kind+"\n") {
			if err := yaml.UnmarshalStrict([]byte(document), &found); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			return found
		}
	}
	t.Fatalf("%s has no %s", path, kind)
	return found
}

// tenant is as much of Kamaji's kind as is ours.
type tenant struct {
	Spec struct {
		ControlPlane struct {
			Deployment struct {
				AdditionalContainers []json.RawMessage
				AdditionalVolumes    []json.RawMessage
			}
			Service struct{ AdditionalPorts []corev1.ServicePort }
		}
	}
}

// strictly reads JSON and refuses what it does not know.
func strictly[T any](t *testing.T, text json.RawMessage) (found T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

func sidecar(t *testing.T) (corev1.Container, []corev1.Volume) {
	t.Helper()
	var found tenant
	first, _, _ := strings.Cut(read(t, "signer/sidecar.yaml"), "\n---\n")
	if err := yaml.Unmarshal([]byte(first), &found); err != nil {
		t.Fatal(err)
	}
	deployment := found.Spec.ControlPlane.Deployment
	if ports := found.Spec.ControlPlane.Service.AdditionalPorts; len(ports) != 1 || ports[0].Port != 50001 {
		t.Errorf("the Service does not lead to the signer: %v", ports)
	}
	var volumes []corev1.Volume
	for _, text := range deployment.AdditionalVolumes {
		volumes = append(volumes, strictly[corev1.Volume](t, text))
	}
	return strictly[corev1.Container](t, deployment.AdditionalContainers[0]), volumes
}

// TestManifests holds what is shown to what is promised: flags that exist, not root, nothing to write, probes that are right
// for where it runs.
func TestManifests(t *testing.T) {
	daemon := manifest[appsv1.DaemonSet](t, "signer/standalone.yaml", "DaemonSet").Spec.Template.Spec
	beside, volumes := sidecar(t)
	for name, shown := range map[string]struct {
		container corev1.Container
		volumes   []corev1.Volume
		pod       *corev1.PodSecurityContext
		alone     bool
	}{
		"sidecar":    {beside, volumes, &corev1.PodSecurityContext{}, false},
		"standalone": {daemon.Containers[0], daemon.Volumes, daemon.SecurityContext, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := shown.container
			got, err := parse(c.Args, nil, nowhere)
			if err != nil {
				t.Fatal(err)
			}
			if got.config.OwnNames != policy.Refuse || got.config.Listen != ":50001" || got.config.HTTP != ":50080" {
				t.Errorf("%+v", got.config)
			}
			if c.LivenessProbe == nil || c.LivenessProbe.HTTPGet.Path != "/healthz" || (c.ReadinessProbe != nil) != shown.alone || c.StartupProbe != nil {
				t.Error("probes")
			}
			s := c.SecurityContext
			if !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || s.Capabilities.Drop[0] != "ALL" {
				t.Error("securityContext")
			}
			if !((s.RunAsNonRoot != nil && *s.RunAsNonRoot) || (shown.pod.RunAsNonRoot != nil && *shown.pod.RunAsNonRoot)) {
				t.Error("it may be root")
			}
			for i, mount := range c.VolumeMounts {
				if !mount.ReadOnly || mount.Name != shown.volumes[i].Name || *shown.volumes[i].Secret.DefaultMode&0o222 != 0 {
					t.Errorf("%s can be written, or is not there", mount.Name)
				}
				if path := mount.MountPath + "/"; !strings.HasPrefix(got.config.Sources.CACert, path) && !strings.HasPrefix(got.config.Sources.Tokens+"/", path) {
					t.Errorf("nobody reads %s", path)
				}
			}
		})
	}
	for _, path := range []string{"signer/standalone.yaml", "signer/sidecar.yaml"} {
		if policy := manifest[networkingv1.NetworkPolicy](t, path, "NetworkPolicy"); len(policy.Spec.Ingress) != 2 {
			t.Errorf("%s: %v", path, policy.Spec.Ingress)
		}
	}
	manifest[corev1.Namespace](t, "signer/standalone.yaml", "Namespace")
	manifest[corev1.ServiceAccount](t, "signer/standalone.yaml", "ServiceAccount")
}

// TestThePage holds docs/signer.md to the program.
func TestThePage(t *testing.T) {
	page := read(t, "signer.md")
	known := map[string]bool{"help": true}
	for _, group := range groups() {
		for _, option := range group.options {
			known[option.name] = true
			if !strings.Contains(page, "--"+option.name) && option.name != "tls-cert" && option.name != "tls-key" && option.name != "listen" {
				t.Errorf("the page does not mention --%s", option.name)
			}
		}
	}
	for _, found := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(page, -1) {
		if !known[found[1]] {
			t.Errorf("there is no --%s", found[1])
		}
	}
	source, err := os.ReadFile("../serve/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`minos_signer_([a-z_]+)`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(string(source), `"`+found[1]+`"`) {
			t.Errorf("there is no series %s", found[0])
		}
	}
	example := regexp.MustCompile("(?s)```yml\n(.*?)```").FindStringSubmatch(page)
	if _, err := token.Parse("example.yaml", []byte(example[1]), policy.Rules{}); err != nil {
		t.Error(err)
	}
}
