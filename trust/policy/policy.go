// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/netip"
	"slices"
)

// maxAsked is how many names and addresses one machine may ask for. A worker with every interface that anybody has seen
// asks for a few dozen.
const maxAsked = 256

// Rules is what a token allows. The zero value allows every name and address that is not an own one.
type Rules struct {
	// Networks hold every address of the machine. None means any.
	Networks []netip.Prefix
	// Names match every name of the machine. None means any.
	Names []Pattern
	// RequireSource wants the request to come from one of the addresses that it asks for.
	RequireSource bool
}

// Asked is what a request asks for, and where it came from.
type Asked struct {
	CommonName string
	Names      []string
	Addresses  []netip.Addr
	Source     netip.Addr
}

// Granted is what the certificate will carry.
type Granted struct {
	CommonName string
	Names      []string
	Addresses  []netip.Addr
	// Own are those asked for that belong to the control plane or the signer: left out, or in, as the mode says.
	Own []string
}

// A Reason is why a request is refused, for counting.
type Reason string

const (
	// ReasonMalformed is a name or address that cannot be one.
	ReasonMalformed Reason = "malformed"
	// ReasonOwn is a name or address of the control plane or the signer.
	ReasonOwn Reason = "own-name"
	// ReasonNetwork is an address outside of what the token allows.
	ReasonNetwork Reason = "network"
	// ReasonName is a name outside of what the token allows.
	ReasonName Reason = "name"
	// ReasonSource is a request from elsewhere than the machine's addresses.
	ReasonSource Reason = "source"
)

// A Refusal says why a request was refused, in words for the one who asked.
type Refusal struct {
	Reason Reason
	text   string
}

// Error is the words.
func (r *Refusal) Error() string { return r.text }

// Judge decides what of a request is granted, or refuses all of it.
func Judge(own Own, mode Mode, rules Rules, asked Asked) (Granted, *Refusal) {
	if count := len(asked.Names) + len(asked.Addresses); count > maxAsked {
		return Granted{}, &Refusal{ReasonMalformed, fmt.Sprintf("%d names and addresses are more than %d", count, maxAsked)}
	}
	j := &judge{own: own, mode: mode, rules: rules}
	granted := Granted{
		CommonName: asked.CommonName,
		Names:      settle(j, asked.Names, j.name, func(name string) string { return name }),
		Addresses:  settle(j, asked.Addresses, j.address, netip.Addr.String),
	}
	j.commonName(asked.CommonName)
	j.source(granted.Addresses, asked.Source)
	if j.refusal != nil {
		return Granted{}, j.refusal
	}
	granted.Own = j.found
	return granted, nil
}

// A judge remembers the first refusal and the own names that were asked for.
type judge struct {
	own     Own
	mode    Mode
	rules   Rules
	found   []string
	refusal *Refusal
}

func (j *judge) refuse(reason Reason, format string, args ...any) {
	if j.refusal == nil {
		j.refusal = &Refusal{reason, fmt.Sprintf(format, args...)}
	}
}

// settle keeps what is fine; with what is own it does as the mode says.
func settle[T any](j *judge, asked []T, belongs func(T) bool, text func(T) string) []T {
	var kept []T
	for _, one := range asked {
		if !belongs(one) {
			kept = append(kept, one)
			continue
		}
		if !slices.Contains(j.found, text(one)) {
			j.found = append(j.found, text(one))
		}
		switch j.mode {
		case Allow:
			kept = append(kept, one)
		case Drop:
		default:
			j.refuse(ReasonOwn, "%q belongs to the control plane or the signer", text(one))
		}
	}
	return kept
}

// commonName is a name too, and there are programs that still go by it. It cannot be left out: a worker without is not
// told from another in a log.
func (j *judge) commonName(text string) {
	if text == "" || !j.name(text) {
		return
	}
	if j.mode != Allow {
		j.refuse(ReasonOwn, "common name %q belongs to the control plane or the signer", text)
	}
	if !slices.Contains(j.found, text) {
		j.found = append(j.found, text)
	}
}

// name says whether a name is an own one, or refuses it. What is own is not held against the token: the mode alone
// answers it.
func (j *judge) name(text string) bool {
	name := normal(text)
	// Some programs take an address that is written as a name for that address.
	if address, err := netip.ParseAddr(name); err == nil {
		return j.address(address)
	}
	switch {
	case !isName(name):
		j.refuse(ReasonMalformed, "%q is no name of one machine", clip(text))
	case name == localhost:
	case j.own.hasName(name):
		return true
	case len(j.rules.Names) > 0 && !slices.ContainsFunc(j.rules.Names, func(p Pattern) bool { return p.Matches(name) }):
		j.refuse(ReasonName, "name %q is not one that this token allows", text)
	}
	return false
}

// address says whether an address is an own one, or refuses it.
func (j *judge) address(address netip.Addr) bool {
	address = address.Unmap()
	switch {
	case !address.IsValid() || address.IsUnspecified() || address.IsMulticast() || address.Zone() != "":
		j.refuse(ReasonMalformed, "%q is no address of one machine", clip(address.String()))
	case isLocal(address):
	case j.own.hasAddress(address):
		return true
	case len(j.rules.Networks) > 0 && !within(j.rules.Networks, address):
		j.refuse(ReasonNetwork, "address %s is not in a network that this token allows", address)
	}
	return false
}

// source holds the source against the addresses. Loopback does not count, since every machine asks for it: behind a proxy
// on the signer's own machine the rule would say yes to everybody.
func (j *judge) source(addresses []netip.Addr, source netip.Addr) {
	source = source.Unmap()
	same := func(address netip.Addr) bool { return address.Unmap() == source }
	if j.rules.RequireSource && (isLocal(source) || !slices.ContainsFunc(addresses, same)) {
		j.refuse(ReasonSource, "the request comes from %s, which is not one of the addresses that it asks for", source)
	}
}

// clip keeps what a stranger wrote from filling a log.
func clip(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
