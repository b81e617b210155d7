// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/apply"
	"minos.dev/minos/sim/kubetest"
)

// paths is what was asked for.
type paths struct {
	next  http.RoundTripper
	mutex sync.Mutex
	all   []string
}

// RoundTrip notes a path and goes on.
func (p *paths) RoundTrip(request *http.Request) (*http.Response, error) {
	p.mutex.Lock()
	p.all = append(p.all, request.URL.Path)
	p.mutex.Unlock()
	return p.next.RoundTrip(request)
}

// TestLoadsNoSchemas applies an object with a client of its own, and wants nobody to ask for the schemas of all kinds: they grow with
// every kind that somebody installs.
func TestLoadsNoSchemas(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	asked := &paths{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.next = next
		return asked
	})
	own, err := client.New(config, client.Options{Scheme: kubetest.Client(t).Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	namespace := kubetest.Namespace(t)
	before := len(asked.all)
	if wrote, err := apply.New(own).Apply(t.Context(), service(namespace, nil)); err != nil || !wrote {
		t.Fatal(wrote, err)
	}
	for _, path := range asked.all {
		if strings.HasPrefix(path, "/openapi") {
			t.Errorf("it asked for %s", path)
		}
	}
	if len(asked.all) == before {
		t.Error("nothing was asked for at all")
	}
}
