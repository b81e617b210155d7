// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/client/config"

	"minos.dev/minos/talos/pki"
)

// talosconfig is the administrator's credential for a cluster: what is in the file, as long as it serves, or a new one. A
// new one in every run would make every run differ.
func (c *renderedCluster) talosconfig(path string, validity time.Duration) ([]byte, error) {
	endpoints, err := c.talosEndpoints()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && c.served(text, endpoints, now) {
		return text, nil
	}
	return c.secrets.Talosconfig(pki.TalosAccess{Cluster: c.Name, Endpoints: endpoints, Validity: pki.Validity{Now: now, For: validity}})
}

// served says whether a talosconfig is for this cluster with its authority, for these endpoints, and not yet in the second
// half of its life.
func (c *renderedCluster) served(text []byte, endpoints []string, now time.Time) bool {
	parsed, err := config.FromBytes(text)
	if err != nil || parsed.Contexts[c.Name] == nil {
		return false
	}
	context := parsed.Contexts[c.Name]
	ca, err := base64.StdEncoding.DecodeString(context.CA)
	if err != nil || !c.trusts(ca) || !slices.Equal(context.Endpoints, endpoints) {
		return false
	}
	encoded, err := base64.StdEncoding.DecodeString(context.Crt)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(encoded)
	if block == nil {
		return false
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return false
	}
	half := certificate.NotBefore.Add(certificate.NotAfter.Sub(certificate.NotBefore) / 2)
	return now.Before(half)
}

// trusts says whether a talosconfig trusts exactly the authorities of the cluster: two of them during a rotation.
func (c *renderedCluster) trusts(ca []byte) bool {
	authorities := append(c.secrets.Accepted(pki.PartTalosCA), string(c.secrets.Bundle.Certs.OS.Crt))
	for _, authority := range authorities {
		if !bytes.Contains(ca, bytes.TrimSpace([]byte(authority))) {
			return false
		}
	}
	return bytes.Count(ca, []byte("-----BEGIN CERTIFICATE-----")) == len(authorities)
}
