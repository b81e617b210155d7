// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"minos.dev/minos/sim/machine"
)

// A Judgement is what became of an expectation.
type Judgement struct {
	Expectation Expectation `json:"expectation"`
	// Met says whether it came true, At when.
	Met bool          `json:"met"`
	At  time.Duration `json:"at,omitempty"`
	// Why is what was missing when it was looked at last.
	Why string `json:"why,omitempty"`
}

// String is the expectation in words.
func (e Expectation) String() string {
	words := "machines " + cmp.Or(e.Machines, "*")
	switch {
	case e.Reaches != "":
		words += " reach " + string(e.Reaches)
	case e.StopsAt != "":
		words += " stop at " + string(e.StopsAt)
	}
	if e.Because != "" {
		words += fmt.Sprintf(" because %q", e.Because)
	}
	if e.Version != "" {
		words += " run " + string(e.Version)
	}
	if e.Boots > 0 {
		words += fmt.Sprintf(" have booted %d times", e.Boots)
	}
	if e.After.Duration > 0 {
		words += " after " + brief(e.After.Duration)
	}
	if e.By.Duration > 0 {
		words += " by " + brief(e.By.Duration)
	}
	return words
}

// brief is a duration without the units of which there are none at its end.
func brief(d time.Duration) string {
	words := d.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(words, none) {
			words = words[:len(words)-2]
		}
	}
	return words
}

// judge looks at machines at a moment. What came true stays so, and what is too late is not looked at.
func (j *Judgement) judge(now time.Duration, machines []machine.Status) {
	e := j.Expectation
	if j.Met || now < e.After.Duration || e.By.Duration > 0 && now > e.By.Duration {
		return
	}
	if j.Why = e.lacks(machines); j.Why == "" {
		j.Met, j.At = true, now
	}
}

// lacks says what machines lack of what is expected, or nothing.
func (e Expectation) lacks(machines []machine.Status) string {
	matched := 0
	for _, status := range machines {
		if match, _ := path.Match(cmp.Or(e.Machines, "*"), status.Machine); !match {
			continue
		}
		matched++
		if why := e.misses(status); why != "" {
			return status.Machine + " " + why
		}
	}
	if matched == 0 {
		return fmt.Sprintf("there is no machine %q", cmp.Or(e.Machines, "*"))
	}
	return ""
}

// misses says what a machine lacks of what is expected, or nothing.
func (e Expectation) misses(status machine.Status) string {
	if e.Version != "" && status.Image.Version != string(e.Version) {
		return "runs " + cmp.Or(status.Image.Version, "nothing")
	}
	if status.Boots < e.Boots {
		return fmt.Sprintf("booted %d times", status.Boots)
	}
	if e.Reaches != "" && !status.Reached(e.Reaches) {
		return stands(status)
	}
	stopped, stops := status.Stopped()
	switch {
	case e.StopsAt == "":
		return ""
	case !stops:
		return "stops nowhere"
	case stopped.Step != e.StopsAt, !strings.Contains(stopped.Reason, e.Because):
		return stands(status)
	}
	return ""
}

// stands says where a machine stands.
func stands(status machine.Status) string {
	stopped, stops := status.Stopped()
	switch {
	case !stops:
		return "is ready"
	case stopped.Reason == "":
		return fmt.Sprintf("is %s and has not reached %s", status.Stage, stopped.Step)
	}
	return fmt.Sprintf("is %s and stands at %s: %s", status.Stage, stopped.Step, stopped.Reason)
}
