// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"slices"

	"minos.dev/minos/adopt/patch"
	"minos.dev/minos/adopt/proof"
)

// closing is the origin of patches that nobody wrote.
var closing = Origin{File: "keeps what would differ otherwise"}

// closeGaps adds patches for what differs still, where that can be said, and reports whether it added any. What only Minos
// may say, and what must not be readable, stays a difference.
func (p *plan) closeGaps(rendered map[string][]byte, options Options) bool {
	closed := false
	clean := newCleaner(p.source, p.contract, options.Plaintext)
	clean.dropped = p.dropped
	for _, pool := range p.pools {
		var lists []*[]Step
		for _, host := range pool.hosts {
			gaps := p.gaps(host, rendered[host.name], clean)
			p.notePinned(pool, host, gaps)
			movable, own := divided(gaps, host.steps)
			host.steps = append(host.steps, own...)
			closed = closed || len(own)+len(movable) > 0
			lists = append(lists, &movable)
		}
		pool.steps = append(pool.steps, hoist(lists, func(Step) bool { return true })...)
		for i, host := range pool.hosts {
			host.steps = append(host.steps, *lists[i]...)
		}
	}
	return closed
}

// notePinned says of an installer image that it stands as a patch, unless the role's reason has said so already.
func (p *plan) notePinned(pool *pool, host *host, gaps []Step) {
	for _, gap := range gaps {
		fields := gap.Patches[0].Fields
		if pool.role.why != "" || patch.Get(fields, "machine", "install", "image") == nil && patch.Get(fields, "installer", "image") == nil {
			continue
		}
		pool.role.why = "the installer image is another than that of the role"
		p.left = append(p.left, Remark{Origin: host.machine.Origin, Text: pool.role.why + ": it stands as a patch, to be changed by hand with every upgrade"})
	}
}

// divided tells patches that may move up to the pool from those that must stay with the host: what a host says by fields
// comes after the pool, and some patches of the host may care.
func divided(gaps, steps []Step) (movable, own []Step) {
	for _, gap := range gaps {
		stays := slices.ContainsFunc(steps, func(step Step) bool { return !patch.Commute(step.documents(), gap.documents()) })
		for _, fields := range gap.documents() {
			kind, _ := fields["kind"].(string)
			stays = stays || kind != "" && ownFields[kind] != nil ||
				patch.Get(fields, "machine", "install", "disk") != nil || patch.Get(fields, "machine", "network", "hostname") != nil
		}
		if stays {
			own = append(own, gap)
			continue
		}
		movable = append(movable, gap)
	}
	return movable, own
}

// gaps are the patches that lead from our configuration of a host to theirs.
func (p *plan) gaps(host *host, rendered []byte, clean *cleaner) []Step {
	ours, err := patch.Load(rendered)
	if err != nil {
		return nil
	}
	rules := p.rules()
	left, right := proof.Normal(ours.Documents(), rules), proof.Normal(host.machine.Config.Documents(), rules)
	before, err := patch.From(left)
	if err != nil {
		return nil
	}
	after, err := patch.From(right)
	if err != nil {
		return nil
	}
	patches, err := patch.Diff(before, after)
	if err != nil {
		return nil
	}
	var steps []Step
	for _, fields := range split(patches) {
		if image := installerOf(host.machine.Config).reference; patch.Get(fields, "machine", "install", "image") != nil {
			patch.Set(fields, image, "machine", "install", "image") // as they name it
		}
		steps = append(steps, clean.close(Step{Origin: closing, Patches: []Patch{{Fields: fields}}})...)
	}
	return steps
}

// split takes what only a host can close out of patches that others could close as well, so that these can move up.
func split(patches []patch.Document) []patch.Document {
	var all []patch.Document
	for _, fields := range patches {
		rest := patch.Clone(fields)
		for _, path := range [][]string{{"machine", "install", "disk"}, {"machine", "network", "hostname"}} {
			value := patch.Get(rest, path...)
			if _, isOther := rest["kind"]; isOther || value == nil {
				continue
			}
			own := patch.Document{}
			patch.Set(own, value, path...)
			patch.Without(rest, path)
			all = append(all, own)
		}
		if len(rest) > 0 {
			all = append(all, rest)
		}
	}
	return all
}

// close cleans a step that nobody wrote: what is protected stays open, and our own fields are what may have to be closed.
func (c *cleaner) close(step Step) []Step {
	fields := patch.Clone(step.Patches[0].Fields)
	if !c.plaintext {
		withoutHidden(fields, c.hidden)
	}
	for _, hidden := range c.dropped {
		if patch.ID(hidden) == patch.ID(fields) {
			subtract(fields, hidden)
		}
	}
	if !c.unprotect(fields, step.Origin) || patch.IsEmpty(fields) && !patch.IsEmpty(step.Patches[0].Fields) {
		return nil
	}
	return []Step{{Origin: step.Origin, Patches: []Patch{{Fields: fields}}}}
}
