// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"golang.org/x/tools/txtar"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// TestAccepted renders with something accepted and without, and compares what was added with the golden. What Talos itself
// reads out of it is what counts, so that is looked at too.
func TestAccepted(t *testing.T) {
	const golden = "testdata/accepted.golden"
	var got strings.Builder
	for _, story := range []string{"control-plane", "worker"} {
		archive, err := txtar.ParseFile("testdata/" + story + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range versions {
			in := input(t, archive.Files[0].Data, version)
			before, err := render(in)
			if err != nil {
				t.Fatal(err)
			}
			// Any other authority will do.
			in.Accepted = config.Accepted{
				TalosCAs: []string{string(in.Secrets.Certs.Etcd.Crt)}, KubernetesCAs: []string{string(in.Secrets.Certs.K8sAggregator.Crt)},
			}
			if version == "v1.14.1" {
				in.Accepted.ServiceAccountKeys = []string{"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}
			}
			after, err := render(in)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(story + " " + string(version) + "\n" + added(masked(before), masked(after)) + "\n")
			accepts(t, after, in)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// added are the lines that one text has more than another, in their place.
func added(before, after string) string {
	old, found := strings.SplitAfter(before, "\n"), ""
	for _, line := range strings.SplitAfter(after, "\n") {
		if len(old) > 0 && line == old[0] {
			old = old[1:]
			continue
		}
		found += "+ " + line
	}
	if len(old) > 0 {
		found += "- " + strings.Join(old, "- ")
	}
	return found
}

// accepts asks Talos's own reader which authorities a configuration accepts.
func accepts(t *testing.T, text string, in config.Input) {
	t.Helper()
	provider, err := configloader.NewFromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var talos, kubernetes []string
	for _, ca := range provider.Machine().Security().AcceptedCAs() {
		talos = append(talos, string(ca.Crt))
	}
	for _, ca := range provider.K8sAPIServerCAConfig().AcceptedCAs() {
		kubernetes = append(kubernetes, string(ca.Crt))
	}
	if diff := cmp.Diff(in.Accepted.TalosCAs, talos); diff != "" {
		t.Errorf("authorities of the Talos API (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{string(in.Secrets.Certs.K8s.Crt)}, in.Accepted.KubernetesCAs...), kubernetes); diff != "" {
		t.Errorf("authorities of the Kubernetes API (-want +got):\n%s", diff)
	}
}

func TestAcceptedNeedsTheVersion(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/control-plane.txtar")
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, archive.Files[0].Data, api.TalosVersion("v1.13.9"))
	in.Accepted.ServiceAccountKeys = []string{"x"}
	want := "a second key of service accounts needs Talos 1.14 or newer: finish its rotation with the version that it was begun with"
	if _, err := render(in); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestAcceptedDoesNotRoll holds a rotation to its promise: the machines stay.
func TestAcceptedDoesNotRoll(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/worker.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		in := input(t, archive.Files[0].Data, version)
		before, err := render(in)
		if err != nil {
			t.Fatal(err)
		}
		in.Accepted = config.Accepted{
			TalosCAs: []string{string(in.Secrets.Certs.Etcd.Crt)}, KubernetesCAs: []string{string(in.Secrets.Certs.Etcd.Crt)},
		}
		after, err := render(in)
		if err != nil {
			t.Fatal(err)
		}
		first, err := config.Revision([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if second, err := config.Revision([]byte(after)); err != nil || first != second || before == after {
			t.Errorf("%s: revision %s became %s (%v)", version, first, second, err)
		}
	}
}
