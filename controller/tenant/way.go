// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// guarded is a way to an API server that a tenant has named. It leads to no refused network, whatever a name resolves to, and what
// does not answer as an API server does is not heard: whoever may write a kubeconfig could otherwise ask for anything that only
// the operator reaches, and read the answer in a condition. It goes through no proxy, also not the one of the operator's own
// environment: that would dial in its place, and reach what it may not.
func guarded(config *rest.Config, refused []netip.Prefix) (*rest.Config, error) {
	config.Dial = dial(refused)
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return careful{next} })
	made, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	where, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	// Every client that is made from it shares its connections: one with a dialer of its own would get, and keep, some for itself.
	return &rest.Config{
		Host: where.String(), Transport: made.Transport, Timeout: config.Timeout, QPS: config.QPS, Burst: config.Burst, UserAgent: config.UserAgent,
	}, nil
}

// Dial connects to an address that a tenant has named, but not to refused networks.
func (c *Clients) Dial(ctx context.Context, address string) (net.Conn, error) {
	return dial(c.Refused)(ctx, "tcp", address)
}

// dial connects, but not to refused networks. The address is looked at that is dialled, after its name was resolved.
func dial(refused []netip.Prefix) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		found, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		at := found.Addr().WithZone("").Unmap()
		for _, network := range refused {
			if network.Contains(at) {
				return fmt.Errorf("%s is in %s, where no cluster may lead: give an address that others reach it at", at, network)
			}
		}
		return nil
	}}
	return dialer.DialContext
}

// careful hears only what an API server says.
type careful struct{ next http.RoundTripper }

// longest is how long an error of an API server may be.
const longest = 64 << 10

// RoundTrip asks. An answer that sends elsewhere is not followed, and of an error that is not one of Kubernetes only the code is left.
func (c careful) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil || response.StatusCode < http.StatusMultipleChoices {
		return response, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, longest))
	_ = response.Body.Close() // all that is wanted of it was read
	if response.StatusCode < http.StatusBadRequest {
		return nil, fmt.Errorf("%s answers with code %d and sends elsewhere, as no API server does", request.URL.Host, response.StatusCode)
	}
	if err != nil || !isStatus(text) {
		text = nil
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, nil
}

// isStatus says whether a text is an error as Kubernetes writes them, in one of the forms that are asked for.
func isStatus(text []byte) bool {
	if bytes.HasPrefix(text, []byte("k8s\x00")) {
		return true
	}
	var read struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	return json.Unmarshal(text, &read) == nil && read.APIVersion == "v1" && read.Kind == "Status"
}
