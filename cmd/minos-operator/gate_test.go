// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A gate is the only way of an operator to the management cluster, to the tenants and to the place. It lets one write of a life
// through, and ends the life: by turns the answer to that write is lost, or the next write does not arrive. What an operator only
// reads is free, and so are events, which nobody relies on.
type gate struct {
	t *testing.T
	// kubeconfig and place are where the operator is led to, and inside is where its tenants are.
	kubeconfig, place, inside string
	token                     string
	tenant                    atomic.Pointer[httputil.ReverseProxy]

	flying   sync.WaitGroup // writes that are under way
	mutex    sync.Mutex
	end      context.CancelFunc // of the life
	over     bool
	wrote    string // the one write of this life
	words    string // what it said, in full
	before   string // what the write of the life before said: whoever never had an answer asks again, and that is no step
	told     []string
	covered  map[string]int // writes that were the last of a life, by verb and kind
	statuses map[string]int
	limit    int // how many writes a life has
	written  int
	lives    int
}

// oftenEnough is which part of the writes of statuses counts as a step: they are many, and differ in what they say only.
const oftenEnough = 6

// silent takes what proxies complain about: whoever dies hangs up on them.
var silent = log.New(io.Discard, "", 0)

// newGate opens a gate for the operator of a stage.
func newGate(s *stage) *gate {
	s.t.Helper()
	g := &gate{t: s.t, token: s.centre.Token, covered: map[string]int{}, statuses: map[string]int{}, limit: 1, over: true}
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	management, err := proxyTo(config)
	if err != nil {
		s.t.Fatal(err)
	}
	management.ModifyResponse = g.lead
	place, err := url.Parse(s.centre.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	g.place = g.open("place", func() http.Handler {
		return &httputil.ReverseProxy{ErrorLog: silent, Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(place) }}
	})
	g.inside = g.open("tenant", func() http.Handler {
		if known := g.tenant.Load(); known != nil {
			return known
		}
		return http.NotFoundHandler()
	})
	g.kubeconfig = filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*ledTo(g.open("", func() http.Handler { return management })), g.kubeconfig); err != nil {
		s.t.Fatal(err)
	}
	return g
}

// ledTo is a kubeconfig that leads somewhere, and has no credentials: the gate has them.
func ledTo(address string) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["gate"] = &clientcmdapi.Cluster{Server: address}
	config.Contexts["gate"] = &clientcmdapi.Context{Cluster: "gate"}
	config.CurrentContext = "gate"
	return config
}

// proxyTo leads to an API server.
func proxyTo(config *rest.Config) (*httputil.ReverseProxy, error) {
	behind, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{Transport: behind, FlushInterval: -1, ErrorLog: silent, Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(target)
		if isSecret(request.In) || request.In.Method != http.MethodGet {
			request.Out.Header.Set("Accept", "application/json") // which is read here
			request.Out.Header.Del("Accept-Encoding")
		}
	}}, nil
}

// open listens for one side.
func (g *gate) open(side string, way func() http.Handler) string {
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if isFree(request) {
			if g.isOver() {
				panic(http.ErrAbortHandler) // nobody reads in a life that is over
			}
			way().ServeHTTP(answer, request)
			return
		}
		step, said, err := stepOf(side, request)
		if err != nil || !g.enter(step, said) {
			panic(http.ErrAbortHandler)
		}
		answered := httptest.NewRecorder()
		// What went out is done, whoever dies meanwhile.
		way().ServeHTTP(answered, request.WithContext(context.WithoutCancel(request.Context())))
		g.flying.Done()
		if g.isLost(said, answered) {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(answer.Header(), answered.Header())
		answer.WriteHeader(answered.Code)
		_, _ = answer.Write(answered.Body.Bytes())
	}))
	g.t.Cleanup(server.Close)
	g.t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// operate runs an operator that goes through the gate until it ends, and returns its exit code.
