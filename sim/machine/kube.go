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

// transports are those of machines that have no identity yet: they differ by nothing but the token, which is a header, and
// so share their connections.
type transports struct {
	mutex  sync.Mutex
	shared map[string]*http.Transport
}

// of returns the transport to a cluster without a client certificate.
func (t *transports) of(env Environment, to target) (*http.Transport, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	key := to.endpoint.Host + "\n" + string(to.ca)
	if found, ok := t.shared[key]; ok {
		return found, nil
	}
	made, err := newTransport(env, to, nil)
	if err != nil {
		return nil, err
	}
	if t.shared == nil {
		t.shared = map[string]*http.Transport{}
	}
	t.shared[key] = made
	return made, nil
}

// close ends all connections.
func (t *transports) close() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, transport := range t.shared {
		transport.CloseIdleConnections()
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
	next  http.RoundTripper
}

// RoundTrip sends it.
func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(request)
}

// argument says whether a kubelet's argument or field of its configuration is true.
func argument(provider talosconfig.Provider, name, field string) bool {
	kubelet := provider.K8sKubeletConfig()
	if kubelet == nil {
		return false
	}
	set, _ := kubelet.ExtraConfig()[field].(bool)
	return set || slices.Contains(kubelet.ExtraArgs()[name], "true")
}
