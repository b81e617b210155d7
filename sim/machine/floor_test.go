// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	certificatesclient "k8s.io/client-go/kubernetes/typed/certificates/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// A floor registers Nodes with nothing but the calls that it takes: a signing request, the Node, its status, its lease. It
// shares no code with the machines that it is held against.
type floor struct {
	config  rest.Config
	pool    *x509.CertPool
	signing certificatesclient.CertificateSigningRequestInterface

	mutex   sync.Mutex
	waiting map[string]chan []byte // by the name of the request
}

// floorParallel is how many Nodes the floor registers at a time: with fewer it is slower, with more no faster.
const floorParallel = 64

// newFloor returns a floor on a site. Who asks to be signed differs by a header at most, so all share a connection and a watch.
func newFloor(ctx context.Context, s *site) *floor {
	s.t.Helper()
	f := &floor{pool: x509.NewCertPool(), waiting: map[string]chan []byte{}}
	f.pool.AppendCertsFromPEM(s.bundle.Certs.K8s.Crt)
	f.config = rest.Config{Host: s.server.String(), QPS: -1}
	f.config.ContentType, f.config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	config := f.config
	config.BearerToken = s.bundle.Secrets.BootstrapToken
	config.CAData = s.bundle.Certs.K8s.Crt
	client, err := certificatesclient.NewForConfig(&config)
	if err != nil {
		s.t.Fatal(err)
	}
	f.signing = client.CertificateSigningRequests()
	watched, err := f.signing.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		for event := range watched.ResultChan() {
			if request, ok := event.Object.(*certificatesv1.CertificateSigningRequest); ok && len(request.Status.Certificate) > 0 {
				f.issued(request)
			}
		}
	}()
	return f
}

// issued hands a certificate to who waits for it.
func (f *floor) issued(request *certificatesv1.CertificateSigningRequest) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if waits, found := f.waiting[request.Name]; found {
		waits <- request.Status.Certificate
		delete(f.waiting, request.Name)
	}
}

// register registers as many Nodes and returns how long it took.
func (f *floor) register(ctx context.Context, t testing.TB, count int) time.Duration {
	t.Helper()
	start := time.Now()
	var work sync.WaitGroup
	turns := make(chan struct{}, floorParallel)
	for range count {
		turns <- struct{}{}
		work.Go(func() {
			defer func() { <-turns }()
			if err := f.one(ctx, unique("floor")); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	return time.Since(start)
}

// one registers a Node.
func (f *floor) one(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	pair, err := f.certificate(ctx, name)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: f.pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}}
	defer client.CloseIdleConnections()
	core, err := coreclient.NewForConfigAndClient(&f.config, client)
	if err != nil {
		return err
	}
	coordination, err := coordinationclient.NewForConfigAndClient(&f.config, client)
	if err != nil {
		return err
	}
	if _, err := core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	ready := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%[1]q,"lastTransitionTime":%[1]q}]}}`,
		time.Now().UTC().Format(time.RFC3339))
	if _, err := core.Nodes().Patch(ctx, name, types.StrategicMergePatchType, ready, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	_, err = coordination.Leases(corev1.NamespaceNodeLease).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: new(int32(40)), RenewTime: new(metav1.NowMicro())},
	}, metav1.CreateOptions{})
	return err
}

// certificate gets a client certificate for a fresh key.
func (f *floor) certificate(ctx context.Context, name string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	subject := pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	waits := make(chan []byte, 1)
	f.mutex.Lock()
	f.waiting[name] = waits
	f.mutex.Unlock()
	_, err = f.signing.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return tls.Certificate{}, err
	}
	select {
	case issued := <-waits:
		block, _ := pem.Decode(issued)
		return tls.Certificate{Certificate: [][]byte{block.Bytes}, PrivateKey: key}, nil
	case <-ctx.Done():
		return tls.Certificate{}, fmt.Errorf("the certificate of %s: %w", name, ctx.Err())
	}
}
