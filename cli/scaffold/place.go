// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// longestName is how long the name of a cluster may be, so that those of its pools fit.
const longestName = 32

var (
	labelForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	hostForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	linkForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,14}$`)
)

// label says whether a text can be the name of an object or of a host.
func label(text string) bool { return len(text) <= 63 && labelForm.MatchString(text) }

// hosts reads machines as NAME=ADDRESS.
func hosts(flag, text string) ([]Host, error) {
	var found []Host
	for _, one := range fields(text) {
		name, address, ok := strings.Cut(one, "=")
		if !ok {
			return nil, wrong(flag, "%q is not of the form NAME=ADDRESS, for example node-1=192.0.2.11", one)
		}
		if !label(name) {
			return nil, wrong(flag, "%q: a host is named with lower-case letters, digits and '-'", name)
		}
		if _, err := netip.ParseAddr(address); err != nil {
			return nil, wrong(flag, "%s: %q is not an IP address, such as 192.0.2.11", name, address)
		}
		found = append(found, Host{Name: name, Address: address})
	}
	return found, nil
}

// presetEndpoint is the one control plane itself, or something to be changed. Of machines that were named nobody can
// guess it.
func presetEndpoint(a *Answers) string {
	switch planes := a.planes(); {
	case a.hosted():
		return ""
	case len(planes) == 1:
		return planes[0].Address
	case len(a.Planes) > 0:
		return ""
	case a.Platform == Cloud:
		return fmt.Sprintf("api.%s.example.com", a.Name)
	}
	return a.preset().network + "10"
}

// setEndpoint takes the endpoint. A hosted control plane brings its own.
func setEndpoint(a *Answers, text string) error {
	_, err := netip.ParseAddr(text)
	switch {
	case text == "" && a.hosted():
	case text == "":
		return wrong("endpoint", "several control planes need one of their own: give a free address that they share and --vip-link, or a load balancer")
	case err != nil && !hostForm.MatchString(text):
		return wrong("endpoint", "%q is not a host name or an IP address, without https:// and without a port", text)
	}
	a.Endpoint = text
	return nil
}

// presetLink is a guess to go with an address that is one. An address that was given may be a load balancer's.
func presetLink(a *Answers) string {
	if a.guessed["endpoint"] {
		return "eno1"
	}
	return ""
}

// setLink takes the link, if there is one.
func setLink(a *Answers, text string) error {
	if text == None {
		text = ""
	}
	if text != "" && !linkForm.MatchString(text) {
		return wrong("vip-link", "%q is not the name of a network link, such as eno1", text)
	}
	a.Link = text
	return nil
}

// setOwner takes who decides.
func setOwner(a *Answers, text string) error {
	if text == "" {
		return wrong("owner", "nobody is named: give a person or a team, or set USER")
	}
	a.Owner = text
	return nil
}

// setDate takes the date.
func setDate(a *Answers, text string) error {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return wrong("date", "%q is not a date such as 2026-11-15", text)
	}
	a.Date = text
	return nil
}
