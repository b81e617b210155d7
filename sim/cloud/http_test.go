// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	wire "minos.dev/minos/backend/sim"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
)

// inMemory is a cloud that keeps nothing.
func inMemory(t testing.TB, behaviour conduct.Behaviour) *cloud.Cloud {
	t.Helper()
	c, err := cloud.Open(cloud.Options{Rack: cloudtest.Rack(t), Keeper: conduct.NewKeeper(1, 1, behaviour)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// asks is an answer of the API to a call such as "GET /v1/instances" of whoever has the token "a".
func asks(handler http.Handler, call string, body []byte) *httptest.ResponseRecorder {
	return asksAs(handler, call, "Bearer a", body)
}

// asksAs is an answer of the API to somebody.
func asksAs(handler http.Handler, call, authorization string, body []byte) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(call, " ")
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// body is a valid call for an instance.
func body(t testing.TB, name string) []byte {
	t.Helper()
	text, err := json.Marshal(wire.WantedOf(cloudtest.Machine(owner, name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCredentials is who is let in.
func TestCredentials(t *testing.T) {
	c := inMemory(t, conduct.Behaviour{})
	tests := map[string]struct {
		known []string
		given string
		want  int
	}{
		"the token":           {[]string{"a", "b"}, "Bearer b", http.StatusOK},
		"another":             {[]string{"a"}, "Bearer b", http.StatusUnauthorized},
		"a part":              {[]string{"ab"}, "Bearer a", http.StatusUnauthorized},
		"none":                {[]string{"a"}, "", http.StatusUnauthorized},
		"another way":         {[]string{"a"}, "Basic a", http.StatusUnauthorized},
		"no token is known":   {nil, "Bearer ", http.StatusUnauthorized},
		"an empty one is":     {[]string{""}, "Bearer ", http.StatusUnauthorized},
		"an empty one is not": {[]string{""}, "", http.StatusUnauthorized},
	}
	for name, test := range tests {
		answer := asksAs(c.Handler(test.known...), "GET "+wire.Root+"?installation=here&cluster=shop", test.given, nil)
		if answer.Code != test.want {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}

// TestAnswers is what the API says to those who do not call as the client does.
func TestAnswers(t *testing.T) {
	handler := inMemory(t, conduct.Behaviour{Quota: 1}).Handler("a")
	mine := "?installation=here&cluster=shop"
	made := asks(handler, "POST "+wire.Root, body(t, "m"))
	var shown wire.Shown
	if err := json.Unmarshal(made.Body.Bytes(), &shown); err != nil || made.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", made.Code, made.Body, err)
	}
	long := bytes.Replace(body(t, "m"), []byte(`"userData":"`), append([]byte(`"userData":"`), bytes.Repeat([]byte("QUJD"), 40<<10)...), 1)
	fat := bytes.Replace(body(t, "m"), []byte(`"userData":"`), append([]byte(`"userData":"`), bytes.Repeat([]byte("QUJD"), 22<<10)...), 1)
	tests := []struct {
		method, target string
		body           []byte
		status         int
		says           string
	}{
		{http.MethodGet, wire.Root + "/" + shown.ID + mine, nil, http.StatusOK, `"state":"Running"`},
		{http.MethodGet, wire.Root + "/" + shown.ID, nil, http.StatusNotFound, `"code":"not_found"`},
		{http.MethodGet, wire.Root + "/i-0" + mine, nil, http.StatusNotFound, `"code":"not_found"`},
		{http.MethodGet, wire.Root, nil, http.StatusBadRequest, `"code":"invalid"`},
		{http.MethodGet, wire.Root + mine + "&cursor=%25", nil, http.StatusBadRequest, "begin without one"},
		{http.MethodGet, "/v1/machines", nil, http.StatusNotFound, "404 page not found"},
		{http.MethodPut, wire.Root, nil, http.StatusMethodNotAllowed, ""},
		{http.MethodPost, wire.Root, body(t, "other"), http.StatusUnprocessableEntity, `"code":"no_room"`},
		{http.MethodPost, wire.Root, append(body(t, "m"), '1'), http.StatusBadRequest, `"code":"invalid"`},
		{http.MethodPost, wire.Root, []byte(`{"name": "m", "colour": "secret"}`), http.StatusBadRequest, "not the JSON of an instance"},
		{http.MethodPost, wire.Root, []byte(`{"name": "m", "size": {"memoryMiB": 9223372036854775807}}`), http.StatusBadRequest, "size: "},
		{http.MethodPost, wire.Root, nil, http.StatusBadRequest, "not the JSON of an instance"},
		{http.MethodPost, wire.Root, long, http.StatusBadRequest, "make the user data smaller"},
		{http.MethodPost, wire.Root, fat, http.StatusBadRequest, "65536 fit"},
		{http.MethodDelete, wire.Root + "/" + shown.ID, nil, http.StatusNotFound, `"code":"not_found"`},
		{http.MethodDelete, wire.Root + "/" + shown.ID + mine, nil, http.StatusAccepted, ""},
	}
	for _, test := range tests {
		answer := asks(handler, test.method+" "+test.target, test.body)
		if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.says) {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.target, answer.Code, answer.Body, test.status, test.says)
		}
		if text := answer.Body.String(); strings.Contains(text, "secret") || strings.Contains(text, "c2VjcmV0") {
			t.Errorf("%s %s shows what it was given: %s", test.method, test.target, text)
		}
	}
}

// TestRetryAfter wants whole seconds that are long enough.
func TestRetryAfter(t *testing.T) {
	handler := inMemory(t, conduct.Behaviour{Rate: 0.4, Burst: 1}).Handler("a")
	list := func() *httptest.ResponseRecorder {
		return asks(handler, "GET "+wire.Root+"?installation=here&cluster=shop", nil)
	}
	first, second := list(), list()
	if first.Code != http.StatusOK || second.Code != http.StatusTooManyRequests || second.Header().Get("Retry-After") != "3" {
		t.Errorf("%d, then %d after %q", first.Code, second.Code, second.Header().Get("Retry-After"))
	}
}

// TestListen wants the API to be on loopback and nowhere else, and to end with its context.
func TestListen(t *testing.T) {
	c := inMemory(t, conduct.Behaviour{})
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "localhost:0", "127.0.0.1", ""} {
		if _, err := c.Listen(t.Context(), address, "a"); err == nil || !strings.Contains(err.Error(), "is not an address of loopback") {
			t.Errorf("%q: %v", address, err)
		}
	}
	server, err := c.Listen(t.Context(), "127.0.0.1:0", "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Listen(t.Context(), strings.TrimPrefix(server.URL(), "http://"), "a"); err == nil || !strings.Contains(err.Error(), "free the port") {
		t.Errorf("the same port twice: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Run(ctx); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("it answers after its end")
	}
}

// FuzzCreate wants rubbish to be refused, whatever it is. The cloud is full, so that what is not rubbish is refused too.
func FuzzCreate(f *testing.F) {
	c := inMemory(f, conduct.Behaviour{Faults: []conduct.Fault{{Kind: conduct.Full}}})
	handler := c.Handler("a")
	f.Add([]byte(nil))
	f.Add([]byte("{}"))
	f.Add([]byte(`{"name": "m", "userData": "%"}`))
	f.Add([]byte(`{"name": "m", "size": {"cpus": -1, "memoryMiB": 1e30}, "image": {"version": "v1.13.9"}}`))
	f.Add(body(f, "m"))
	f.Add(body(f, "../m"))
	f.Fuzz(func(t *testing.T, text []byte) {
		answer := asks(handler, "POST "+wire.Root, text)
		var failure wire.Failure
		if err := json.Unmarshal(answer.Body.Bytes(), &failure); err != nil || failure.Code == "" || failure.Message == "" {
			t.Errorf("%s: %v", answer.Body, err)
		}
		if answer.Code < 400 || answer.Code > 499 || len(c.Instances()) > 0 {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}
