// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/machine"
)

// A Scenario says what is rehearsed, and what happens when. Times are simulated times since the start.
type Scenario struct {
	// Folder holds the declarations, seen from the scenario's file. Empty means the folder of that file.
	Folder string `json:"folder,omitempty"`
	// Cluster is the one that is rehearsed; it may be left out where the folder has one only.
	Cluster string `json:"cluster,omitempty"`
	// Seed decides what is left to chance. The same seed gives the same faults.
	Seed uint64 `json:"seed,omitempty"`
	// Speed is how much faster than life time passes. Without it: 20.
	Speed float64 `json:"speed,omitempty"`
	// Until is when the rehearsal ends, at the latest. Without it: 30m.
	Until metav1.Duration `json:"until,omitzero"`
	// Pools are how many machines pools have, where that is not what they declare.
	Pools map[string]int `json:"pools,omitempty"`
	// Place is how the place behaves at the start.
	Place conduct.Behaviour `json:"place,omitzero"`
	// Durations are how long machines take.
	Durations Durations `json:"durations,omitzero"`
	// Steps are what happens, in the order of their times.
	Steps []Step `json:"steps,omitempty"`
	// Expect is what must come true. Without it: every machine becomes ready.
	Expect []Expectation `json:"expect,omitempty"`
}

// Durations are how long machines take; what is not said is as with a real one.
type Durations struct {
	Boot     metav1.Duration `json:"boot,omitzero"`
	Install  metav1.Duration `json:"install,omitzero"`
	Deadline metav1.Duration `json:"deadline,omitzero"`
}

// A Step is something that happens. Exactly one thing does: the place changes, pools are scaled, or machines do something.
type Step struct {
	// At is when it happens, at the earliest.
	At metav1.Duration `json:"at,omitzero"`
	// Await is what must be true before it happens. Steps that follow wait with it.
	Await *Expectation `json:"await,omitempty"`
	// Place is how the place behaves from now on.
	Place *conduct.Behaviour `json:"place,omitempty"`
	// Scale is how many machines pools have from now on.
	Scale map[string]int `json:"scale,omitempty"`
	// Machines is a pattern of names, as in path.Match, for what follows.
	Machines string `json:"machines,omitempty"`
	// Do is what happens to them.
	Do Action `json:"do,omitempty"`
	// Set turns their knobs.
	Set *Knobs `json:"set,omitempty"`
	// Upgrade has them upgraded to a release, through the Talos API.
	Upgrade api.TalosVersion `json:"upgrade,omitempty"`
}

// An Action is something that happens to a machine.
type Action string

// The actions.
const (
	Die    Action = "die"    // Die ends the instance; it does not come back.
	Stop   Action = "stop"   // Stop cuts its power.
	Start  Action = "start"  // Start gives it power again.
	Reboot Action = "reboot" // Reboot asks it to, through the Talos API.
)

var actions = []Action{Die, Stop, Start, Reboot}

// Knobs are faults of machines. What is not said stays.
type Knobs struct {
	NoCNI          *bool           `json:"noCNI,omitempty"`
	NoKubeletImage *bool           `json:"noKubeletImage,omitempty"`
	NoAPI          *bool           `json:"noAPI,omitempty"`
	Silent         *bool           `json:"silent,omitempty"`
	DiskFull       *bool           `json:"diskFull,omitempty"`
	Upgrade        machine.Outcome `json:"upgrade,omitempty"`
	Devices        []string        `json:"devices,omitempty"`
}

// An Expectation is something that must come true.
type Expectation struct {
	// After is when it begins to count, and By when it must be true at the latest. Without them: the whole rehearsal.
	After metav1.Duration `json:"after,omitzero"`
	By    metav1.Duration `json:"by,omitzero"`
	// Machines is a pattern of names; all that match must do it, and at least one must match. Empty means all.
	Machines string `json:"machines,omitempty"`
	// Reaches is a step that they reach.
	Reaches machine.Step `json:"reaches,omitempty"`
	// StopsAt is a step at which they stand, and Because what their reason contains.
	StopsAt machine.Step `json:"stopsAt,omitempty"`
	Because string       `json:"because,omitempty"`
	// Version is the release that they run.
	Version api.TalosVersion `json:"version,omitempty"`
	// Boots is how often they booted, at least.
	Boots int `json:"boots,omitempty"`
}

// What a scenario has that does not say.
const (
	defaultSpeed = 20
	defaultUntil = 30 * time.Minute
)

