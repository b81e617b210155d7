// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/kubetest"
)

// outside is the proxy of the environment of all tests here. What is on this machine is reached without it.
var outside *proxy

// A proxy goes anywhere for whoever asks.
type proxy struct{ asked atomic.Int32 }

// newProxy puts one into the environment. Programs read that once, so that it must be there before anything is asked for.
func newProxy() *proxy {
	made := &proxy{}
	server := httptest.NewServer(made) // until the tests end
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		if err := os.Setenv(name, server.URL); err != nil {
			panic(err)
		}
	}
	return made
}

// ServeHTTP answers for those who cannot be reached otherwise.
func (p *proxy) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.asked.Add(1)
	w.WriteHeader(http.StatusTeapot)
}

// TestNoProxy wants the way to a tenant's API server to be the operator's own, whatever its environment says: a proxy would dial where
// the operator may not.
func TestNoProxy(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"http", "https"} {
		secret.Data = map[string][]byte{"kubeconfig": fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: x,
			contexts: [{name: x, context: {cluster: x, user: x}}], clusters: [{name: x, cluster: {server: "%s://192.0.2.1:6443"}}], users: [{name: x, user: {token: abc}}]}`, scheme)}
		if err := c.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		clients := tenant.New(c)
		clients.Refused = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		reach, err := clients.Client(t.Context(), external(namespace))
		if err != nil {
			t.Fatal(err)
		}
		err = reach.List(t.Context(), &corev1.NamespaceList{})
		if err == nil || !strings.Contains(err.Error(), "192.0.2.1 is in 192.0.2.0/24, where no cluster may lead") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	if asked := outside.asked.Load(); asked > 0 {
		t.Errorf("the proxy was asked %d times", asked)
	}
}
