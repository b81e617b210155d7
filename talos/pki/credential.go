// SPDX-License-Identifier: Apache-2.0

package pki

import (
	stdx509 "crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v3"
)

// shortest is how long a credential is valid at least: less is a mistake in the unit.
const shortest = time.Minute

// skew is how far the clock of a machine may be behind ours.
const skew = 5 * time.Minute

// A Validity is when a credential is valid.
type Validity struct {
	// Now is when it starts.
	Now time.Time
	// For is how long it lasts.
	For time.Duration
}

// TalosAccess is a credential for the Talos API.
type TalosAccess struct {
	// Cluster is its name, and so the name of the context.
	Cluster string
	// Endpoints are the addresses that are dialled: those of control plane machines.
	Endpoints []string
	// Nodes are the machines that commands are about if they name none. Without them, each command has to name some.
	Nodes []string
	// Roles are what it may do, for example os:reader. Without them it may do everything.
	Roles []string
	// Validity is when it is valid.
	Validity
}

// Talosconfig makes a configuration file for talosctl with a new key and certificate.
func (s *Secrets) Talosconfig(access TalosAccess) ([]byte, error) {
	issuer := s.Bundle.Certs.OS
	start, err := access.within("certs.os", issuer)
	if err != nil {
		return nil, err
	}
	if len(access.Endpoints) == 0 {
		return nil, errors.New("a talosconfig needs an endpoint: the address of a control plane machine")
	}
	if len(access.Roles) == 0 {
		access.Roles = []string{string(role.Admin)}
	}
	roles, unknown := role.Parse(access.Roles)
	if len(unknown) > 0 {
		known := role.All.Strings()
		slices.Sort(known)
		return nil, fmt.Errorf("there is no role %q of Talos: the known ones are %s", unknown[0], strings.Join(known, ", "))
	}
	made, err := secrets.NewAdminCertificateAndKey(start, issuer, roles, access.Now.Add(access.For).Sub(start))
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the Talos API: %w", err)
	}
	return yaml.Marshal(talosconfig{Context: access.Cluster, Contexts: map[string]talosContext{access.Cluster: {
		Endpoints: access.Endpoints, Nodes: access.Nodes,
		CA:  base64.StdEncoding.EncodeToString(s.trusted(PartTalosCA, issuer)),
		Crt: base64.StdEncoding.EncodeToString(made.Crt), Key: base64.StdEncoding.EncodeToString(made.Key),
	}}})
}

// talosconfig is the file of talosctl. Its own type is in a package of clients, which this room does not import.
type talosconfig struct {
	Context  string                  `yaml:"context"`
	Contexts map[string]talosContext `yaml:"contexts"`
}

type talosContext struct {
	Endpoints []string `yaml:"endpoints"`
	Nodes     []string `yaml:"nodes,omitempty"`
	CA        string   `yaml:"ca"`
	Crt       string   `yaml:"crt"`
	Key       string   `yaml:"key"`
}

// KubeAccess is a credential for the Kubernetes API.
type KubeAccess struct {
	// Cluster is its name, and so the name of the context.
	Cluster string
	// Server is the address of the API server, for example https://192.0.2.10:6443.
	Server string
	// User is who it is for in the eyes of the API server. Without it: admin.
	User string
	// Groups are the user's. Without them it is system:masters, who may do everything.
	Groups []string
	// Validity is when it is valid.
	Validity
}

// Kubeconfig makes a configuration file for kubectl with a new key and certificate.
func (s *Secrets) Kubeconfig(access KubeAccess) ([]byte, error) {
	issuer := s.Bundle.Certs.K8s
	start, err := access.within("certs.k8s", issuer)
	if err != nil {
		return nil, err
	}
	if access.Server == "" {
		return nil, errors.New("a kubeconfig needs the address of the API server")
	}
	if access.User == "" {
		access.User = "admin"
	}
	if len(access.Groups) == 0 {
		access.Groups = []string{"system:masters"}
	}
	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(issuer)
	if err != nil {
		return nil, fmt.Errorf("certs.k8s: %w", err)
	}
	made, err := x509.NewKeyPair(authority,
		x509.CommonName(access.User), x509.Organization(access.Groups...),
		x509.NotBefore(start), x509.NotAfter(access.Now.Add(access.For)),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature|stdx509.KeyUsageKeyEncipherment),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}),
	)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the Kubernetes API: %w", err)
	}
	return yaml.Marshal(newKubeconfig(access, s.trusted(PartKubernetesCA, issuer), made))
}

// within says when a certificate can start, or why it cannot be made: it must not outlive the authority that signs it.
func (v Validity) within(name string, issuer *x509.PEMEncodedCertificateAndKey) (time.Time, error) {
	if issuer == nil || len(issuer.Key) == 0 {
		return time.Time{}, fmt.Errorf("%s.key is not here, and without it nothing can be signed", name)
	}
	certificate, err := issuer.GetCert()
	if err != nil {
		return time.Time{}, fmt.Errorf("%s.crt is no certificate: %w", name, err)
	}
	if err := valid(name, certificate, v.Now); err != nil {
		return time.Time{}, err
	}
	switch end := v.Now.Add(v.For); {
	case v.For < shortest:
		return time.Time{}, fmt.Errorf("a validity of %s is too short: it is %s at least", v.For, shortest)
	case end.After(certificate.NotAfter):
		return time.Time{}, fmt.Errorf("a validity of %s is too long: %s, which signs it, is valid until %s", v.For, name,
			certificate.NotAfter.UTC().Format(time.RFC3339))
	}
	if start := v.Now.Add(-skew); start.After(certificate.NotBefore) {
		return start, nil
	}
	return certificate.NotBefore, nil
}

// trusted are the authorities that a server's certificate may be of: what issues, and what is accepted too. While one is
// being replaced, some machines have a certificate of the one and some of the other.
func (s *Secrets) trusted(part Part, issuer *x509.PEMEncodedCertificateAndKey) []byte {
	all := slices.Clone(issuer.Crt)
	for _, accepted := range s.Accepted(part) {
		all = append(all, accepted...)
	}
	return all
}
