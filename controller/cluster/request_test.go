// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

// kubeletServes asks for a serving certificate as the kubelet does: first for a machine that nobody knows.
func (s *story) kubeletServes() {
	kubelet := s.kubelet("workers-1")
	asked := request(s.t, "workers-1", "10.1.2.3")
	if err := kubelet.Create(s.t.Context(), asked); err != nil {
		s.t.Fatal(err)
	}
	known := &api.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "workers-1"},
		Spec: api.TalosMachineSpec{
			ClusterName: shop, PoolName: "workers", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "here"}, Revision: "workers-0",
		},
	}
	create(s.t, known)
	known.Status.Addresses = []api.Address{"10.1.2.3"}
	if err := kubetest.Client(s.t).Status().Update(s.t.Context(), known); err != nil {
		s.t.Fatal(err)
	}
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		found := &certificatesv1.CertificateSigningRequest{}
		if err := s.inside().Get(ctx, client.ObjectKeyFromObject(asked), found); err != nil {
			return err
		}
		if len(found.Status.Conditions) == 0 || found.Status.Conditions[0].Type != certificatesv1.CertificateApproved {
			return fmt.Errorf("it is not approved: %+v", found.Status)
		}
		return nil
	})
	remove(s.t, known)
}

// kubelet reaches the tenant as a Node.
func (s *story) kubelet(node string) client.Client {
	s.t.Helper()
	access, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(shop))
	if err != nil {
		s.t.Fatal(err)
	}
	access.Impersonate.UserName = "system:node:" + node
	access.Impersonate.Groups = []string{"system:nodes", "system:authenticated"}
	found, err := client.New(access, client.Options{Scheme: scheme(s.t)})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// request is a kubelet's request for its serving certificate.
func request(t testing.TB, node, address string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}},
		DNSNames: []string{node}, IPAddresses: []net.IP{net.ParseIP(address)},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "csr-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeletServingSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth},
		},
	}
}
