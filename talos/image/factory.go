// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// PublicFactory is the Image Factory that everybody can use.
const PublicFactory = "https://factory.talos.dev"

// publicPXE is the host of the public factory for machines that boot from the network.
const publicPXE = "pxe.factory.talos.dev"

// parseFactory reads the address of a factory. Its path is kept, for one that is served below a prefix.
func parseFactory(address string) (*url.URL, error) {
	if address == "" {
		address = PublicFactory
	}
	factory, err := url.Parse(address)
	switch {
	case strings.Contains(address, "@"): // before all errors that show the address
		return nil, errors.New("the address of the factory holds a user name: leave it out, because references to images are public")
	case err != nil || factory.Host == "" || factory.Scheme != "https" && factory.Scheme != "http":
		return nil, fmt.Errorf("factory %q is not an address such as %s", address, PublicFactory)
	case factory.RawQuery != "" || factory.Fragment != "":
		return nil, fmt.Errorf("factory %q has something after its path: leave that out", address)
	}
	return factory, nil
}

// pxeOf returns where a factory serves PXE scripts: the public one has a host for it.
func pxeOf(factory *url.URL) *url.URL {
	if factory.Scheme+"://"+factory.Host == PublicFactory {
		return &url.URL{Scheme: factory.Scheme, Host: publicPXE}
	}
	return factory
}
