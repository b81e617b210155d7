// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"crypto/tls"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/trust/trusttest"
)

// TestForeignAuthority has somebody else's signer answer where the cluster's should, and then the cluster's own.
func TestForeignAuthority(t *testing.T) {
	defer operate(t, &clock{})()
	network, err := loopback.Claim("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	address, err := network.Take("signer")
	if err != nil {
		t.Fatal(err)
	}
	host, key := address.String(), types.NamespacedName{Namespace: kubetest.Namespace(t), Name: "fort"}
	foreign, foreignKey := trusttest.NewCA(t, trusttest.Ed25519, time.Now()).Serving(t, time.Now(), host)
	hangUp := answer(t, address, foreign, foreignKey)
	defer hangUp()
	declared := &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.35.2", TalosVersion: kamajitest.TalosVersion, Endpoint: &api.Endpoint{Host: host, Port: 6443},
			ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "admin"}}},
		},
	}
	create(t, declared)
	seen := condition(t, key, api.ConditionTrustReady, "False Failed")
	for _, want := range []string{"port 50001 of " + host, "another authority than that of TalosCluster fort", "fort-talos-ca", "fort-signer-tls"} {
		if !strings.Contains(seen.Message, want) {
			t.Errorf("it does not say %q: %s", want, seen.Message)
		}
	}
	if strings.Contains(seen.Message, "does not answer") || strings.Contains(seen.Message, "\n") {
		t.Errorf("it says: %s", seen.Message)
	}

	hangUp()
	own, err := secretOf(t.Context(), kubetest.Client(t), key.Namespace, names.SignerTLS(declared))
	if err != nil {
		t.Fatal(err)
	}
	defer answer(t, address, own.Data["tls.crt"], own.Data["tls.key"])()
	seen = condition(t, key, api.ConditionTrustReady, "True Ready")
	if !strings.Contains(seen.Message, host) {
		t.Errorf("it does not say where: %s", seen.Message)
	}
	remove(t, declared)
}

// answer shakes hands at the signer's port with a certificate, until it hangs up.
func answer(t *testing.T, at netip.Addr, certificate, key []byte) (hangUp func()) {
	t.Helper()
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", netip.AddrPortFrom(at, 50001).String(), &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if shaken, ok := connection.(*tls.Conn); ok {
				_ = shaken.HandshakeContext(t.Context()) // what comes of it is the other side's to say
			}
			_ = connection.Close()
		}
	}()
	return sync.OnceFunc(func() { _ = listener.Close(); <-done })
}
