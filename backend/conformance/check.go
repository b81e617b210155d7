// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// A Check is one sentence of the contract.
type Check struct {
	// Name is the sentence.
	Name string
	run  func(ctx context.Context, b *bench) error
}

// Run puts a subject to the check. The error says in what it fails. The test is for what the double needs only.
func (c Check) Run(t testing.TB, subject Subject) error {
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(subject.Patience, time.Minute))
	defer cancel()
	b := newBench(subject.New(t))
	err := c.run(ctx, b)
	return errors.Join(err, b.place.leaked())
}

// Checks are all of them.
func Checks() []Check {
	return slices.Concat(making, owning, deleting, reading, refusing, ending)
}
