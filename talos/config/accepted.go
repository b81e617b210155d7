// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"errors"
)

// Accepted is what machines accept beside what issues, while an authority or a key is being replaced. All of it is PEM.
type Accepted struct {
	// TalosCAs are certificates of authorities of the Talos API.
	TalosCAs []string
	// KubernetesCAs are certificates of authorities of the Kubernetes API.
	KubernetesCAs []string
	// ServiceAccountKeys are public keys of service accounts. They need Talos 1.14.
	ServiceAccountKeys []string
}

// accepted sets what is accepted. That of the Talos API is in the old document in every version.
func (s *setter) accepted(accepted Accepted, isControlPlane bool) error {
	if len(accepted.TalosCAs) > 0 {
		s.field(oldAuthorities(accepted.TalosCAs), "machine", "acceptedCAs")
	}
	multidoc := s.contract.MultidocKubernetesConfigSupported()
	switch {
	case len(accepted.KubernetesCAs) == 0:
	case multidoc:
		s.add("KubeAPIServerCAConfig", document{"acceptedCAs": accepted.KubernetesCAs})
	default:
		s.field(oldAuthorities(accepted.KubernetesCAs), "cluster", "acceptedCAs")
	}
	switch {
	case len(accepted.ServiceAccountKeys) == 0:
	case !multidoc:
		return errors.New("a second key of service accounts needs Talos 1.14 or newer: finish its rotation with the version that it was begun with")
	case isControlPlane:
		s.add("KubeServiceAccountConfig", document{"accepted": document{"publicKeys": accepted.ServiceAccountKeys}})
	}
	return nil
}

// oldAuthorities are authorities as the old document has them.
func oldAuthorities(certificates []string) []any {
	var all []any
	for _, certificate := range certificates {
		all = append(all, document{"crt": base64.StdEncoding.EncodeToString([]byte(certificate))})
	}
	return all
}
