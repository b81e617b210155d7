// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"minos.dev/minos/kube/file"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
	// backdate forgives a clock that is a little behind ours.
	backdate = time.Minute
)

// A Request says which keys and certificates are wanted.
type Request struct {
	Dir       string     // where they are kept; made if absent, and closed to other users
	ServiceIP netip.Addr // the address of the API server inside the cluster
	SANs      []string   // further names and addresses of the API server
	Now       time.Time
}

// A Pair is where a certificate and its key are.
type Pair struct {
	Cert string
	Key  string
}

// Files is where everything is.
type Files struct {
	CA                Pair // signs for the cluster: servers, clients and certificate requests
	APIServer         Pair
	Admin             Pair
	ControllerManager Pair
	// EtcdCA is an authority of its own: a certificate that the cluster signs for anyone, such as a node's, must not
	// open the store.
	EtcdCA         Pair
	Etcd           Pair // etcd's server and its only client
	ServiceAccount string
}

// Ensure makes what is missing or about to expire, and tells where everything is.
func Ensure(req Request) (Files, error) {
	if err := file.Private(req.Dir); err != nil {
		return Files{}, fmt.Errorf("make the directory for keys: %w", err)
	}
	files := Layout(req.Dir)
	cluster, err := ensureAuthority(files.CA, "minos-kube", req.Now)
	if err != nil {
		return Files{}, err
	}
	etcd, err := ensureAuthority(files.EtcdCA, "minos-kube-etcd", req.Now)
	if err != nil {
		return Files{}, err
	}
	for _, l := range leaves(files, req) {
		signer := cluster
		if l.pair == files.Etcd {
			signer = etcd
		}
		if err := ensureLeaf(l, signer, req.Now); err != nil {
			return Files{}, err
		}
	}
	return files, ensureServiceAccountKey(files.ServiceAccount)
}

// Layout tells where everything is, or will be, under a directory.
func Layout(dir string) Files {
	pair := func(name string) Pair {
		return Pair{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	}
	return Files{
		CA:                pair("ca"),
		APIServer:         pair("apiserver"),
		Admin:             pair("admin"),
		ControllerManager: pair("controller-manager"),
		EtcdCA:            pair("etcd-ca"),
		Etcd:              pair("etcd"),
		ServiceAccount:    filepath.Join(dir, "service-account.key"),
	}
}

// A leaf is a certificate that signs nothing.
type leaf struct {
	pair    Pair
	subject pkix.Name
	usages  []x509.ExtKeyUsage
	dns     []string
	ips     []net.IP
}

func leaves(files Files, req Request) []leaf {
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	loopback := net.IPv4(127, 0, 0, 1).To4()

	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	addresses := []net.IP{loopback, req.ServiceIP.AsSlice()}
	for _, san := range req.SANs {
		if ip, err := netip.ParseAddr(san); err == nil {
			addresses = append(addresses, ip.Unmap().AsSlice())
			continue
		}
		names = append(names, san)
	}
	return []leaf{
		{files.APIServer, pkix.Name{CommonName: "kube-apiserver"}, both, names, addresses},
		{files.Admin, pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, client, nil, nil},
		{files.ControllerManager, pkix.Name{CommonName: "system:kube-controller-manager"}, client, nil, nil},
		{files.Etcd, pkix.Name{CommonName: "etcd"}, both, []string{"localhost"}, []net.IP{loopback}},
	}
}
