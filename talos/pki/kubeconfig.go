// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/base64"

	"github.com/siderolabs/crypto/x509"
)

// kubeconfig is the file of kubectl. Its own type is in a package of clients, which this room does not import.
type kubeconfig struct {
	APIVersion     string           `yaml:"apiVersion"`
	Kind           string           `yaml:"kind"`
	Clusters       []map[string]any `yaml:"clusters"`
	Users          []map[string]any `yaml:"users"`
	Contexts       []map[string]any `yaml:"contexts"`
	CurrentContext string           `yaml:"current-context"`
}

// newKubeconfig is one with a single context.
func newKubeconfig(access KubeAccess, authorities []byte, made *x509.KeyPair) kubeconfig {
	user := access.User + "@" + access.Cluster
	return kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: access.Cluster,
		Clusters: []map[string]any{{"name": access.Cluster, "cluster": map[string]string{
			"server": access.Server, "certificate-authority-data": base64.StdEncoding.EncodeToString(authorities),
		}}},
		Users: []map[string]any{{"name": user, "user": map[string]string{
			"client-certificate-data": base64.StdEncoding.EncodeToString(made.CrtPEM),
			"client-key-data":         base64.StdEncoding.EncodeToString(made.KeyPEM),
		}}},
		Contexts: []map[string]any{{"name": access.Cluster, "context": map[string]string{
			"cluster": access.Cluster, "user": user, "namespace": "default",
		}}},
	}
}
