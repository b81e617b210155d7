// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/talos/pki"
	"minos.dev/minos/talos/redact"
)

// issues is the public part of what a part issues with.
func issues(t *testing.T, s *pki.Secrets, part pki.Part) string {
	t.Helper()
	switch part {
	case pki.PartTalosCA:
		return string(s.Bundle.Certs.OS.Crt)
	case pki.PartKubernetesCA:
		return string(s.Bundle.Certs.K8s.Crt)
	}
	for _, item := range s.Describe(true) {
		if item.Name == "certs.k8sserviceaccount.key" {
			return item.Fingerprint
		}
	}
	t.Fatal("no service account")
	return ""
}

// TestRotation replaces each part step by step, and holds every step to its promise: whoever has the configuration of a
// step trusts what is issued by those who have the step before or after.
func TestRotation(t *testing.T) {
	contract := talosconfig.TalosVersion1_14
	for _, part := range []pki.Part{pki.PartTalosCA, pki.PartKubernetesCA, pki.PartServiceAccount} {
		t.Run(string(part), func(t *testing.T) {
			now, start := born.Add(time.Hour), fresh(t, contract)
			steps := []*pki.Secrets{start}
			for _, step := range []pki.Step{pki.StepAccept, pki.StepIssue, pki.StepFinish} {
				now = now.Add(time.Hour)
				change, err := steps[len(steps)-1].Rotate(part, step, contract, now)
				if err != nil || !change.Changed {
					t.Fatalf("%s: %v %+v", step, err, change)
				}
				// What is written is what is read, and doing it again, later, changes nothing.
				next := parse(t, marshal(t, change.Secrets))
				again, err := next.Rotate(part, step, contract, now.Add(time.Minute))
				if err != nil || again.Changed || marshal(t, again.Secrets) != marshal(t, next) {
					t.Errorf("%s again: %v, changed %t", step, err, again.Changed)
				}
				steps = append(steps, next)
			}
			if marshal(t, steps[0]) != marshal(t, start) {
				t.Error("what it was made of has changed")
			}
			overlap(t, part, steps)
		})
	}
}

// overlap looks at the four states of a rotation.
func overlap(t *testing.T, part pki.Part, steps []*pki.Secrets) {
	t.Helper()
	before, after := issues(t, steps[0], part), issues(t, steps[3], part)
	if before == after {
		t.Error("nothing was replaced")
	}
	var issuing []string
	for _, s := range steps {
		issuing = append(issuing, issues(t, s, part))
	}
	if diff := cmp.Diff([]string{before, before, after, after}, issuing); diff != "" {
		t.Errorf("what issues (-want +got):\n%s", diff)
	}
	var accepted []int
	for _, s := range steps {
		accepted = append(accepted, len(s.Accepted(part)))
	}
	if diff := cmp.Diff([]int{0, 1, 1, 0}, accepted); diff != "" {
		t.Errorf("how many are accepted (-want +got):\n%s", diff)
	}
	if part != pki.PartServiceAccount {
		if steps[1].Accepted(part)[0] != after || steps[2].Accepted(part)[0] != before {
			t.Error("another one is accepted")
		}
	}
	if last := marshal(t, steps[3]); strings.Contains(last, "minos:") {
		t.Error("something is left of the rotation")
	}
	// Once the new one issues, the old key is nowhere.
	old := base64.StdEncoding.EncodeToString(map[pki.Part][]byte{
		pki.PartTalosCA: steps[0].Bundle.Certs.OS.Key, pki.PartKubernetesCA: steps[0].Bundle.Certs.K8s.Key,
		pki.PartServiceAccount: steps[0].Bundle.Certs.K8sServiceAccount.Key,
	}[part])
	if !strings.Contains(marshal(t, steps[1]), old) || strings.Contains(marshal(t, steps[2]), old) {
		t.Error("the old key is gone too early, or stays too long")
	}
}