// Parse reads a scenario. What is not known or makes no sense is an error in one line that names the field.
func Parse(text []byte) (*Scenario, error) {
	read, err := decode(text)
	if err != nil {
		return nil, err
	}
	if read.Speed == 0 {
		read.Speed = defaultSpeed
	}
	if read.Until.Duration == 0 {
		read.Until.Duration = defaultUntil
	}
	if len(read.Expect) == 0 {
		read.Expect = []Expectation{{Reaches: machine.StepReady}}
	}
	if err := read.check(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(read.Steps, func(a, b Step) int { return cmp.Compare(a.At.Duration, b.At.Duration) })
	return read, nil
}

// check says what is wrong.
func (s *Scenario) check() error {
	if s.Speed < 1 || s.Speed > 10000 {
		return fmt.Errorf("speed: %v is not between 1 and 10000", s.Speed)
	}
	if s.Until.Duration < 0 {
		return fmt.Errorf("until: %s is less than nothing", s.Until.Duration)
	}
	if err := s.Place.Check(); err != nil {
		return fmt.Errorf("place.%w", err)
	}
	if err := checkCounts(s.Pools); err != nil {
		return fmt.Errorf("pools.%w", err)
	}
	for at, step := range s.Steps {
		if err := step.check(s.Until.Duration); err != nil {
			return fmt.Errorf("steps[%d].%w", at, err)
		}
	}
	for at, expectation := range s.Expect {
		if err := expectation.check(s.Until.Duration); err != nil {
			return fmt.Errorf("expect[%d].%w", at, err)
		}
	}
	return nil
}

// check says what is wrong with a step.
func (s Step) check(until time.Duration) error {
	if s.At.Duration < 0 || s.At.Duration > until {
		return fmt.Errorf("at: %s is not within the rehearsal, which ends at %s", s.At.Duration, until)
	}
	if s.things() != 1 {
		return errors.New("at: exactly one of place, scale, do, set and upgrade happens in a step")
	}
	if s.Place != nil {
		if err := s.Place.Check(); err != nil {
			return fmt.Errorf("place.%w", err)
		}
	}
	if err := checkCounts(s.Scale); err != nil {
		return fmt.Errorf("scale.%w", err)
	}
	if s.Await != nil {
		if err := s.Await.check(until); err != nil {
			return fmt.Errorf("await.%w", err)
		}
	}
	return s.checkMachines()
}

// things counts what happens.
func (s Step) things() int {
	count := 0
	for _, is := range []bool{s.Place != nil, s.Scale != nil, s.Do != "", s.Set != nil, s.Upgrade != ""} {
		if is {
			count++
		}
	}
	return count
}

// checkMachines says what is wrong with whom a step happens to.
func (s Step) checkMachines() error {
	ofPlace := s.Place != nil || s.Scale != nil
	switch {
	case !ofPlace && s.Machines == "":
		return errors.New("machines: say which, for example \"workers-*\"")
	case ofPlace && s.Machines != "":
		return errors.New("machines: only do, set and upgrade happen to machines")
	case s.Do != "" && !slices.Contains(actions, s.Do):
		return fmt.Errorf("do: %q is not one of %v", s.Do, actions)
	}
	return checkPattern(s.Machines)
}

// check says what is wrong with an expectation.
func (e Expectation) check(until time.Duration) error {
	switch {
	case e.Reaches == "" && e.StopsAt == "" && e.Version == "" && e.Boots <= 0:
		return errors.New("reaches: say what is expected: reaches, stopsAt, version or boots")
	case e.Reaches != "" && e.StopsAt != "":
		return errors.New("stopsAt: a machine that reaches a step does not stop; make it two expectations")
	case e.Because != "" && e.StopsAt == "":
		return errors.New("because: only a machine that stops has a reason; say where it stops with stopsAt")
	}
	if err := e.checkSteps(); err != nil {
		return err
	}
	if err := checkPattern(e.Machines); err != nil {
		return err
	}
	return e.checkTime(until)
}

// checkSteps says whether a step does not exist.
func (e Expectation) checkSteps() error {
	for field, step := range map[string]machine.Step{"reaches": e.Reaches, "stopsAt": e.StopsAt} {
		if step != "" && !slices.Contains(machine.Steps(), step) {
			return fmt.Errorf("%s: %q is not one of %v", field, step, machine.Steps())
		}
	}
	return nil
}

// checkTime says what is wrong with when an expectation is to come true.
func (e Expectation) checkTime(until time.Duration) error {
	by := e.By.Duration
	if by == 0 {
		by = until
	}
	switch {
	case by < 0 || by > until:
		return fmt.Errorf("by: %s is not within the rehearsal, which ends at %s", by, until)
	case e.After.Duration < 0 || e.After.Duration > by:
		return fmt.Errorf("after: %s is not before the end of what is expected, %s", e.After.Duration, by)
	}
	return nil
}

func checkPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("machines: %q is not a pattern: %w", pattern, err)
	}
	return nil
}

// most is how many machines of a pool a rehearsal has room for.
const most = 2000

func checkCounts(counts map[string]int) error {
	for _, pool := range slices.Sorted(maps.Keys(counts)) {
		if counts[pool] < 0 || counts[pool] > most {
			return fmt.Errorf("%s: %d is not between 0 and %d", pool, counts[pool], most)
		}
	}
	return nil
}
