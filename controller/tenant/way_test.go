// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/sim/kubetest"
)

// status is an error as an API server writes it.
const status = `{"apiVersion":"v1","kind":"Status","status":"Failure","message":"namespaces is forbidden","reason":"Forbidden","code":403}`

// TestWay leads a client to servers that are no API server, and to where it may not go: of what they say nothing is heard.
func TestWay(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	answer := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if !strings.HasPrefix(text, "{") {
				w.Header().Set("Content-Type", "text/plain")
			}
			w.Header().Set("Location", "http://127.0.0.1:1/hush")
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, text) // whoever asked may be gone
		}
	}
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		refused string
		want    string
	}{
		"an error of Kubernetes":   {answer(http.StatusForbidden, status), "", "namespaces is forbidden"},
		"an error of another kind": {answer(http.StatusInternalServerError, `{"hush":"hush"}`), "", "an error on the server"},
		"a text":                   {answer(http.StatusInternalServerError, "hush"), "", "an error on the server"},
		"what looks like a Status": {answer(http.StatusInternalServerError, `{"kind":"Status","message":"hush"}`), "", "an error on the server"},
		"a way elsewhere":          {answer(http.StatusFound, "hush"), "", "answers with code 302 and sends elsewhere"},
		"a way elsewhere for good": {answer(http.StatusPermanentRedirect, "hush"), "", "answers with code 308 and sends elsewhere"},
		"a refused network":        {answer(http.StatusOK, "hush"), "127.0.0.0/8", "127.0.0.1 is in 127.0.0.0/8, where no cluster may lead"},
		"another network":          {answer(http.StatusForbidden, status), "169.254.0.0/16", "namespaces is forbidden"},
	} {
		server := httptest.NewServer(test.answer)
		secret.Data = map[string][]byte{"kubeconfig": fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: x,
			contexts: [{name: x, context: {cluster: x, user: x}}], clusters: [{name: x, cluster: {server: %q}}], users: [{name: x, user: {token: abc}}]}`, server.URL)}
		if err := c.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		clients := tenant.New(c)
		if test.refused != "" {
			clients.Refused = []netip.Prefix{netip.MustParsePrefix(test.refused)}
		}
		reach, err := clients.Client(t.Context(), external(namespace))
		if err != nil {
			t.Fatal(err)
		}
		err = reach.List(t.Context(), &corev1.NamespaceList{})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}

// TestWayOfOthers has clients that are made from the same way go it too.
func TestWayOfOthers(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}, Data: map[string][]byte{"kubeconfig": kubeconfig(t)}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for refused, want := range map[string]string{"169.254.0.0/16": "", "127.0.0.0/8": "where no cluster may lead"} {
		clients := tenant.New(c)
		clients.Refused = []netip.Prefix{netip.MustParsePrefix(refused)}
		config, err := clients.Config(t.Context(), external(namespace))
		if err != nil {
			t.Fatal(err)
		}
		asking, err := discovery.NewDiscoveryClientForConfig(config)
		if err == nil {
			_, err = asking.ServerVersion()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", refused, err)
		}
	}
}

// TestNotKubeconfig does not quote from what is not a kubeconfig: its reader may not be allowed to read it.
func TestNotKubeconfig(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "access"}, Data: map[string][]byte{"kubeconfig": []byte("*hush")}}
	if err := c.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	_, err := tenant.New(c).Client(t.Context(), external(namespace))
	if err == nil || !strings.Contains(err.Error(), "it is not a kubeconfig") || strings.Contains(err.Error(), "hush") {
		t.Errorf("it is %v", err)
	}
}
