// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/trust/trusttest"
)

// TestStopsAndSaysWhy gives machines what they cannot join with, and expects each to stop at the step that it concerns.
func TestStopsAndSaysWhy(t *testing.T) {
	s := newSite(t, "v1.14.1")
	other := trusttest.NewCA(t, trusttest.Ed25519, time.Now())
	nobody := closedPort(t)
	tests := map[string]struct {
		config  func(*config.Input)
		text    func(string) string
		rack    func(*machine.Environment)
		options machine.Options
		step    machine.Step
		reason  string
	}{
		"a configuration that Talos cannot read": {
			text: func(string) string { return "version: v1alpha1\nmachine: {kind: broken}\n" }, step: machine.StepConfig, reason: "unknown keys",
		},
		"a configuration without an authority": {
			text: func(text string) string {
				return strings.Replace(text, "\n    ca:\n", "\n    acceptedCAs: []\n    xca:\n", 1)
			},
			step: machine.StepConfig, reason: "unknown keys",
		},
		"a document of a later release": {
			text: func(text string) string { return text }, options: machine.Options{Disk: machine.NewMemory(machine.Image{Version: "v1.12.7"})},
			step: machine.StepConfig, reason: "is not registered: Talos v1.12.7 does not have it",
		},
		"a kubelet that is too new": {
			text: func(text string) string { return strings.ReplaceAll(text, kubernetes, "v1.99.0") },
			step: machine.StepConfig, reason: "too new",
		},
		"a wrong token": {
			text: func(text string) string {
				return strings.ReplaceAll(text, s.bundle.TrustdInfo.Token, "abcdef.0123456789abcdef")
			},
			step: machine.StepTrustd, reason: "invalid token",
		},
		"a wrong authority": {
			config: func(in *config.Input) {
				changed := *in.Secrets
				certs := *changed.Certs
				certs.OS = &x509.PEMEncodedCertificateAndKey{Crt: other.CrtPEM, Key: other.KeyPEM}
				changed.Certs = &certs
				in.Secrets = &changed
			},
			step: machine.StepTrustd, reason: "certificate signed by unknown authority",
		},
		"a signer that is not there": {
			rack: func(e *machine.Environment) { e.Trustd = func(string) []string { return []string{nobody} } },
			step: machine.StepTrustd, reason: "connection refused",
		},
		"an API server that is not there": {
			config: func(in *config.Input) { in.Endpoint = api.Endpoint{Host: "127.0.0.1", Port: 1} },
			step:   machine.StepKubelet, reason: "connection refused",
		},
		"a kubelet image that is not there": {
			options: machine.Options{Knobs: machine.Knobs{NoKubeletImage: true}}, step: machine.StepKubelet, reason: "image cannot be pulled",
		},
		"no pod network": {
			options: machine.Options{Knobs: machine.Knobs{NoCNI: true}}, step: machine.StepCNI, reason: "cni plugin not initialized",
		},
		"an extension without its configuration": {
			options: machine.Options{Disk: machine.NewMemory(s.image("tailscale"))},
			step:    machine.StepServices, reason: `service "ext-tailscale" waits for extension service config "tailscale"`,
		},
		"an extension without its device": {
			options: machine.Options{Disk: machine.NewMemory(s.image("qemu-guest-agent"))},
			step:    machine.StepServices, reason: `file "/dev/virtio-ports/org.qemu.guest_agent.0" to exist`,
		},
		"a disk with nothing on it": {
			options: machine.Options{Disk: machine.NewMemory()}, step: machine.StepConfig, reason: "no operating system",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			environment := machine.Environment{
				Scale: 1000, Registry: s.factory, Log: s.log, Trustd: func(string) []string { return []string{s.signer.Address()} },
				Durations: machine.Durations{Deadline: 24 * 365 * time.Hour},
			}
			if test.rack != nil {
				test.rack(&environment)
			}
			rack, err := machine.NewRack(environment)
			if err != nil {
				t.Fatal(err)
			}
			defer rack.Close()
			text := string(s.configuration("plain", test.config))
			if test.text != nil {
				text = test.text(text)
			}
			test.options.UserData = []byte(text)
			s.stopsAt(s.add(rack, test.options), test.step, test.reason)
		})
	}
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// TestExpiredToken has a bootstrap token that was valid once.
func TestExpiredToken(t *testing.T) {
	s := newSite(t, "v1.14.1")
	s.bundle.Secrets.BootstrapToken = "expire." + "0123456789abcdef"
	s.allowJoining(time.Now().Add(-time.Hour))
	m := s.add(s.rack, machine.Options{UserData: s.configuration("plain", nil)})
	s.stopsAt(m, machine.StepKubelet, "bootstrap token: it is wrong or expired")
}

