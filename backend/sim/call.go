// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"minos.dev/minos/backend"
)

// How long a call may take, and how large an answer may be.
const (
	dialing   = 5 * time.Second
	answering = time.Minute
	largest   = 4 << 20
)

// A caller speaks HTTP to the cloud. Its token is inside a function, where no format shows it.
type caller struct {
	base      url.URL
	authorize func(http.Header)
	client    *http.Client
}

// newCaller checks the address and the token.
func newCaller(address, token string) (caller, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Path != "" && base.Path != "/" {
		return caller{}, errors.New("the address of the place is not a URL such as http://127.0.0.1:8080: give one without a user, a path or a query")
	}
	if base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())) {
		return caller{}, fmt.Errorf("the address of the place is %s://%s, over which the token could be read: use https, or http on loopback", base.Scheme, base.Host)
	}
	if token == "" {
		return caller{}, errors.New("the place needs a token: give the one with which the cloud was started")
	}
	transport := &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialing}).DialContext, TLSHandshakeTimeout: dialing, ResponseHeaderTimeout: answering,
		IdleConnTimeout: answering, MaxIdleConnsPerHost: 8,
	}
	client := &http.Client{
		Transport: transport, Timeout: answering,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for one place
	}
	authorize := func(header http.Header) { header.Set("Authorization", "Bearer "+token) }
	return caller{base: url.URL{Scheme: base.Scheme, Host: base.Host}, authorize: authorize, client: client}, nil
}

// isLoopback says whether a host is this one, without asking anybody for the address of a name.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// A request is one call.
type request struct {
	method, path string
	query        url.Values
	body         any
}

// changes says whether a call does something, so that one without an answer may have done it.
func (r request) changes() bool { return r.method != http.MethodGet }

// doubt is the reason of a failure that does not say whether the call was done.
func (r request) doubt() backend.Reason {
	if r.changes() {
		return backend.Unsure
	}
	return backend.Unavailable
}

// call asks and reads the answer.
func (c caller) call(ctx context.Context, asked request, into any) error {
	if err := ctx.Err(); err != nil {
		return &backend.Error{Reason: backend.Unsure, Message: fmt.Sprintf("the call ended before it began: %v", err), Cause: err}
	}
	made, err := c.request(ctx, asked)
	if err != nil {
		return err
	}
	answer, err := c.client.Do(made)
	if err != nil {
		return silent(ctx, asked, err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, largest+1))
	switch {
	case err != nil:
		return silent(ctx, asked, err)
	case len(text) > largest:
		return backend.Fail(asked.doubt(), "the place answered with more than %d bytes: look whether %s is a simulated cloud", largest, c.base.Host)
	case answer.StatusCode/100 != 2:
		return refusal(asked, answer, text)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return backend.Fail(asked.doubt(), "the place answered with something that is not JSON: look whether %s is a simulated cloud", c.base.Host)
	}
	return nil
}

// request writes a call down.
func (c caller) request(ctx context.Context, asked request) (*http.Request, error) {
	var body io.Reader
	if asked.body != nil {
		text, err := json.Marshal(asked.body)
		if err != nil {
			return nil, backend.Fail(backend.Invalid, "the call cannot be written as JSON") // the error could quote what is secret
		}
		body = bytes.NewReader(text)
	}
	at, err := url.Parse(c.base.String() + asked.path)
	if err != nil {
		return nil, backend.Fail(backend.Invalid, "%s is not a path", asked.path)
	}
	at.RawQuery = asked.query.Encode()
	made, err := http.NewRequestWithContext(ctx, asked.method, at.String(), body)
	if err != nil {
		return nil, backend.Fail(backend.Invalid, "%s is not a path", asked.path)
	}
	c.authorize(made.Header)
	made.Header.Set("Accept", "application/json")
	if body != nil {
		made.Header.Set("Content-Type", "application/json")
	}
	return made, nil
}
