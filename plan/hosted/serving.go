// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	api "minos.dev/minos/api/v1alpha1"
)

// How long certificates live. Both are made anew when two thirds of it are over.
const (
	// ServingLife is that of the signer's.
	ServingLife = 90 * 24 * time.Hour
	// AccessLife is that of the owner's access to the Talos API.
	AccessLife = 30 * 24 * time.Hour
)

// ServingNames are all names and addresses by which workers reach the signer, sorted: the endpoint as declared and as the
// hosted control plane got it, the Service, and the addresses that the endpoint resolves to.
func ServingNames(cluster *api.TalosCluster, got *api.Endpoint, addresses []netip.Addr) []string {
	var found []string
	if cluster.Spec.ControlPlane.External == nil {
		found = ServiceNames(cluster)
	}
	if cluster.Spec.Endpoint != nil {
		found = append(found, cluster.Spec.Endpoint.Host)
	}
	if got != nil {
		found = append(found, got.Host)
	}
	for _, address := range addresses {
		found = append(found, address.Unmap().String())
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// CertificateNames are those that a certificate has, in the same form.
func CertificateNames(certificate *x509.Certificate) []string {
	found := slices.Clone(certificate.DNSNames)
	for _, address := range Addresses(certificate) {
		found = append(found, address.String())
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Addresses are the addresses of a certificate.
func Addresses(certificate *x509.Certificate) []netip.Addr {
	var found []netip.Addr
	for _, bytes := range certificate.IPAddresses {
		if address, ok := netip.AddrFromSlice(bytes); ok {
			found = append(found, address.Unmap())
		}
	}
	return found
}

// Serving says whether the signer needs another certificate than its current one, and why. None at all is nil.
func Serving(now time.Time, current, authority *x509.Certificate, wanted []string) (bool, string) {
	if renew, why := Access(now, current, authority); renew {
		return true, why
	}
	if has := CertificateNames(current); !slices.Equal(has, wanted) {
		return true, fmt.Sprintf("it has the names %s, and should have %s", strings.Join(has, ", "), strings.Join(wanted, ", "))
	}
	return false, ""
}

// Access says the same of a certificate whose names do not matter.
func Access(now time.Time, current, authority *x509.Certificate) (bool, string) {
	if current == nil {
		return true, "there is none yet"
	}
	if current.CheckSignatureFrom(authority) != nil {
		return true, "it is of another authority"
	}
	life := current.NotAfter.Sub(current.NotBefore)
	if due := current.NotBefore.Add(life / 3 * 2); !now.Before(due) {
		return true, fmt.Sprintf("two thirds of its life were over on %s", due.UTC().Format(time.RFC3339))
	}
	return false, ""
}
