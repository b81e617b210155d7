// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"testing"
	"time"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/talos/pki"
)

// FuzzParse reads arbitrary text: what is accepted can be written, shown, used and read again.
func FuzzParse(f *testing.F) {
	s := fresh(f, talosconfig.TalosVersion1_14)
	f.Add([]byte(marshal(f, s)), true)
	change, err := s.Rotate(pki.PartTalosCA, pki.StepAccept, talosconfig.TalosVersion1_14, born)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(marshal(f, change.Secrets)), false)
	f.Add([]byte("certs: {os: {crt: LS0t, key: ''}}\nminos: {rotation: [{part: ca-talos, step: issue}]}\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, workers bool) {
		need := pki.NeedAll
		if workers {
			need = pki.NeedWorkers
		}
		read, err := pki.Parse(text, need)
		if err != nil {
			return
		}
		again, err := pki.Parse([]byte(marshal(t, read)), need)
		if err != nil || marshal(t, again) != marshal(t, read) {
			t.Fatalf("it is not read again as it was: %v", err)
		}
		_ = read.Describe(true)
		_ = read.CheckTime(born)
		validity := pki.Validity{Now: born, For: time.Hour}
		_, _ = read.Talosconfig(pki.TalosAccess{Cluster: "x", Endpoints: []string{"x"}, Validity: validity})
		_, _ = read.Kubeconfig(pki.KubeAccess{Cluster: "x", Server: "https://x", Validity: validity})
		for _, step := range pki.Steps() {
			_, _ = read.Rotate(pki.PartTalosCA, step, talosconfig.TalosVersion1_14, born)
		}
	})
}
