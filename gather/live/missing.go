// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
)

// named is how many machines a line names that is about many.
const named = 3

// A gap is what could not be read for one reason, and of which machines.
type gap struct {
	what, why string
	machines  []string
}

// missing says in lines what could not be read: what many machines have in common is one line.
func missing(readings []facts.Reading) []string {
	var gaps []*gap
	for _, reading := range readings {
		for _, found := range gapsOf(reading) {
			same := func(other *gap) bool { return other.what == found.what && other.why == found.why }
			if at := slices.IndexFunc(gaps, same); at >= 0 {
				gaps[at].machines = append(gaps[at].machines, found.machines...)
				continue
			}
			gaps = append(gaps, found)
		}
	}
	var lines []string
	for _, one := range gaps {
		lines = append(lines, one.String())
	}
	return lines
}

// gapsOf is what could not be read of one machine, or of the API server.
func gapsOf(reading facts.Reading) []*gap {
	who := reading.Node
	if who == "" {
		who = "the cluster"
	}
	var found []*gap
	for _, one := range reading.Unread {
		kind, _, _ := strings.Cut(one.What, ".")
		if at := slices.IndexFunc(found, func(other *gap) bool { return other.why == one.Why }); at >= 0 {
			found[at].what += ", " + kind
			continue
		}
		found = append(found, &gap{what: kind, why: one.Why, machines: []string{who}})
	}
	return found
}

// String says so in one line.
func (g *gap) String() string {
	who := strings.Join(g.machines[:min(len(g.machines), named)], ", ")
	if more := len(g.machines) - named; more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("could not read %s of %s: %s", g.what, who, g.why)
}