func (g *gate) operate(ctx context.Context, said *words, more ...string) int {
	return run(ctx, append([]string{
		"--kubeconfig", g.kubeconfig, "--namespace", operatorNamespace, "--signer-image", "registry.example.com/minos-signer:test",
		"--metrics", "0", "--health", "0", "--refused-networks", "169.254.0.0/16", "--sim-url", g.place,
	}, more...), []string{"MINOS_SIM_TOKEN=" + g.token}, said)
}

// begin begins a life, which end ends.
func (g *gate) begin(end context.CancelFunc) {
	g.flying.Wait()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.wrote != "" {
		g.before = g.words
	}
	g.end, g.over, g.wrote, g.words, g.written = end, false, "", "", 0
	g.lives++
}

// isOver says whether the life is.
func (g *gate) isOver() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.over
}

// enter says whether a write may go through: one of a life, and if it is one of a status, those between the ones that count.
func (g *gate) enter(step, said string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.over {
		return false
	}
	if said == g.before || g.isBetween(step) {
		g.flying.Add(1)
		return true
	}
	if g.written == g.limit {
		g.told = append(g.told, fmt.Sprintf("life %d: %s; then %s did not arrive", g.lives, g.wrote, step))
		g.finish()
		return false
	}
	g.wrote, g.words = step, said
	g.written++
	g.flying.Add(1)
	return true
}

// isBetween says whether a write is one of a status, and not one of those that count: the first, and then some, where a life begins
// with it.
func (g *gate) isBetween(step string) bool {
	kind, _, is := strings.Cut(step, "/status")
	if !is || g.written > 0 {
		return is
	}
	g.statuses[kind]++
	return g.statuses[kind]%oftenEnough != 1
}

// isLost says whether the answer to a write is lost, which ends the life.
func (g *gate) isLost(said string, answered *httptest.ResponseRecorder) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.words != said {
		return g.over
	}
	if answered.Code >= http.StatusBadRequest {
		g.wrote, g.words = "", "" // nothing was written
		g.written--
		return g.over
	}
	var made struct{ Metadata struct{ Name string } }
	parts := 2
	if strings.HasPrefix(g.wrote, "tenant") || strings.HasPrefix(g.wrote, "place") {
		parts = 3
	}
	g.covered[strings.Join(strings.Fields(g.wrote)[:parts], " ")]++
	if strings.Contains(g.wrote, "post ") && json.Unmarshal(answered.Body.Bytes(), &made) == nil {
		g.wrote += " " + made.Metadata.Name
	}
	if g.over || g.written != g.limit || g.lives%2 == 0 {
		return g.over
	}
	g.told = append(g.told, fmt.Sprintf("life %d: %s, of which the answer was lost", g.lives, g.wrote))
	g.finish()
	return true
}

// finish ends the life.
func (g *gate) finish() {
	g.over = true
	g.end()
}

// isFree says whether a request writes nothing that anybody relies on, or only who leads.
func isFree(request *http.Request) bool {
	return request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events") || strings.Contains(request.URL.Path, "/leases")
}

// isSecret says whether Secrets are read.
func isSecret(request *http.Request) bool {
	return request.Method == http.MethodGet && strings.HasPrefix(request.URL.Path, "/api/v1/") && strings.Contains(request.URL.Path, "/secrets")
}

// stepOf says what a write does: the side if it is not the management cluster, the verb, the kind with its subresource, the name;
// and then the same in full.
func stepOf(side string, request *http.Request) (step, said string, err error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return "", "", err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	parts = parts[min(map[string]int{"api": 2, "apis": 3, "v1": 1}[parts[0]], len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	kind, name := parts[0], ""
	if len(parts) > 1 {
		name = parts[1]
	}
	if len(parts) > 2 {
		kind += "/" + parts[2]
	}
	step = strings.TrimSpace(side + " " + strings.ToLower(request.Method) + " " + kind + " " + name)
	return step, fmt.Sprintf("%s %x", step, sha256.Sum256(body)), nil
}
