// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/gather"
)

// gatherFolder reads a folder, with its history if that is asked for.
func (c *checking) gatherFolder(cmd *cobra.Command, rules []*rule.Rule) (facts.Source, error) {
	options := gather.Options{NoHistory: !c.past(rules)}
	shown := &progress{}
	if screen := cmd.ErrOrStderr(); isScreen(screen) {
		shown = &progress{out: screen}
		options.Progress = shown.step
	}
	source, err := gather.Folder(cmd.Context(), c.dir, options)
	shown.end() // before anything else is said
	if err != nil {
		return source, Hint(err, "give the folder that holds your declarations, or '.' for this one")
	}
	for _, remark := range source.Remarks {
		say(cmd, "%s", remark)
	}
	return source, nil
}

// past says whether the history is looked through: of itself, it is where rules about secrets are asked, since only they read it.
func (c *checking) past(rules []*rule.Rule) bool {
	if c.history == historyAuto {
		return slices.ContainsFunc(rules, func(one *rule.Rule) bool { return one.Group() == "SEC" })
	}
	return c.history == historyOn
}

// A progress is a line on a screen that says how far a long scan is.
type progress struct {
	out   io.Writer
	lock  sync.Mutex
	last  time.Time
	shown bool
}

// step shows how far it is, a few times a second at most, and not before somebody would begin to wonder.
func (p *progress) step(done, total int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := time.Now()
	if p.last.IsZero() {
		p.last = now.Add(500 * time.Millisecond)
	}
	if now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	_, _ = fmt.Fprintf(p.out, "\r\x1b[Klooking through the history: %d of %d versions of files", done, total) // there is nowhere left to complain
}

// end takes the line away.
func (p *progress) end() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.shown {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
