// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var born = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// tokenKey is made once: an RSA key takes longer than everything else here together.
var tokenKey = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "pki")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "key")
	if err := ensureServiceAccountKey(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// keyed gives a directory that has a service account key already.
func keyed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key, err := tokenKey()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "service-account.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func request(dir string) Request {
	return Request{Dir: dir, ServiceIP: netip.MustParseAddr("10.0.0.1"), Now: born}
}

func ensure(t *testing.T, req Request) Files {
	t.Helper()
	files, err := Ensure(req)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func certificate(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	cert, err := readCert(path)
	if err != nil || cert == nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return cert
}

// contents reads every file of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(content)
	}
	return found
}

// changed names the files that differ.
func changed(before, after map[string]string) []string {
	var names []string
	for _, name := range []string{
		"admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "ca.crt", "ca.key", "controller-manager.crt",
		"controller-manager.key", "etcd-ca.crt", "etcd-ca.key", "etcd.crt", "etcd.key", "service-account.key",
	} {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	return names
}

func TestMadeOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	files := ensure(t, request(dir))
	before := contents(t, dir)
	if len(before) != 13 {
		t.Errorf("%d files, want 13", len(before))
	}
	for name := range before {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", name, info.Mode(), err)
		}
	}
	ensure(t, request(dir))
	if got := changed(before, contents(t, dir)); got != nil {
		t.Errorf("a second run changed %v", got)
	}
	admin := certificate(t, files.Admin.Cert)
	if diff := cmp.Diff([]string{"system:masters"}, admin.Subject.Organization); diff != "" {
		t.Errorf("the administrator's groups (-want +got):\n%s", diff)
	}
	if got := certificate(t, files.ControllerManager.Cert).Subject.CommonName; got != "system:kube-controller-manager" {
		t.Errorf("the controller manager is %q", got)
	}
}

func TestRemade(t *testing.T) {
	leafs := []string{"admin.crt", "apiserver.crt", "controller-manager.crt", "etcd.crt"}
	for name, test := range map[string]struct {
		again func(*Request)
		want  []string
	}{
		"not a month and a day before the end": {
			again: func(r *Request) { r.Now = born.Add(leafLife - renewBefore - 24*time.Hour) },
		},
		"within a month of the end": {
			again: func(r *Request) { r.Now = born.Add(leafLife - renewBefore + 24*time.Hour) }, want: leafs,
		},
		"when a name is asked for that it lacks": {
			again: func(r *Request) { r.SANs = []string{"plane.example", "192.0.2.7"} }, want: []string{"apiserver.crt"},
		},
		"when services move": {
			again: func(r *Request) { r.ServiceIP = netip.MustParseAddr("10.96.0.1") }, want: []string{"apiserver.crt"},
		},
		"when a new authority took the place of a removed one": {
			again: func(r *Request) {
				_ = os.Remove(filepath.Join(r.Dir, "ca.crt"))
				_ = os.Remove(filepath.Join(r.Dir, "ca.key"))
			},
			want: []string{"admin.crt", "apiserver.crt", "ca.crt", "ca.key", "controller-manager.crt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(keyed(t))
			ensure(t, req)
			before := contents(t, req.Dir)
			test.again(&req)
			ensure(t, req)
			if diff := cmp.Diff(test.want, changed(before, contents(t, req.Dir))); diff != "" {
				t.Errorf("made anew (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	req := request(keyed(t))
	req.SANs = []string{"plane.example", "192.0.2.7", "2001:db8::7"}
	files := ensure(t, req)
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, files.CA.Cert))
	cert := certificate(t, files.APIServer.Cert)
	for _, name := range []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1", "10.0.0.1",
		"plane.example", "192.0.2.7", "2001:db8::7",
	} {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: born}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStoreIsClosedToTheCluster(t *testing.T) {
	files := ensure(t, request(keyed(t)))
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, files.EtcdCA.Cert))
	options := x509.VerifyOptions{Roots: roots, CurrentTime: born, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := certificate(t, files.Admin.Cert).Verify(options); err == nil {
		t.Error("etcd would accept a certificate of the cluster's authority")
	}
	if _, err := certificate(t, files.Etcd.Cert).Verify(options); err != nil {
		t.Errorf("etcd would not accept its own client: %v", err)
	}
}

func TestServing(t *testing.T) {
	cert, ca, err := Serving(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("the authority is not PEM")
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp4", listener.Addr().String(), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
