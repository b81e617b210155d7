// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"
	"time"

	"minos.dev/minos/backend"
)

// A Subject is a place that is put to the test.
type Subject struct {
	// New returns a double of the place in which there is nothing. It is called once for every check, and what it needs ends
	// with the test.
	New func(t testing.TB) Double
	// Uncovered are the checks that the double cannot be put to, by their name, and why. They are reported as skipped.
	Uncovered map[string]string
	// Patience is how long one check may take; a minute if it is not said.
	Patience time.Duration
}

// A Double is a place, and the means to trouble it and to know better than its API does.
type Double struct {
	// Place is what is tested.
	Place backend.Place
	// Machine is one that the place can make: its Spec and Image are used, the rest is the suite's.
	Machine backend.Machine
	// Absent is an ID that the place could have given to an instance and never did.
	Absent string
	// Secrets are the credentials, which nothing that comes back may show.
	Secrets []string
	// Set has the place behave in a way from now on. Its error says that the double cannot.
	Set func(behaviour Behaviour) error
	// Kill lets an instance die by itself. Its error says that the double cannot.
	Kill func(name string) error
	// Truth is what there is in the place.
	Truth func() Truth
}

// A Behaviour is how a place treats its callers. The zero value is a place that does all that it is asked.
type Behaviour struct {
	// Latency is how long every call takes.
	Latency time.Duration
	// Start is how long an instance is made, and Stop how long it is being deleted.
	Start, Stop time.Duration
	// Lag is how late Get and List show what was done.
	Lag time.Duration
	// Quota is how many instances there may be; zero for any number.
	Quota int
	// Limited says that more than one call a second is too fast.
	Limited bool
	// LosesAnswers says that Create and Delete do what they should, and the first answer for every machine never comes.
	LosesAnswers bool
	// Refuses says that the place fails all calls before it does anything.
	Refuses bool
	// Revoked says that the credentials are no longer valid.
	Revoked bool
	// Omits is the name of a machine that lists leave out.
	Omits string
	// FailsInstances says that instances fail while they are made.
	FailsInstances bool
}

// A Truth is what there is in a place, whatever its API says.
type Truth struct {
	// Instances are the IDs of all instances, of all owners.
	Instances []string
	// Others are all other things that were made for instances and could be left behind: disks, addresses, and so on.
	Others []string
}

// Run puts a place to all checks.
func Run(t *testing.T, subject Subject) {
	known := map[string]bool{}
	for _, check := range Checks() {
		known[check.Name] = true
		t.Run(check.Name, func(t *testing.T) {
			if reason, uncovered := subject.Uncovered[check.Name]; uncovered {
				t.Skipf("NOT COVERED: %s", reason)
			}
			if err := check.Run(t, subject); err != nil {
				t.Error(err)
			}
		})
	}
	for name := range subject.Uncovered {
		if !known[name] {
			t.Errorf("Uncovered names %q, and there is no such check: remove it", name)
		}
	}
}
