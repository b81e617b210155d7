// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"minos.dev/minos/sim/loopback"
)

// TestSecrets wants secrets to be made once. What cannot be read is never made anew.
func TestSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.yaml")
	first, err := ensureSecrets(path, "v1.13.9")
	if err != nil {
		t.Fatal(err)
	}
	second, err := ensureSecrets(path, "v1.13.9")
	if err != nil || !bytes.Equal(first.Bundle.Certs.OS.Key, second.Bundle.Certs.OS.Key) {
		t.Errorf("they were made anew: %v", err)
	}
	if _, err := ensureSecrets(filepath.Dir(path), "v1.13.9"); err == nil {
		t.Error("a folder was taken for no file")
	}
	if err := os.WriteFile(path, []byte("cluster: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ensureSecrets(path, "v1.13.9"); err == nil {
		t.Error("what cannot be read was taken for nothing")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "cluster: {" {
		t.Errorf("the file is %q now, %v", text, err)
	}
}

// TestOpen opens a cluster twice, and wants machines to be able to join for a day from the second time on.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	network, err := loopback.Claim(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	own, err := network.Take("plane")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		opened, err := Open(t.Context(), Options{Folder: folder, Address: own, Talos: "v1.13.9"})
		if err != nil {
			t.Fatal(err)
		}
		until := expiration(t, opened)
		if left := time.Until(until); left < tokenLife-time.Minute {
			t.Errorf("machines can join for %s", left)
		}
		if err := opened.token(t.Context(), time.Now().Add(time.Hour)); err != nil { // as it would be almost a day later
			t.Fatal(err)
		}
		if left := time.Until(expiration(t, opened)); left > time.Hour {
			t.Errorf("the token was not written again: %s", left)
		}
		if err := opened.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// expiration is until when the bootstrap token of a cluster is good.
func expiration(t *testing.T, opened *Cluster) time.Time {
	t.Helper()
	clients, err := kubernetes.NewForConfig(opened.Plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	found, err := clients.CoreV1().Secrets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{FieldSelector: "type=bootstrap.kubernetes.io/token"})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d tokens, %v", len(found.Items), err)
	}
	until, err := time.Parse(time.RFC3339, string(found.Items[0].Data["expiration"]))
	if err != nil {
		t.Fatal(err)
	}
	return until
}
