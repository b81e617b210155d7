// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// A journal is how far a rehearsal got.
type journal struct {
	// Elapsed is the simulated time.
	Elapsed time.Duration `json:"elapsed"`
	// Done is how many steps were taken.
	Done int `json:"done"`
	// Judgements are those of the expectations, in their order.
	Judgements []Judgement `json:"judgements"`
	// Text is the scenario, so that another one does not go on with this one's journal.
	Text string `json:"text"`
}

// openJournal reads a journal, or begins one.
func openJournal(file string, scenario *Scenario) (*journal, error) {
	whole, err := json.Marshal(scenario)
	if err != nil {
		return nil, err
	}
	fresh := &journal{Text: string(whole)}
	for _, expectation := range scenario.Expect {
		fresh.Judgements = append(fresh.Judgements, Judgement{Expectation: expectation})
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, err
	}
	read := &journal{}
	if err := json.Unmarshal(text, read); err != nil {
		return nil, fmt.Errorf("%s cannot be read: remove it to begin anew: %w", file, err)
	}
	if read.Text != fresh.Text {
		return nil, fmt.Errorf("%s is the journal of another scenario, or of this one before it was changed: give another folder, or remove this one", file)
	}
	return read, nil
}

// save writes the journal, whole or not at all.
func (j *journal) save(file string) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
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
