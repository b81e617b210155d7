// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"minos.dev/minos/sim/file"
)

// A journal is how far a rehearsal got.
type journal struct {
	// Elapsed is the simulated time.
	Elapsed time.Duration `json:"elapsed"`
	// Done is how many steps were taken.
	Done int `json:"done"`
	// Begun are the calls to machines of steps that were taken and whose end was not seen.
	Begun []Call `json:"begun,omitempty"`
	// Judgements are those of the expectations, in their order.
	Judgements []Judgement `json:"judgements"`
	// Text is the scenario, so that another one does not go on with this one's journal.
	Text string `json:"text"`
}

// A Call is one that a step makes to a machine.
type Call struct {
	// Step is the step's place among the steps.
	Step    int    `json:"step"`
	Machine string `json:"machine"`
}

// end strikes calls out that have come to their end.
func (j *journal) end(calls []Call) {
	j.Begun = slices.DeleteFunc(j.Begun, func(begun Call) bool { return slices.Contains(calls, begun) })
}

// openJournal reads a journal, or begins one.
func openJournal(path string, scenario *Scenario) (*journal, error) {
	whole, err := json.Marshal(scenario)
	if err != nil {
		return nil, err
	}
	fresh := &journal{Text: string(whole)}
	for _, expectation := range scenario.Expect {
		fresh.Judgements = append(fresh.Judgements, Judgement{Expectation: expectation})
	}
	read := &journal{}
	found, err := file.ReadJSON(path, read)
	if err != nil {
		return nil, fmt.Errorf("the journal of a rehearsal: %w: remove the folder to begin anew", err)
	}
	if !found {
		return fresh, nil
	}
	if read.Text != fresh.Text {
		return nil, fmt.Errorf("%s is the journal of another scenario, or of this one before it was changed: give another folder, or remove this one", path)
	}
	return read, nil
}

// save writes the journal, whole or not at all.
func (j *journal) save(path string) error { return file.WriteJSON(path, j) }

// open says whether something that is expected can still come true.
func (j *journal) open(now time.Duration) bool {
	for _, judgement := range j.Judgements {
		if by := judgement.Expectation.By.Duration; !judgement.Met && (by == 0 || now <= by) {
			return true
		}
	}
	return false
}

// met says whether all that is expected came true.
func (j *journal) met() bool {
	for _, judgement := range j.Judgements {
		if !judgement.Met {
			return false
		}
	}
	return true
}
