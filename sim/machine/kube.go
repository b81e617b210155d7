// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	certificatesclient "k8s.io/client-go/kubernetes/typed/certificates/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// A kube is an API server as one identity sees it: the three groups that a kubelet talks to, and nothing that watches.
type kube struct {
	core         *coreclient.CoreV1Client
	certificates *certificatesclient.CertificatesV1Client
	coordination *coordinationclient.CoordinationV1Client
	http         *http.Client
	lookout      *lookout // nil for an identity that is one machine's
}

// close ends its connections.
func (k *kube) close() { k.http.CloseIdleConnections() }

// A target is what a configuration says of the cluster to join.
type target struct {
	endpoint *url.URL
	ca       []byte
	token    string // for the bootstrap
}

// targetOf reads it.
func targetOf(provider talosconfig.Provider) (target, error) {
	at, err := endpoint(provider)
	if err != nil {
		return target{}, err
	}
	joins := target{endpoint: at}
	if authority := provider.K8sAPIServerCAConfig(); authority != nil {
		for _, accepted := range authority.AcceptedCAs() {
			joins.ca = append(joins.ca, accepted.Crt...)
		}
	}
	if len(joins.ca) == 0 {
		return target{}, errors.New("missing accepted Kubernetes CAs")
	}
	if token := provider.Cluster().Token(); token != nil {
		joins.token = token.ID() + "." + token.Secret()
	}
	return joins, nil
}

// bootstraps are the API servers as machines without an identity see them: they differ by nothing but the token, and so those
// with the same share their connection and their watch.
type bootstraps struct {
	mutex  sync.Mutex
	shared map[string]*kube
}

// of returns a cluster as its bootstrap token sees it.
func (s *bootstraps) of(env Environment, to target) (*kube, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := to.endpoint.Host + "\n" + to.token + "\n" + string(to.ca)
	if found, ok := s.shared[key]; ok {
		return found, nil
	}
	transport, err := newTransport(env, to, nil)
	if err != nil {
		return nil, err
	}
	made, err := connect(to, bearer{token: to.token, next: transport})
	if err != nil {
		return nil, err
	}
	made.lookout = newLookout(made.certificates.CertificateSigningRequests())
	if s.shared == nil {
		s.shared = map[string]*kube{}
	}
	s.shared[key] = made
	return made, nil
}

// close ends all connections. Nobody waits for a certificate any more.
func (s *bootstraps) close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, shared := range s.shared {
		shared.lookout.work.Wait()
		shared.close()
	}
}

// newTransport returns a transport to a cluster, with a client certificate or without.
func newTransport(env Environment, to target, identity *tls.Certificate) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(to.ca) {
		return nil, errors.New("the cluster's certificate authority is no certificate")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	if identity != nil {
		secure.Certificates = []tls.Certificate{*identity}
	}
	return &http.Transport{
		DialContext: env.Dial, TLSClientConfig: secure, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 1,
	}, nil
}

// connect returns clients over a transport.
func connect(to target, transport http.RoundTripper) (*kube, error) {
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	config := &rest.Config{Host: "https://" + to.endpoint.Host, QPS: -1, UserAgent: "kubelet/talos (simulated)"}
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"
	core, coreErr := coreclient.NewForConfigAndClient(config, client)
	certificates, certificatesErr := certificatesclient.NewForConfigAndClient(config, client)
	coordination, coordinationErr := coordinationclient.NewForConfigAndClient(config, client)
	return &kube{core: core, certificates: certificates, coordination: coordination, http: client},
		errors.Join(coreErr, certificatesErr, coordinationErr)
}

// A bearer sends a token with every request.
type bearer struct {
	token string
	next  *http.Transport
}

// RoundTrip sends it.
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(request)
}

// CloseIdleConnections is for http.Client, which asks for it by name.
func (b bearer) CloseIdleConnections() { b.next.CloseIdleConnections() }

// argument says whether a kubelet's argument or field of its configuration is true.
func argument(provider talosconfig.Provider, name, field string) bool {
	kubelet := provider.K8sKubeletConfig()
	if kubelet == nil {
		return false
	}
	set, _ := kubelet.ExtraConfig()[field].(bool)
	return set || slices.Contains(kubelet.ExtraArgs()[name], "true")
}
