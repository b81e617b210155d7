// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A call is a kind of request to an API server.
type call struct {
	// agent is who calls, as far as it says.
	agent string
	// verb is what the API server would authorize, or "discover" for what is no resource.
	verb string
	// resource has its group behind it, and its subresource: nodepools/status.minos.dev.
	resource string
}

// isWrite says whether it changes something.
func (c call) isWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, c.verb)
}

// A door is the only way to an API server for whoever has its kubeconfig, and counts who goes through: what nobody could count
// behind it, because the API server's own numbers tell nobody from another.
type door struct {
	t      testing.TB
	server *httptest.Server

	mutex  sync.Mutex
	counts map[call]int
}

// newDoor opens a door to an API server, to which it goes as the administrator.
func newDoor(t testing.TB, config *rest.Config) *door {
	t.Helper()
	behind, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, counts: map[call]int{}}
	through := &httputil.ReverseProxy{
		Transport: behind, FlushInterval: -1, // or a watch would tell late
		Rewrite:      func(request *httputil.ProxyRequest) { request.SetURL(target) },
		ErrorHandler: func(answer http.ResponseWriter, _ *http.Request, _ error) { answer.WriteHeader(http.StatusBadGateway) },
	}
	d.server = httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		d.count(callOf(request))
		through.ServeHTTP(answer, request)
	}))
	d.server.EnableHTTP2 = true
	d.server.StartTLS()
	t.Cleanup(d.server.Close)
	t.Cleanup(d.server.CloseClientConnections) // watches do not end by themselves
	return d
}

// kubeconfig leads through the door, as whoever is named.
func (d *door) kubeconfig(user string) []byte {
	d.t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["door"] = &clientcmdapi.Cluster{
		Server: d.server.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw}),
	}
	config.AuthInfos["door"] = &clientcmdapi.AuthInfo{Impersonate: user}
	config.Contexts["door"] = &clientcmdapi.Context{Cluster: "door", AuthInfo: "door"}
	config.CurrentContext = "door"
	text, err := clientcmd.Write(*config)
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// file is the same in a file.
func (d *door) file(user string) string {
	d.t.Helper()
	name := filepath.Join(d.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, d.kubeconfig(user), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return name
}

// count counts one.
func (d *door) count(one call) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.counts[one]++
}

// seen is who went through until now.
func (d *door) seen() tally {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return maps.Clone(d.counts)
}

// A tally is how often each kind of call was made.
type tally map[call]int

// since is what came after an earlier one.
func (t tally) since(before tally) tally {
	after := tally{}
	for one, count := range t {
		if more := count - before[one]; more > 0 {
			after[one] = more
		}
	}
	return after
}

// only are the calls that something holds for.
func (t tally) only(holds func(call) bool) tally {
	some := tally{}
	for one, count := range t {
		if holds(one) {
			some[one] = count
		}
	}
	return some
}

// total is how many calls there were.
func (t tally) total() int {
	sum := 0
	for _, count := range t {
		sum += count
	}
	return sum
}

// String is a line for each kind, the most frequent first.
func (t tally) String() string {
	kinds := slices.SortedFunc(maps.Keys(t), func(a, b call) int {
		return cmp.Or(t[b]-t[a], strings.Compare(a.verb+a.resource+a.agent, b.verb+b.resource+b.agent))
	})
	var text strings.Builder
	for _, one := range kinds {
		_, _ = fmt.Fprintf(&text, "%6d %-8s %s (%s)\n", t[one], one.verb, one.resource, one.agent)
	}
	return text.String()
}

// callOf says what a request is.
func callOf(request *http.Request) call {
	agent, _, _ := strings.Cut(request.UserAgent(), "/")
	one := call{agent: agent, verb: "discover", resource: request.URL.Path}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = "."+parts[1], parts[3:]
	default:
		return one
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	one.resource = parts[0]
	if len(parts) > 2 {
		one.resource += "/" + parts[2]
	}
	one.resource += group
	one.verb = map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodGet: "get",
	}[request.Method]
	if watch := request.URL.Query().Get("watch"); one.verb == "get" && len(parts) == 1 {
		one.verb = "list"
		if watch == "true" || watch == "1" {
			one.verb = "watch"
		}
	}
	return one
}
