// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"encoding/base64"
	"fmt"
	"os"

	"minos.dev/minos/kube/file"
	"minos.dev/minos/kube/pki"
)

// A kubeconfig is one user's access to the API server. The certificates are in it, so that it can be copied.
type kubeconfig struct {
	path   string
	server string
	ca     string
	user   string
	client pki.Pair
}

const kubeconfigForm = `apiVersion: v1
kind: Config
current-context: minos-kube
clusters:
- name: minos-kube
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: minos-kube
  context:
    cluster: minos-kube
    user: %s
`

func (k kubeconfig) write() error {
	var encoded [3]string
	for i, path := range []string{k.ca, k.client.Cert, k.client.Key} {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("write %s: %w", k.path, err)
		}
		encoded[i] = base64.StdEncoding.EncodeToString(content)
	}
	return file.Write(k.path, fmt.Appendf(nil, kubeconfigForm, k.server, encoded[0], k.user, encoded[1], encoded[2], k.user))
}
