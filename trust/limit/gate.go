// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"net/netip"
	"sync"
)

// Room is how much a gate lets in.
type Room struct {
	// Connections in all, and of one source.
	Connections, PerSource int
	// Handshakes that are not finished. Each of them holds memory for somebody who has not yet shown anything.
	Handshakes int
}

// A Refusal is why a connection was not let in, for counting. The empty one let it in.
type Refusal string

const (
	// RefusedSource is a source that has its share.
	RefusedSource Refusal = "source"
	// RefusedFull is a gate where nobody has more than the newcomer.
	RefusedFull Refusal = "full"
)

// A Gate counts connections and decides who comes in when it is full.
type Gate struct {
	mu          sync.Mutex
	room        Room
	count       uint64
	passes      map[*Pass]struct{}
	sources     map[netip.Prefix]*share
	handshaking int
}

// share is what one source has.
type share struct{ passes, handshaking int }

// A Pass is one connection that was let in.
type Pass struct {
	source      netip.Prefix
	number      uint64 // by arrival
	handshaking bool
	close       func()
}

// NewGate makes a gate.
func NewGate(room Room) *Gate {
	return &Gate{room: room, passes: map[*Pass]struct{}{}, sources: map[netip.Prefix]*share{}}
}

// Enter asks for a place. To make one it may close another connection, by the function that came with it.
func (g *Gate) Enter(source netip.Prefix, closeIt func()) (pass *Pass, displaced bool, refusal Refusal) {
	pass = &Pass{source: source, handshaking: true, close: closeIt}
	victim, refusal := g.enter(pass)
	if victim != nil {
		victim.close() // without the lock: closing takes its time
	}
	if refusal != "" {
		return nil, false, refusal
	}
	return pass, victim != nil, ""
}

func (g *Gate) enter(pass *Pass) (*Pass, Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	victim, refusal := g.victim(pass.source)
	if refusal != "" {
		return nil, refusal
	}
	if victim != nil {
		g.remove(victim)
	}
	g.count++
	pass.number = g.count
	g.passes[pass] = struct{}{}
	mine := g.sources[pass.source]
	if mine == nil {
		mine = &share{}
		g.sources[pass.source] = mine
	}
	mine.passes++
	mine.handshaking++
	g.handshaking++
	return victim, ""
}

// victim finds who has to go for a newcomer of this source, if anybody has to.
func (g *Gate) victim(source netip.Prefix) (*Pass, Refusal) {
	var mine share
	if have := g.sources[source]; have != nil {
		mine = *have
	}
	if g.room == (Room{}) {
		return nil, RefusedFull
	}
	if mine.passes >= g.room.PerSource {
		// Its own silent ones go first: behind NAT, they need not be those of the worker that has just come.
		oldest := g.greediest(func(p *Pass) int { return oneIf(p.source == source && p.handshaking) })
		return oldest, refusedIf(oldest == nil, RefusedSource)
	}
	if g.handshaking >= g.room.Handshakes {
		greedy := g.greediest(func(p *Pass) int {
			if has := g.sources[p.source].handshaking; p.handshaking && (has > mine.handshaking || p.source == source) {
				return has
			}
			return 0
		})
		return greedy, refusedIf(greedy == nil, RefusedFull)
	}
	if len(g.passes) >= g.room.Connections {
		greedy := g.greediest(func(p *Pass) int {
			if has := g.sources[p.source].passes; has > mine.passes {
				return has
			}
			return 0
		})
		return greedy, refusedIf(greedy == nil, RefusedFull)
	}
	return nil, ""
}

// greediest is the oldest of those with the highest weight above zero. It looks at all of them, which are some hundreds,
// and only when the gate is full.
func (g *Gate) greediest(weight func(*Pass) int) *Pass {
	var best *Pass
	var most int
	for pass := range g.passes {
		if w := weight(pass); w > most || w == most && w > 0 && pass.number < best.number {
			best, most = pass, w
		}
	}
	return best
}

// Settle says that the handshake is done, and whether the connection still has its place.
func (g *Gate) Settle(pass *Pass) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.passes[pass]; !ok {
		return false
	}
	if pass.handshaking {
		pass.handshaking = false
		g.sources[pass.source].handshaking--
		g.handshaking--
	}
	return true
}

// Leave gives the place back. It may be called twice, and for one that was displaced.
func (g *Gate) Leave(pass *Pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(pass)
}

func (g *Gate) remove(pass *Pass) {
	if _, ok := g.passes[pass]; !ok {
		return
	}
	delete(g.passes, pass)
	theirs := g.sources[pass.source]
	theirs.passes--
	if pass.handshaking {
		theirs.handshaking--
		g.handshaking--
	}
	if theirs.passes == 0 {
		delete(g.sources, pass.source)
	}
}

// Shut lets nobody in any more, and closes every connection whose handshake is not done.
func (g *Gate) Shut() {
	g.mu.Lock()
	g.room = Room{}
	var silent []*Pass
	for pass := range g.passes {
		if pass.handshaking {
			silent = append(silent, pass)
		}
	}
	g.mu.Unlock()
	for _, pass := range silent {
		pass.close()
	}
}

// Counts are how many connections there are, and how many of them are not done with their handshake.
func (g *Gate) Counts() (connections, handshaking int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.passes), g.handshaking
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func refusedIf(yes bool, refusal Refusal) Refusal {
	if yes {
		return refusal
	}
	return ""
}
