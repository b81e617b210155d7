// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"

	"minos.dev/minos/talos/pki"
)

// TestNewIdentity makes what a cluster with a control plane elsewhere is born with, and nothing that its owner could take for the
// control plane's own.
func TestNewIdentity(t *testing.T) {
	made, err := pki.NewIdentity(talosconfig.TalosVersion1_14, born)
	if err != nil {
		t.Fatal(err)
	}
	read, err := pki.Parse([]byte(marshal(t, made)), pki.NeedIdentity)
	if err != nil {
		t.Fatal(err)
	}
	bundle := read.Bundle
	if bundle.Cluster.ID == "" || bundle.Cluster.Secret == "" || bundle.TrustdInfo.Token == "" {
		t.Error("it lacks the cluster's identity or the token of machines")
	}
	wanted := &secrets.Certs{OS: bundle.Certs.OS}
	if diff := cmp.Diff(wanted, bundle.Certs); diff != "" {
		t.Errorf("it has other authorities than Talos's (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&secrets.Secrets{BootstrapToken: bundle.Secrets.BootstrapToken}, bundle.Secrets); diff != "" || bundle.Secrets.BootstrapToken == "" {
		t.Errorf("it has other secrets than the bootstrap token (-want +got):\n%s", diff)
	}
	other, err := pki.NewIdentity(talosconfig.TalosVersion1_14, born)
	if err != nil || other.Bundle.Cluster.ID == bundle.Cluster.ID {
		t.Errorf("two clusters are born alike, %v", err)
	}
}