// TestGoesOn mends what was wrong and expects the machine to go on by itself.
func TestGoesOn(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Deadline: 24 * 365 * time.Hour})
	rack.Set(func(k *machine.Knobs) { k.NoCNI = true })
	m := s.add(rack, machine.Options{UserData: s.configuration("plain", nil), Disk: machine.NewMemory(s.image("qemu-guest-agent"))})
	s.stopsAt(m, machine.StepCNI, "cni")
	if got := conditionOf(s.node(m), "Ready"); got != "False" {
		t.Errorf("Ready is %s without a pod network", got)
	}
	rack.Set(func(k *machine.Knobs) { k.NoCNI = false })
	s.reaches(m, machine.StepCNI)
	if got, stage := conditionOf(s.node(m), "Ready"), m.Status().Stage; got != "True" || stage != "booting" {
		t.Errorf("the Node's Ready is %s and the stage is %s: a service that waits holds the boot, and not the Node", got, stage)
	}
	m.Set(func(k *machine.Knobs) { k.Devices = []string{"/dev/virtio-ports/org.qemu.guest_agent.0"} })
	s.reaches(m, machine.StepReady)
	rack.Set(func(k *machine.Knobs) { k.NoCNI = true })
	s.becomes(m, func(status machine.Status) bool { return !status.Reached(machine.StepReady) })
}

// TestGivesUp lets a service wait longer than the deadline: the machine reboots, and after an upgrade it is the old image.
func TestGivesUp(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Deadline: 2000 * time.Second, Renew: 3000 * time.Second, Boot: time.Second})
	disk := machine.NewMemory(s.image())
	content, err := disk.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Save(content.Install(s.image("tailscale"))); err != nil {
		t.Fatal(err)
	}
	m := s.add(rack, machine.Options{UserData: s.configuration("plain", nil), Disk: disk})
	s.stopsAt(m, machine.StepServices, "ext-tailscale")
	status := s.becomes(m, func(status machine.Status) bool { return status.Stage == "running" })
	if len(status.Image.Extensions) != 0 || status.Boots != 2 {
		t.Errorf("boot %d runs %v", status.Boots, status.Image.Extensions)
	}
	s.eventually(func() bool { return s.said(m.Name(), "renewed") }, "a renewal, which comes after the deadline")
	if boots := m.Status().Boots; boots != 2 {
		t.Errorf("a machine whose boot ended gives up nevertheless: boot %d", boots)
	}
}

// TestLoopsForever has nothing to revert to: the machine reboots again and again into the same image.
func TestLoopsForever(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Deadline: 50 * time.Second, Boot: time.Second})
	m := s.add(rack, machine.Options{UserData: s.configuration("plain", nil), Disk: machine.NewMemory(s.image("tailscale"))})
	s.becomes(m, func(status machine.Status) bool { return status.Boots >= 3 && len(status.Image.Extensions) == 1 })
}

// TestForbiddenLabel expects what a real machine does: the Node is there, and none of Talos's labels.
func TestForbiddenLabel(t *testing.T) {
	s := newSite(t, "v1.14.1")
	text := strings.ReplaceAll(string(s.configuration("plain", nil)), "example.com/shelf: top", "example.com/shelf: top\n    node-role.kubernetes.io/gpu: \"\"")
	m := s.add(s.rack, machine.Options{UserData: []byte(text), Disk: machine.NewMemory(s.image("drbd"))})
	s.reaches(m, machine.StepReady)
	if labels := s.node(m).Labels; labels["example.com/shelf"] != "" || labels["extensions.talos.dev/drbd"] != "" {
		t.Errorf("a forbidden label must hold back all others: %v", labels)
	}
	if !s.said(m.Name(), "held back") {
		t.Error("it does not say so")
	}
}
