// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	wire "minos.dev/minos/backend/sim"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/conduct"
)

// largest is how long the body of a call may be: user data in base64, and room for the rest.
const largest = wire.UserData/3*4 + 32<<10

// Handler is the API of the cloud, for those who have one of the credentials.
func (c *Cloud) Handler(credentials ...string) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("POST "+wire.Root, c.serveCreate)
	routes.HandleFunc("GET "+wire.Root, c.serveList)
	routes.HandleFunc("GET "+wire.Root+"/{id}", c.serveGet)
	routes.HandleFunc("DELETE "+wire.Root+"/{id}", c.serveDelete)
	var valid [][sha256.Size]byte
	for _, credential := range credentials {
		if credential != "" {
			valid = append(valid, sha256.Sum256([]byte(credential)))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !admitted(r, valid) {
			c.tell("", "%s: the credentials are not known", strings.ToLower(r.Method))
			refuse(w, backend.Fail(backend.Denied, "the credentials are not valid: give others"))
			return
		}
		routes.ServeHTTP(w, r)
	})
}

// admitted says whether a call has one of the credentials. How long that takes says nothing about them.
func admitted(r *http.Request, valid [][sha256.Size]byte) bool {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	given := sha256.Sum256([]byte(token))
	matches := 0
	for _, known := range valid {
		matches |= subtle.ConstantTimeCompare(given[:], known[:])
	}
	return found && matches == 1
}

// serveCreate makes an instance.
func (c *Cloud) serveCreate(w http.ResponseWriter, r *http.Request) {
	wanted, err := decode(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		refuse(w, err)
		return
	}
	made, err := c.Create(r.Context(), wanted.Machine())
	if err != nil {
		c.fail(w, conduct.Create, err)
		return
	}
	respond(w, http.StatusOK, wire.ShownOf(made))
}

// decode reads what is wanted. It says what is wrong without a word of what it read: some of that is secret.
func decode(body io.Reader) (wire.Wanted, error) {
	var wanted wire.Wanted
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&wanted)
	if err == nil {
		_, err = decoder.Token() // there is nothing behind it
	}
	if errors.Is(err, io.EOF) && wanted.Name != "" {
		return wanted, checkSize(wanted.Size)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wire.Wanted{}, backend.Fail(backend.Invalid, "the body has more than %d bytes: make the user data smaller", largest)
	}
	return wire.Wanted{}, backend.Fail(backend.Invalid, "the body is not the JSON of an instance with a name")
}

// serveGet shows one.
func (c *Cloud) serveGet(w http.ResponseWriter, r *http.Request) {
	found, err := c.Get(r.Context(), ownerOf(r), r.PathValue("id"))
	if err != nil {
		c.fail(w, conduct.Get, err)
		return
	}
	respond(w, http.StatusOK, wire.ShownOf(found))
}

// serveList shows a part of all.
func (c *Cloud) serveList(w http.ResponseWriter, r *http.Request) {
	owner := ownerOf(r)
	if err := checkOwner(owner); err != nil {
		refuse(w, err)
		return
	}
	found, next, err := c.Page(r.Context(), owner, r.URL.Query().Get(wire.QueryCursor))
	if err != nil {
		c.fail(w, conduct.List, err)
		return
	}
	page := wire.Page{Instances: []wire.Shown{}, Next: next}
	for _, instance := range found {
		page.Instances = append(page.Instances, wire.ShownOf(instance))
	}
	respond(w, http.StatusOK, page)
}

// serveDelete removes one.
func (c *Cloud) serveDelete(w http.ResponseWriter, r *http.Request) {
	if err := c.Delete(r.Context(), ownerOf(r), r.PathValue("id")); err != nil {
		c.fail(w, conduct.Delete, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// ownerOf is whose instances a call is about.
func ownerOf(r *http.Request) backend.Owner {
	query := r.URL.Query()
	return backend.Owner{Installation: query.Get(wire.QueryInstallation), Cluster: query.Get(wire.QueryCluster)}
}

// fail answers a call that failed. An answer that is lost is lost in both ways that there are: of a Create the connection is
// cut, of others something in between has waited for too long.
func (c *Cloud) fail(w http.ResponseWriter, call conduct.Call, err error) {
	if call == conduct.Create && backend.ReasonOf(err) == backend.Unsure {
		panic(http.ErrAbortHandler) // net/http's own way to cut the connection
	}
	refuse(w, err)
}

// answers are the status and the code of each reason.
var answers = map[backend.Reason]struct {
	status int
	code   string
}{
	backend.Gone:        {http.StatusNotFound, wire.CodeGone},
	backend.Taken:       {http.StatusConflict, wire.CodeTaken},
	backend.NoRoom:      {http.StatusUnprocessableEntity, wire.CodeNoRoom},
	backend.TooFast:     {http.StatusTooManyRequests, wire.CodeTooFast},
	backend.Denied:      {http.StatusUnauthorized, wire.CodeDenied},
	backend.Invalid:     {http.StatusBadRequest, wire.CodeInvalid},
	backend.Unavailable: {http.StatusServiceUnavailable, wire.CodeUnavailable},
	backend.Unsure:      {http.StatusGatewayTimeout, wire.CodeUnsure},
}

// refuse answers with a failure.
func refuse(w http.ResponseWriter, err error) {
	answer := answers[backend.ReasonOf(err)]
	if after := backend.After(err); after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	respond(w, answer.status, wire.Failure{Code: answer.code, Message: err.Error()})
}

// respond writes an answer.
func respond(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(http.ErrAbortHandler) // what we answer with can be written
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the caller may be gone
}
