// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
)

// A Machine is one that is known to belong to a cluster, by the word of whoever made it and never by its own.
type Machine struct {
	// Node is the name of its Node.
	Node string
	// Names are further names of it.
	Names []string
	// Addresses are its own.
	Addresses []netip.Addr
}

// Pending says whether a request is for the serving certificate of a kubelet, and nobody has answered it.
func Pending(request *certificatesv1.CertificateSigningRequest) bool {
	return request.Spec.SignerName == certificatesv1.KubeletServingSignerName && len(request.Status.Certificate) == 0 &&
		!slices.ContainsFunc(request.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
			return c.Status == corev1.ConditionTrue || c.Status == ""
		})
}

// Approve says why a request for a kubelet's serving certificate is not approved, or nothing if it is. What is not approved
// waits: a machine that has just been made may have addresses that its place has not told yet.
func Approve(request *certificatesv1.CertificateSigningRequest, machines []Machine) error {
	node, isNode := strings.CutPrefix(request.Spec.Username, "system:node:")
	if request.Spec.SignerName != certificatesv1.KubeletServingSignerName || !isNode || !slices.Contains(request.Spec.Groups, groupNodes) {
		return fmt.Errorf("%s of %q is not a Node's request for its serving certificate", request.Name, request.Spec.Username)
	}
	if err := usages(request.Spec.Usages); err != nil {
		return err
	}
	asked, err := parse(request.Spec.Request)
	if err != nil {
		return err
	}
	if err := subject(asked, request.Spec.Username); err != nil {
		return err
	}
	index := slices.IndexFunc(machines, func(machine Machine) bool { return machine.Node == node })
	if index < 0 {
		return fmt.Errorf("no machine of the cluster is known by the name %s", node)
	}
	return machines[index].has(asked)
}

// usages holds a request to what a serving certificate is for.
func usages(asked []certificatesv1.KeyUsage) error {
	may := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth, certificatesv1.UsageKeyEncipherment}
	for _, usage := range asked {
		if !slices.Contains(may, usage) {
			return fmt.Errorf("usage %q is not that of a serving certificate", usage)
		}
	}
	for _, usage := range may[:2] {
		if !slices.Contains(asked, usage) {
			return fmt.Errorf("usage %q is missing", usage)
		}
	}
	return nil
}

// parse reads the request itself: one block, signed with its own key.
func parse(text []byte) (*x509.CertificateRequest, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errors.New("it is not one request in PEM")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if err := asked.CheckSignature(); err != nil {
		return nil, fmt.Errorf("it is not signed with its own key: %w", err)
	}
	return asked, nil
}

// subject binds who asks to whom the certificate names: the same Node.
func subject(asked *x509.CertificateRequest, user string) error {
	switch {
	case asked.Subject.CommonName != user:
		return fmt.Errorf("%s asks for a certificate of %q", user, asked.Subject.CommonName)
	case !slices.Equal(asked.Subject.Organization, []string{groupNodes}):
		return fmt.Errorf("its organization is %q, and should be %s alone", asked.Subject.Organization, groupNodes)
	case len(asked.EmailAddresses)+len(asked.URIs) > 0:
		return errors.New("it has e-mail addresses or URIs, which a kubelet does not have")
	case len(asked.DNSNames)+len(asked.IPAddresses) == 0:
		return errors.New("it has neither a name nor an address")
	}
	return nil
}

// has says which name or address of a request is not the machine's.
func (m Machine) has(asked *x509.CertificateRequest) error {
	for _, name := range asked.DNSNames {
		if name != m.Node && !slices.Contains(m.Names, name) {
			return fmt.Errorf("%q is not a name of machine %s", name, m.Node)
		}
	}
	for _, bytes := range asked.IPAddresses {
		address, ok := netip.AddrFromSlice(bytes)
		if !ok || !slices.Contains(m.Addresses, address.Unmap()) {
			return fmt.Errorf("%s is not an address of machine %s, as far as is known", address.Unmap(), m.Node)
		}
	}
	return nil
}
