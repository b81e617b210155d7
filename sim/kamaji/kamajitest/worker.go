// SPDX-License-Identifier: Apache-2.0

package kamajitest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/trust/trusttest"
)

// TalosVersion is the release of the workers.
const TalosVersion api.TalosVersion = "v1.13.9"

// Secrets are what the machines of a tenant share: an authority of Talos, and tokens.
type Secrets struct {
	CA     trusttest.CA
	Bundle *secrets.Bundle
}

// NewSecrets makes them.
func (s *Site) NewSecrets() Secrets {
	s.T.Helper()
	made := Secrets{CA: trusttest.NewCA(s.T, trusttest.Ed25519, time.Now())}
	contract, err := config.Contract(TalosVersion)
	if err == nil {
		made.Bundle, err = secrets.NewBundle(secrets.NewFixedClock(time.Now()), contract)
	}
	if err != nil {
		s.T.Fatal(err)
	}
	made.Bundle.Certs.OS = &x509.PEMEncodedCertificateAndKey{Crt: made.CA.CrtPEM, Key: made.CA.KeyPEM}
	return made
}

// Token is the token that its machines show to the signer.
func (s Secrets) Token() string { return s.Bundle.TrustdInfo.Token }

// declared is a cluster with one pool, as a user writes it.
const declared = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: tenant}
spec:
  kubernetesVersion: v1.35.2
  talosVersion: %s
  endpoint: {host: %s, port: 6443}
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: tenant
  role: plain
  locationRef: {kind: Location, name: rehearsal}
  replicas: 1
  machine: {sim: {}}
`

// Join has a simulated worker join a tenant's control plane: with the signer at the real port, and nothing in between. It
// returns when its Node is Ready.
func (s *Site) Join(cluster, host string, made Secrets) {
	s.T.Helper()
	access, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(cluster))
	if err != nil {
		s.T.Fatal(err)
	}
	made.Bundle.Certs.K8s.Crt = access.CAData
	clients, err := kubernetes.NewForConfig(access)
	if err != nil {
		s.T.Fatal(err)
	}
	s.invite(clients, made.Bundle.Secrets.BootstrapToken)
	rack, err := machine.NewRack(machine.Environment{Scale: 1000})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(rack.Close)
	image := machine.Image{Version: string(TalosVersion), Schematic: strings.Repeat("0123", 16)}
	m, err := rack.Add(machine.Options{Name: "worker-1", Hostname: "worker-1", Disk: machine.NewMemory(image), UserData: s.render(host, made)})
	if err != nil {
		s.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.T.Context(), Within)
	defer cancel()
	if err := m.WaitFor(ctx, machine.StepReady); err != nil {
		s.T.Fatalf("the worker did not join: %v; it stands at %v", err, m.Status())
	}
	s.ready(clients)
}

// ready wants one Node, which is Ready.
func (s *Site) ready(clients kubernetes.Interface) {
	s.T.Helper()
	nodes, err := clients.CoreV1().Nodes().List(s.T.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 {
		s.T.Fatalf("there are %d nodes, %v", len(nodes.Items), err)
	}
	for _, condition := range nodes.Items[0].Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return
		}
	}
	s.T.Errorf("node %s is not Ready: %v", nodes.Items[0].Name, nodes.Items[0].Status.Conditions)
}

// invite makes the bootstrap token in the tenant, for the group that Kamaji lets in.
func (s *Site) invite(clients kubernetes.Interface, token string) {
	s.T.Helper()
	id, secret, _ := strings.Cut(token, ".")
	_, err := clients.CoreV1().Secrets("kube-system").Create(s.T.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
			"expiration":        time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		s.T.Fatal(err)
	}
}

// render is what Minos renders for the pool.
func (s *Site) render(host string, made Secrets) []byte {
	s.T.Helper()
	reader, err := load.NewReader()
	if err != nil {
		s.T.Fatal(err)
	}
	documents, problems := reader.Read("tenant.yaml", fmt.Appendf(nil, declared, TalosVersion, host))
	if len(problems) > 0 {
		s.T.Fatal(problems)
	}
	in := config.Input{Secrets: made.Bundle, Installer: "factory.example.com/nocloud-installer/0123:" + string(TalosVersion)}
	for _, document := range documents {
		switch object := document.Object.(type) {
		case *api.TalosCluster:
			in.Cluster, in.Endpoint = object, *object.Spec.Endpoint
		case *api.NodePool:
			in.Pool = object
		}
	}
	roles, err := talos.NewRoles()
	if err == nil {
		in.Role, err = roles.Resolve(in.Pool.Spec.Role)
	}
	if err != nil {
		s.T.Fatal(err)
	}
	pool, err := config.NewPool(in)
	if err != nil {
		s.T.Fatal(err)
	}
	text, err := pool.Shared()
	if err != nil {
		s.T.Fatal(err)
	}
	return text
}
