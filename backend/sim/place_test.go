// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

const token = "token-of-the-test"

// owner is whose instances the tests ask for.
var owner = backend.Owner{Installation: "here", Cluster: "shop"}

// wanted is a machine.
var wanted = backend.Machine{Owner: owner, Name: "m", Spec: api.Machine{Sim: &api.SimMachine{}}, UserData: []byte("user-data-of-the-test")}

// placeOf is a place whose cloud answers as a function says.
func placeOf(t *testing.T, answer http.HandlerFunc) *Place {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	place, err := New(server.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// hang never answers. A server sees that its caller is gone only after it has read what it was sent.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// reasons are those of a Create, a Get, a List and a Delete.
func reasons(t *testing.T, place *Place) string {
	t.Helper()
	_, created := place.Create(t.Context(), wanted)
	_, got := place.Get(t.Context(), owner, "i-1")
	_, listed := place.List(t.Context(), owner)
	deleted := place.Delete(t.Context(), owner, "i-1")
	var found []string
	for _, err := range []error{created, got, listed, deleted} {
		if err == nil {
			found = append(found, "-")
			continue
		}
		found = append(found, string(backend.ReasonOf(err)))
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, token) || strings.Contains(text, "user-data") || strings.Contains(text, "\n") {
			t.Errorf("an error shows what is secret, or is not one line: %s", text)
		}
	}
	return strings.Join(found, " ")
}

// TestStatus is what answers mean that are not what was asked for, to each call.
func TestStatus(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		want   string
	}{
		"unauthorized":           {401, `{"code": "unauthorized"}`, "Denied Denied Denied Denied"},
		"forbidden by others":    {403, `no`, "Denied Denied Denied Denied"},
		"gone":                   {404, `{"code": "not_found", "message": "there is no instance"}`, "Unavailable Gone Unavailable -"},
		"gone, says a proxy":     {404, `<html>not found</html>`, "Unavailable Unavailable Unavailable Unavailable"},
		"gone, in other words":   {404, `{"error": "not found"}`, "Unavailable Unavailable Unavailable Unavailable"},
		"taken":                  {409, `{"code": "name_taken"}`, "Taken Taken Taken Taken"},
		"too fast":               {429, ``, "TooFast TooFast TooFast TooFast"},
		"no room":                {422, `{"code": "no_room"}`, "NoRoom NoRoom NoRoom NoRoom"},
		"invalid":                {400, `{"code": "invalid"}`, "Invalid Invalid Invalid Invalid"},
		"not available":          {503, `{"code": "unavailable"}`, "Unavailable Unavailable Unavailable Unavailable"},
		"lost":                   {504, `{"code": "timeout"}`, "Unsure Unavailable Unavailable Unsure"},
		"lost behind a proxy":    {502, `bad gateway`, "Unsure Unavailable Unavailable Unsure"},
		"broken":                 {500, ``, "Unsure Unavailable Unavailable Unsure"},
		"elsewhere":              {307, ``, "Unsure Unavailable Unavailable Unsure"},
		"not JSON":               {200, `<html>welcome</html>`, "Unsure Unavailable Unavailable -"},
		"nothing":                {200, `{}`, "Unsure Unavailable - -"},
		"another instance":       {200, `{"id": "i-2", "name": "other", "state": "Running"}`, "Unsure Unavailable - -"},
		"an instance in a daze":  {200, `{"id": "i-1", "name": "m", "state": "Dazed"}`, "Unsure Unavailable - -"},
		"a list of nothing":      {200, `{"instances": [{}]}`, "Unsure Unavailable Unavailable -"},
		"a list without an end":  {200, `{"instances": [], "next": "again"}`, "Unsure Unavailable Unavailable -"},
		"what was asked for":     {200, `{"id": "i-1", "name": "m", "state": "Running"}`, "- - - -"},
		"more than can be right": {200, `{"id": "` + strings.Repeat("i", largest) + `"}`, "Unsure Unavailable Unavailable Unsure"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			place := placeOf(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+token {
					t.Errorf("the call has no token")
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			})
			if diff := cmp.Diff(test.want, reasons(t, place)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSilence is what no answer means, by how it does not come.
func TestSilence(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	nobody, err := New(closed.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	never := placeOf(t, hang)
	never.caller.client.Timeout = 20 * time.Millisecond
	cut := placeOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	half := placeOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"id": "i-1"`))
	})
	tests := map[string]struct {
		place *Place
		want  string
	}{
		"nobody is there":     {nobody, "Unavailable Unavailable Unavailable Unavailable"},
		"it never answers":    {never, "Unsure Unavailable Unavailable Unsure"},
		"the line is cut":     {cut, "Unsure Unavailable Unavailable Unsure"},
		"it answers one half": {half, "Unsure Unavailable Unavailable Unsure"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, reasons(t, test.place)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAfter wants to know how long to wait, and to wait also where nobody said how long.
func TestAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "": time.Second, "soon": time.Second, "-1": time.Second, "99999": time.Second} {
		place := placeOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if _, err := place.Get(t.Context(), owner, "i-1"); backend.After(err) != want {
			t.Errorf("%q: %s, want %s", header, backend.After(err), want)
		}
	}
}

// TestContext wants the context's own error in the chain.
func TestContext(t *testing.T) {
	place := placeOf(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range 2 { // meanwhile, and then before
		if _, err := place.Create(ctx, wanted); !errors.Is(err, context.DeadlineExceeded) || backend.ReasonOf(err) != backend.Unsure {
			t.Error(err)
		}
	}
}

// TestElsewhere wants the token to stay where it belongs.
func TestElsewhere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it went elsewhere") }))
	defer elsewhere.Close()
	place := placeOf(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if _, err := place.Get(t.Context(), owner, "i-1"); backend.ReasonOf(err) != backend.Unavailable {
		t.Error(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %+v", place, place, place, place.caller); strings.Contains(text, token) {
		t.Errorf("the place shows its token: %s", text)
	}
}

// TestPaths wants an ID to name itself and nothing else.
func TestPaths(t *testing.T) {
	var asked []string
	place := placeOf(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(Failure{Code: CodeGone})
	})
	for _, id := range []string{"", ".", ".."} {
		_, err := place.Get(t.Context(), owner, id)
		if backend.ReasonOf(err) != backend.Invalid || backend.ReasonOf(place.Delete(t.Context(), owner, id)) != backend.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := place.Delete(t.Context(), owner, "../a?b=c#d"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"DELETE /v1/instances/..%2Fa%3Fb=c%23d?cluster=shop&installation=here"}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestNew is what is not the address of a place.
func TestNew(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:80", "http://cloud.example.com", "http://user@127.0.0.1", "http://127.0.0.1/path", "http://127.0.0.1?a=b", "ftp://127.0.0.1", "http://\x7f"} {
		if _, err := New(address, token); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"http://127.0.0.1:80", "http://127.8.9.1:80/", "http://[::1]:80", "http://localhost:80", "https://cloud.example.com"} {
		if _, err := New(address, token); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := New("http://127.0.0.1:80", ""); err == nil {
		t.Error("it needs no token")
	}
}

// TestWire wants what is said to arrive, with sizes in whole units.
func TestWire(t *testing.T) {
	machine := wanted
	machine.Pool, machine.Image = "workers", backend.Image{URL: "https://example.com", Version: "v1.13.9", Schematic: "0123"}
	machine.Spec.Sim = &api.SimMachine{GPU: api.GPUAMD, Resources: &api.Resources{CPU: resource.MustParse("1500m"), Memory: resource.MustParse("1000M")}}
	got := WantedOf(machine)
	if diff := cmp.Diff(Size{CPUs: 2, MemoryMiB: 954, GPU: "AMD"}, got.Size); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, WantedOf(got.Machine())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Size{}, SizeOf(Size{}.Machine())); diff != "" {
		t.Error(diff)
	}
}
