// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
)

// Options are what is played, and where.
type Options struct {
	Scenario *Scenario
	// Objects are the declarations.
	Objects []load.Object
	// Folder keeps everything. Played again on the same folder, a rehearsal goes on where it was.
	Folder string
	// Tell is told of every event, one after the other.
	Tell func(Line)
}

// A Line is an event in the timeline.
type Line struct {
	// At is the simulated time.
	At time.Duration
	// Machine is whom it happened to; empty for what belongs to none.
	Machine string
	// Step is the machine's step that it belongs to, if any.
	Step    machine.Step
	Message string
}

// A Result is how a rehearsal ended.
type Result struct {
	Elapsed    time.Duration `json:"elapsed"`
	Machines   []Ending      `json:"machines"`
	Judgements []Judgement   `json:"judgements"`
	Passed     bool          `json:"passed"`
}

// An Ending is how a machine ended.
type Ending struct {
	Name    string `json:"name"`
	Stage   string `json:"stage"`
	Version string `json:"version,omitempty"`
	Boots   int    `json:"boots,omitempty"`
	// Stands is where it stands: ready, or the step at which it stopped, and Reason why.
	Stands machine.Step `json:"stands"`
	Reason string       `json:"reason,omitempty"`
}

// look is how often the rehearsal looks at what is to be done, on the real clock.
const look = 25 * time.Millisecond

// A play is a rehearsal that runs.
type play struct {
	options Options
	stage   *stage
	journal *journal
	began   time.Time     // on the real clock; zero while the stage is set up, which is no part of the rehearsal
	before  time.Duration // that was played before this start
	errands *errands

	telling sync.Mutex // also guards began while the stage is set up

	saved  time.Time // when the journal was written
	counts map[string]int
	wanted []backend.Machine
}

// Play plays a scenario to its end. A context that ends stops it; the folder then knows how far it got.
func Play(ctx context.Context, options Options) (Result, error) {
	if err := prepare(options.Folder); err != nil {
		return Result{}, err
	}
	read, err := openJournal(filepath.Join(options.Folder, "journal.json"), options.Scenario)
	if err != nil {
		return Result{}, err
	}
	p := &play{options: options, journal: read, before: read.Elapsed, counts: maps.Clone(options.Scenario.Pools)}
	if p.counts == nil {
		p.counts = map[string]int{}
	}
	if p.stage, err = setUp(ctx, options, p.tell); err != nil {
		return Result{}, err
	}
	p.start()
	p.errands = newErrands(p)
	running, stop := context.WithCancel(ctx)
	err = p.run(running)
	stop()
	p.errands.wait()
	result := p.result()
	return result, errors.Join(err, p.stage.close())
}

// run lets time pass until the end.
func (p *play) run(ctx context.Context) error {
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		over, err := p.look(ctx)
		if over || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), p.save(p.elapsed()))
		}
	}
}

// look does what is due, and says whether the rehearsal is over.
func (p *play) look(ctx context.Context) (over bool, err error) {
	now := p.elapsed()
	p.journal.end(p.errands.takeEnded())
	if err := p.steps(ctx, now); err != nil {
		return false, err
	}
	p.errands.run(ctx)
	for at := range p.journal.Judgements {
		p.judge(now, &p.journal.Judgements[at])
	}
	over = now >= p.options.Scenario.Until.Duration || p.journal.Done == len(p.options.Scenario.Steps) && !p.journal.open(now)
	if over || time.Since(p.saved) > time.Second {
		p.saved = time.Now()
		return over, p.save(now)
	}
	return over, nil
}

// start lets time begin.
func (p *play) start() {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.began = time.Now()
}

// elapsed is the simulated time.
func (p *play) elapsed() time.Duration {
	if p.began.IsZero() {
		return p.before
	}
	return p.before + time.Duration(float64(time.Since(p.began))*p.options.Scenario.Speed)
}

// save writes down how far it got.
func (p *play) save(now time.Duration) error {
	p.journal.Elapsed = now
	return p.journal.save(filepath.Join(p.options.Folder, "journal.json"))
}

// tell passes on what happens, one after the other.
func (p *play) tell(name string, step machine.Step, message string) {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.options.Tell(Line{At: p.elapsed(), Machine: name, Step: step, Message: message})
}

// judge holds one expectation against the machines, and tells when it comes true.
func (p *play) judge(now time.Duration, judgement *Judgement) {
	was := judgement.Met
	judgement.judge(now, p.statuses())
	if !was && judgement.Met {
		p.tell("", "", "as expected: "+judgement.Expectation.String())
	}
}

// statuses are those of all machines that are wanted, also of those that are not there or have no power.
func (p *play) statuses() []machine.Status {
	made := map[string]backend.Instance{}
	for _, instance := range p.stage.cloud.Instances() {
		made[instance.Name] = instance
	}
	var all []machine.Status
	for _, wanted := range p.wanted {
		if found := p.stage.cloud.Machine(wanted.Name); found != nil {
			all = append(all, found.Status())
			continue
		}
		instance, ok := made[wanted.Name]
		if !ok {
			instance = backend.Instance{State: "Wanted", Message: p.errands.why(wanted.Name)}
		}
		all = append(all, machine.Status{
			Machine: wanted.Name, Stage: string(instance.State), Steps: []machine.Progress{{Step: machine.StepConfig, Reason: instance.Message}},
		})
	}
	return all
}

// result is how all ended.
func (p *play) result() Result {
	result := Result{Elapsed: p.journal.Elapsed, Judgements: p.journal.Judgements, Passed: p.journal.met()}
	for _, status := range p.statuses() {
		ending := Ending{Name: status.Machine, Stage: status.Stage, Version: status.Image.Version, Boots: status.Boots, Stands: machine.StepReady}
		if stopped, stops := status.Stopped(); stops {
			ending.Stands, ending.Reason = stopped.Step, stopped.Reason
		}
		result.Machines = append(result.Machines, ending)
	}
	return result
}

// checkPools holds the names of pools in a scenario against those that exist.
func (s *Scenario) checkPools(names []string) error {
	known := func(field string, counts map[string]int) error {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			if !slices.Contains(names, name) {
				return fmt.Errorf("%s.%s: there is no such pool%s", field, name, nearest.Hint(name, names))
			}
		}
		return nil
	}
	if err := known("pools", s.Pools); err != nil {
		return err
	}
	for at, step := range s.Steps {
		if err := known(fmt.Sprintf("steps[%d].scale", at), step.Scale); err != nil {
			return err
		}
	}
	return nil
}