// TestCredentialsDuringRotation makes a credential in each state, which has to trust the machines of both neighbours.
func TestCredentialsDuringRotation(t *testing.T) {
	s, now := fresh(t, talosconfig.TalosVersion1_14), born.Add(time.Hour)
	old := s.Bundle.Certs.OS.Crt
	for _, step := range []pki.Step{pki.StepAccept, pki.StepIssue} {
		change, err := s.Rotate(pki.PartTalosCA, step, talosconfig.TalosVersion1_14, now)
		if err != nil {
			t.Fatal(err)
		}
		s = change.Secrets
		text, err := s.Talosconfig(pki.TalosAccess{Cluster: "shop", Endpoints: []string{"x"}, Validity: pki.Validity{Now: now, For: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientconfig.FromBytes(text)
		if err != nil {
			t.Fatal(err)
		}
		trusted := string(decoded(t, config.Contexts["shop"].CA))
		if strings.Count(trusted, "BEGIN CERTIFICATE") != 2 || !strings.Contains(trusted, string(old)) {
			t.Errorf("after %s it trusts:\n%s", step, trusted)
		}
		proof{s.Bundle.Certs.OS.Crt, decoded(t, config.Contexts["shop"].Crt), decoded(t, config.Contexts["shop"].Key)}.verify(t, now)
	}
}

func TestRotationInOrder(t *testing.T) {
	contract, part := talosconfig.TalosVersion1_14, pki.PartTalosCA
	none := fresh(t, contract)
	do := func(s *pki.Secrets, step pki.Step) *pki.Secrets {
		change, err := s.Rotate(part, step, contract, born)
		if err != nil {
			t.Fatal(err)
		}
		return change.Secrets
	}
	accepted := do(none, pki.StepAccept)
	issuing := do(accepted, pki.StepIssue)
	tests := map[string]struct {
		from        *pki.Secrets
		step        pki.Step
		wantError   string
		wantChanged bool
	}{
		"issue before accept":       {none, pki.StepIssue, "ca-talos: nothing new is accepted yet: the step accept comes first", false},
		"finish before issue":       {accepted, pki.StepFinish, "ca-talos: the old one still issues: the step issue comes first", false},
		"start again in the middle": {issuing, pki.StepAccept, "ca-talos: a rotation is under way, and the new one issues: the step finish ends it", false},
		"abort too late":            {issuing, pki.StepAbort, "ca-talos: the new one issues already, and the key of the old one is gone: the step finish ends it", false},
		"abort in time":             {accepted, pki.StepAbort, "", true},
		"finish nothing":            {none, pki.StepFinish, "", false},
		"abort nothing":             {none, pki.StepAbort, "", false},
		"no such step":              {none, "jump", `ca-talos: there is no step "jump" after ""`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change, err := test.from.Rotate(part, test.step, contract, born)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.wantError || change.Changed != test.wantChanged {
				t.Errorf("got  %s, changed %t\nwant %s", got, change.Changed, test.wantError)
			}
		})
	}
	if marshal(t, do(accepted, pki.StepAbort)) != marshal(t, none) {
		t.Error("abort does not lead back")
	}
	// Two parts at once do not disturb each other.
	part = pki.PartKubernetesCA
	both := parse(t, marshal(t, do(accepted, pki.StepAccept)))
	if len(both.Rotations) != 2 || len(both.Accepted(pki.PartTalosCA)) != 1 || len(both.Accepted(pki.PartKubernetesCA)) != 1 {
		t.Errorf("got %d rotations", len(both.Rotations))
	}
}

func TestRotateTokens(t *testing.T) {
	before := fresh(t, talosconfig.TalosVersion1_13)
	text := marshal(t, before)
	change, err := before.Rotate(pki.PartTokens, "", talosconfig.TalosVersion1_13, born)
	if err != nil || !change.Changed {
		t.Fatalf("%v %+v", err, change)
	}
	after := parse(t, marshal(t, change.Secrets))
	if after.Bundle.TrustdInfo.Token == before.Bundle.TrustdInfo.Token || after.Bundle.Secrets.BootstrapToken == before.Bundle.Secrets.BootstrapToken {
		t.Error("a token is the old one")
	}
	after.Bundle.TrustdInfo.Token, after.Bundle.Secrets.BootstrapToken = before.Bundle.TrustdInfo.Token, before.Bundle.Secrets.BootstrapToken
	if marshal(t, after) != text || marshal(t, before) != text {
		t.Error("something else changed")
	}
}

func TestRotateRefuses(t *testing.T) {
	tests := map[string]struct {
		part     pki.Part
		contract *talosconfig.VersionContract
		want     string
	}{
		"the encryption of etcd":  {pki.PartEncryption, talosconfig.TalosVersion1_14, "encryption cannot be replaced without an outage: "},
		"the authority of etcd":   {pki.PartEtcdCA, talosconfig.TalosVersion1_14, "ca-etcd cannot be replaced without an outage: "},
		"the proxy":               {pki.PartAggregatorCA, talosconfig.TalosVersion1_14, "ca-aggregator cannot be replaced without an outage: "},
		"accounts of old Talos":   {pki.PartServiceAccount, talosconfig.TalosVersion1_13, "serviceaccount cannot be replaced without an outage: Talos before 1.14 knows one key alone"},
		"something else entirely": {"ca", talosconfig.TalosVersion1_14, `there is no part "ca"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := fresh(t, talosconfig.TalosVersion1_14).Rotate(test.part, pki.StepAccept, test.contract, born)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestDescribeHides looks for every secret of a bundle in what is shown of it.
func TestDescribeHides(t *testing.T) {
	s := fresh(t, talosconfig.TalosVersion1_14)
	for _, part := range []pki.Part{pki.PartTalosCA, pki.PartServiceAccount} {
		change, err := s.Rotate(part, pki.StepAccept, talosconfig.TalosVersion1_14, born)
		if err != nil {
			t.Fatal(err)
		}
		s = change.Secrets
	}
	clear, hidden := s.Describe(false), s.Describe(true)
	var names []string
	for i, item := range clear {
		names = append(names, item.Name)
		switch value := hidden[i].Value; {
		case item.Name == "cluster.id", item.Kind == "authority", strings.HasSuffix(item.Name, ".public"):
		case value != redact.Mark:
			t.Errorf("%s is shown as %q", item.Name, value)
		case item.Value == "" || !strings.Contains(marshal(t, s), item.Value):
			t.Errorf("%s is not what is in the bundle", item.Name)
		}
	}
	want := strings.Fields(`cluster.id cluster.secret secrets.bootstraptoken secrets.secretboxencryptionsecret trustdinfo.token
		certs.etcd.crt certs.etcd.key certs.k8s.crt certs.k8s.key certs.k8saggregator.crt certs.k8saggregator.key
		certs.os.crt certs.os.key certs.k8sserviceaccount.key minos.rotation.ca-talos.public minos.rotation.ca-talos.key
		minos.rotation.serviceaccount.public minos.rotation.serviceaccount.key`)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, item := range hidden {
		if strings.HasSuffix(item.Name, ".crt") && (item.NotAfter == "" || !strings.HasPrefix(item.Fingerprint, "sha256:")) {
			t.Errorf("%+v", item)
		}
	}
}
