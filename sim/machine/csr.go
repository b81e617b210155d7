// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// newKey makes a kubelet's key.
func newKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// A wish is a certificate that a kubelet asks for.
type wish struct {
	node   string
	signer string
	usage  certificatesv1.KeyUsage
	key    []byte
	names  []string
	ips    []net.IP
}

// request is the object of it. Its name follows from key and signer: a kubelet that dies while it waits finds its request
// again, rather than to make another.
func (w wish) request() (*certificatesv1.CertificateSigningRequest, error) {
	block, _ := pem.Decode(w.key)
	if block == nil {
		return nil, errors.New("the kubelet's key cannot be read")
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "system:node:" + w.node, Organization: []string{"system:nodes"}},
		DNSNames: w.names, IPAddresses: w.ips,
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(append(public, w.node+w.signer...))
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "node-csr-" + nameOf(sum[:])},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: w.signer, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, w.usage},
		},
	}, nil
}

// nameOf is a sum as part of an object's name.
func nameOf(sum []byte) string {
	text := []byte(base64.RawURLEncoding.EncodeToString(sum))[:43]
	for i, letter := range text {
		switch {
		case letter >= 'A' && letter <= 'Z':
			text[i] = letter + 'a' - 'A'
		case letter == '-' || letter == '_':
			text[i] = 'x'
		}
	}
	return string(text)
}

// errPending says that nobody approved a request yet.
var errPending = errors.New("is not approved")

// following waits until a request is another than it was.
type following func(context.Context, *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequest, error)

// obtain asks for a certificate and waits until it is issued, denied, or the context ends.
func (k *kube) obtain(ctx context.Context, wanted wish) ([]byte, error) {
	request, err := wanted.request()
	if err != nil {
		return nil, err
	}
	next := k.follow
	if k.lookout != nil {
		shared, leave := k.lookout.enter(request.Name)
		defer leave()
		next = shared
	}
	requests := k.certificates.CertificateSigningRequests()
	made, err := requests.Create(ctx, request, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		made, err = requests.Get(ctx, request.Name, metav1.GetOptions{})
	}
	if err != nil {
		return nil, err
	}
	for {
		issued, err := answer(made)
		if !errors.Is(err, errPending) {
			return issued, err
		}
		if made, err = next(ctx, made); err != nil {
			return nil, err
		}
	}
}

// follow watches a request until there is an answer to it, or the watch ends.
func (k *kube) follow(ctx context.Context, was *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequest, error) {
	watched, err := k.certificates.CertificateSigningRequests().Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + was.Name, ResourceVersion: was.ResourceVersion,
	})
	if err != nil {
		return nil, err
	}
	defer watched.Stop()
	for {
		select {
		case event := <-watched.ResultChan():
			now, ok := event.Object.(*certificatesv1.CertificateSigningRequest)
			if !ok || event.Type != watch.Modified {
				// The watch ended, or the request was collected: look again.
				return k.certificates.CertificateSigningRequests().Get(ctx, was.Name, metav1.GetOptions{})
			}
			if _, err := answer(now); !errors.Is(err, errPending) {
				return now, nil
			}
			was = now
		case <-ctx.Done():
			_, pending := answer(was)
			return nil, fmt.Errorf("%w: %w", pending, ctx.Err())
		}
	}
}

// answer is what became of a request.
func answer(request *certificatesv1.CertificateSigningRequest) ([]byte, error) {
	approved := false
	for _, condition := range request.Status.Conditions {
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == certificatesv1.CertificateApproved:
			approved = true
		default:
			return nil, fmt.Errorf("signing request %s was %s: %s", request.Name, condition.Type, condition.Message)
		}
	}
	switch {
	case len(request.Status.Certificate) > 0:
		return request.Status.Certificate, nil
	case approved:
		return nil, fmt.Errorf("signing request %s is approved, and %w by its signer", request.Name, errPending)
	}
	return nil, fmt.Errorf("signing request %s %w", request.Name, errPending)
}

// pair is a key and its certificate, if they are of use at a time for a Node.
func (f KubeletFiles) pair(node string, now time.Time) (*tls.Certificate, bool) {
	pair, err := tls.X509KeyPair(f.Certificate, f.Key)
	if err != nil || pair.Leaf == nil || pair.Leaf.Subject.CommonName != "system:node:"+node {
		return nil, false
	}
	return &pair, now.Before(pair.Leaf.NotAfter)
}
