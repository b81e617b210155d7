// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/trust"
	"minos.dev/minos/trust/trusttest"
)

// within bounds a start on a busy machine. It bounds, and does not measure.
const within = 3 * time.Minute

// address takes an address that nobody else has.
func address(t *testing.T) netip.Addr {
	t.Helper()
	network, err := loopback.Claim("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	taken, err := network.Take("plane")
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// start starts a control plane, which ends with the test if it has not.
func start(t *testing.T, options hosted.Options) *hosted.ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	plane, err := hosted.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Kill)
	return plane
}

// TestIsTheSameClusterAgain starts a control plane with an authority of its own, uses it, cuts its power, and expects the
// same one with further names afterwards.
func TestIsTheSameClusterAgain(t *testing.T) {
	ca := trusttest.NewCA(t, trusttest.ECDSA, time.Now()) // its key is in another form than minos-kube's
	options := hosted.Options{
		Dir: t.TempDir(), Address: address(t), SANs: []string{"shop.tenants.svc"}, Services: netip.MustParsePrefix("10.95.0.0/16"),
		Authority: &hosted.Authority{Certificate: ca.CrtPEM, Key: ca.KeyPEM},
	}
	plane := start(t, options)
	if want := netip.AddrPortFrom(options.Address, 6443); plane.Endpoint() != want {
		t.Errorf("it is at %s, want %s", plane.Endpoint(), want)
	}
	certificate := serving(t, plane)
	for _, name := range []string{"shop.tenants.svc", options.Address.String(), "10.95.0.1"} {
		if err := certificate.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	for range 2 { // the second time changes nothing
		if err := plane.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	clients := client(t, plane)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	plane.Kill()
	if plane.Up(t.Context()) {
		t.Error("it is up, although its power was cut")
	}

	other := trusttest.NewCA(t, trusttest.ECDSA, time.Now())
	refused := options
	refused.Authority = &hosted.Authority{Certificate: other.CrtPEM, Key: other.KeyPEM}
	if _, err := hosted.Start(t.Context(), refused); err == nil || !strings.Contains(err.Error(), "has another authority") {
		t.Errorf("with another authority: %v", err)
	}

	options.SANs, options.Authority = append(options.SANs, "shop.example.com"), nil
	plane = start(t, options)
	if !plane.Up(t.Context()) {
		t.Error("it is not up")
	}
	if _, err := client(t, plane).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	certificate = serving(t, plane)
	if err := certificate.VerifyHostname("shop.example.com"); err != nil {
		t.Error(err)
	}
	if err := certificate.CheckSignatureFrom(ca.Crt); err != nil {
		t.Errorf("its authority is another one now: %v", err)
	}
	signs(t, plane)
	if err := plane.Stop(); err != nil {
		t.Error(err)
	}
}

// signs starts the signer beside an API server, twice, and asks it as a worker does.
func signs(t *testing.T, plane *hosted.ControlPlane) {
	t.Helper()
	host := plane.Endpoint().Addr().String()
	ca := trusttest.NewCA(t, trusttest.Ed25519, time.Now())
	certificate, key := ca.Serving(t, time.Now(), host)
	files := trusttest.NewVolume(t, map[string]string{
		"ca.crt": string(ca.CrtPEM), "ca.key": string(ca.KeyPEM), "tls.crt": string(certificate), "tls.key": string(key),
	})
	settings := trust.Default()
	settings.Sources.CACert, settings.Sources.CAKey = filepath.Join(files.Path, "ca.crt"), filepath.Join(files.Path, "ca.key")
	settings.Sources.TLSCert, settings.Sources.TLSKey = filepath.Join(files.Path, "tls.crt"), filepath.Join(files.Path, "tls.key")
	settings.Sources.Tokens = trusttest.NewVolume(t, map[string]string{"pool": trusttest.Token}).Path
	for range 2 {
		if err := plane.Sign(t.Context(), settings, slog.New(slog.DiscardHandler), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	request, _, err := trusttest.NewRequest(ca, "worker-1", "127.0.0.9")
	if err != nil {
		t.Fatal(err)
	}
	worker := trusttest.Worker{Endpoints: []string{host + ":50001"}, Accepted: trusttest.Accepted(ca), Token: trusttest.Token}
	if _, answer, err := worker.Ask(t.Context(), request); err != nil || trusttest.Leaf(t, answer).Subject.CommonName != "worker-1" {
		t.Errorf("got %s, %v", answer, err)
	}
	probe, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+":50080/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(probe)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("its probe says %s", response.Status)
	}
	if err := plane.StopSigning(); err != nil || plane.Signing() {
		t.Errorf("it still signs, %v", err)
	}
}

// client is a client of a control plane.
func client(t *testing.T, plane *hosted.ControlPlane) kubernetes.Interface {
	t.Helper()
	clients, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// serving is the certificate that an API server shows, as one sees it who trusts its authority.
func serving(t *testing.T, plane *hosted.ControlPlane) *x509.Certificate {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(plane.Authority().Certificate)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	connection, err := dialer.DialContext(t.Context(), "tcp4", plane.Endpoint().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// TestAuthority looks at authorities without starting anything.
func TestAuthority(t *testing.T) {
	dir := t.TempDir()
	made, err := hosted.EnsureAuthority(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := hosted.EnsureAuthority(dir, &made)
	if err != nil || !bytes.Equal(made.Certificate, again.Certificate) || !bytes.Equal(made.Key, again.Key) {
		t.Errorf("it is another one the second time, %v", err)
	}
	ca := trusttest.NewCA(t, trusttest.Ed25519, time.Now())
	leaf, key := ca.Serving(t, time.Now(), "localhost")
	for want, authority := range map[string]hosted.Authority{
		"is no authority": {Certificate: leaf, Key: key},
		"cannot be used":  {Certificate: ca.CrtPEM, Key: key},
	} {
		if _, err := hosted.EnsureAuthority(t.TempDir(), &authority); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if block, _ := pem.Decode(made.Key); block == nil || block.Type != "PRIVATE KEY" {
		t.Error("its key is not in the form that minos-kube reads")
	}
}

// TestElsewhere expects a refusal of an address that others could reach.
func TestElsewhere(t *testing.T) {
	for _, elsewhere := range []netip.Addr{{}, netip.MustParseAddr("192.0.2.1")} {
		if _, err := hosted.Start(t.Context(), hosted.Options{Dir: t.TempDir(), Address: elsewhere}); err == nil {
			t.Errorf("%s was taken", elsewhere)
		}
	}
}
