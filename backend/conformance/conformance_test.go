// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"minos.dev/minos/backend"
	"minos.dev/minos/backend/conformance"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
)

// A saboteur is a good place of which some calls are replaced.
type saboteur struct {
	backend.Place
	traits func(backend.Traits) backend.Traits
	create func(context.Context, backend.Machine) (backend.Instance, error)
	get    func(context.Context, backend.Owner, string) (backend.Instance, error)
	list   func(context.Context, backend.Owner) ([]backend.Instance, error)
	remove func(context.Context, backend.Owner, string) error
}

func (s *saboteur) Traits() backend.Traits {
	if s.traits == nil {
		return s.Place.Traits()
	}
	return s.traits(s.Place.Traits())
}

func (s *saboteur) Create(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
	if s.create == nil {
		return s.Place.Create(ctx, wanted)
	}
	return s.create(ctx, wanted)
}

func (s *saboteur) Get(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
	if s.get == nil {
		return s.Place.Get(ctx, owner, id)
	}
	return s.get(ctx, owner, id)
}

func (s *saboteur) List(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
	if s.list == nil {
		return s.Place.List(ctx, owner)
	}
	return s.list(ctx, owner)
}

func (s *saboteur) Delete(ctx context.Context, owner backend.Owner, id string) error {
	if s.remove == nil {
		return s.Place.Delete(ctx, owner, id)
	}
	return s.remove(ctx, owner, id)
}

// as is an error of one reason told with another.
func as(err error, from, to backend.Reason) error {
	if err != nil && backend.ReasonOf(err) == from {
		return backend.Fail(to, "told with another reason")
	}
	return err
}

// A sabotage breaks a double.
type sabotage func(good backend.Place, broken *saboteur, double *conformance.Double)

// sabotages are places that are broken, the check that must notice, and what it must say.
var sabotages = map[string]struct {
	check, says string
	do          sabotage
}{
	"create makes two": {"asking twice makes one machine", "the first call made [", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			twin := wanted
			twin.Name += "-twin"
			if _, err := good.Create(ctx, twin); err != nil {
				return backend.Instance{}, err
			}
			return good.Create(ctx, wanted)
		}
	}},
	"create does not find what was made": {"an answer that is lost is unsure and asking again finds the machine", "create lost: the name is taken", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		var mutex sync.Mutex
		asked := map[string]bool{}
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			mutex.Lock()
			defer mutex.Unlock()
			if asked[wanted.Name] {
				return backend.Instance{}, backend.Fail(backend.Taken, "the name is taken")
			}
			asked[wanted.Name] = true
			return good.Create(ctx, wanted)
		}
	}},
	"a lost answer is a certain no": {"an answer that is lost is unsure and asking again finds the machine", "the reason is Unavailable, want Unsure", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			made, err := good.Create(ctx, wanted)
			return made, as(err, backend.Unsure, backend.Unavailable)
		}
	}},
	"another's machine is returned": {"a name of another owner is taken", "it succeeded, want it to fail with Taken", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			made, err := good.Create(ctx, wanted)
			if err != nil && backend.ReasonOf(err) == backend.Taken {
				return backend.Instance{ID: "i-1", Name: wanted.Name, State: backend.Running}, nil
			}
			return made, err
		}
	}},
	"denied is gone": {"credentials that are not valid are denied and nothing is gone", "Get: the reason is Gone, want Denied", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.get = func(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
			found, err := good.Get(ctx, owner, id)
			return found, as(err, backend.Denied, backend.Gone)
		}
	}},
	"list has one page": {"a long list is complete", "the list lacks [many-25 ", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.list = func(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
			found, err := good.List(ctx, owner)
			return found[:min(len(found), 25)], err
		}
	}},
	"list shows one twice": {"a long list is complete", "shows [many-00] beside", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.list = func(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
			found, err := good.List(ctx, owner)
			return append(found, found[:min(len(found), 1)]...), err
		}
	}},
	"get asks the list": {"a machine that a list leaves out is not gone", "it is not in the list", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.traits = func(traits backend.Traits) backend.Traits { traits.Settles = 50 * time.Millisecond; return traits }
		broken.get = func(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
			found, err := good.List(ctx, owner)
			at := slices.IndexFunc(found, func(i backend.Instance) bool { return i.ID == id })
			if err != nil || at < 0 {
				return backend.Instance{}, backend.Fail(backend.Gone, "it is not in the list")
			}
			return found[at], nil
		}
	}},
	"reads settle later than it says": {"reads that are late settle in the time that the place gives", "there is no instance", func(_ backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.traits = func(traits backend.Traits) backend.Traits { traits.Settles = 50 * time.Millisecond; return traits }
	}},
	"delete forgets the disk": {"what is deleted is gone and leaves nothing", "in truth there is something left: [] [disk ", func(good backend.Place, broken *saboteur, double *conformance.Double) {
		var mutex sync.Mutex
		var disks []string
		broken.remove = func(ctx context.Context, owner backend.Owner, id string) error {
			mutex.Lock()
			defer mutex.Unlock()
			disks = append(disks, "disk "+id)
			return good.Delete(ctx, owner, id)
		}
		truth := double.Truth
		double.Truth = func() conformance.Truth {
			mutex.Lock()
			defer mutex.Unlock()
			seen := truth()
			seen.Others = append(seen.Others, disks...)
			return seen
		}
	}},
	"delete does not look at the owner": {"deleting what another owns does nothing", "it does not come to that: ", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		var owner backend.Owner
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			owner = wanted.Owner
			return good.Create(ctx, wanted)
		}
		broken.remove = func(ctx context.Context, _ backend.Owner, id string) error { return good.Delete(ctx, owner, id) }
	}},
	"delete of nothing fails": {"deleting twice and deleting nothing succeed", "a Delete of what never was: there is no instance", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.remove = func(ctx context.Context, owner backend.Owner, id string) error {
			if _, err := good.Get(ctx, owner, id); err != nil {
				return err
			}
			return good.Delete(ctx, owner, id)
		}
	}},
	"all see all": {"owners do not see each other", "shows [mine] beside", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.list = func(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
			owner.Installation = "here"
			return good.List(ctx, owner)
		}
	}},
	"an error quotes user data": {"user data and credentials never show", "Create shows what is secret", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			made, err := good.Create(ctx, wanted)
			if err != nil {
				err = &backend.Error{Reason: backend.ReasonOf(err), Message: "see below", Cause: fmt.Errorf("of %s: %w", wanted.UserData, err)}
			}
			return made, err
		}
	}},
	"the context is ignored": {"a context that has ended ends every call", "Create: it succeeded, want: context canceled", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			return good.Create(context.WithoutCancel(ctx), wanted)
		}
	}},
	"the context's error is lost": {"a context that ends meanwhile ends every call soon", "List: it returned told with another reason", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.list = func(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
			found, err := good.List(ctx, owner)
			return found, as(err, backend.Unsure, backend.Unsure)
		}
	}},
	"too fast without a time": {"a place that is asked too fast says how long to wait", "it says to wait for 0s", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			made, err := good.Create(ctx, wanted)
			return made, as(err, backend.TooFast, backend.TooFast)
		}
	}},
	"no room is not available": {"a place that is full makes nothing and has room again", "the reason is Unavailable, want NoRoom", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			made, err := good.Create(ctx, wanted)
			return made, as(err, backend.NoRoom, backend.Unavailable)
		}
	}},
	"too much user data is cut": {"too much user data is invalid", "65537 bytes of user data: it succeeded", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.create = func(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
			wanted.UserData = wanted.UserData[:min(len(wanted.UserData), good.Traits().UserData)]
			return good.Create(ctx, wanted)
		}
	}},
	"the dead run": {"a machine that dies is failed and stays until it is deleted", "it is dead", func(good backend.Place, broken *saboteur, _ *conformance.Double) {
		broken.get = func(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
			found, err := good.Get(ctx, owner, id)
			if found.State == backend.Failed {
				return backend.Instance{}, backend.Fail(backend.Gone, "it is dead")
			}
			return found, err
		}
		broken.traits = func(traits backend.Traits) backend.Traits { traits.Settles = 50 * time.Millisecond; return traits }
	}},
	"the double cannot": {"credentials that are not valid are denied and nothing is gone", "the double cannot do what this check needs: no such fault", func(_ backend.Place, _ *saboteur, double *conformance.Double) {
		double.Set = func(conformance.Behaviour) error { return fmt.Errorf("no such fault") }
	}},
}

// TestNoticesBrokenPlaces breaks a good place in many ways, and wants the right check to fail of which the good place passes.
func TestNoticesBrokenPlaces(t *testing.T) {
	checks := map[string]conformance.Check{}
	for _, check := range conformance.Checks() {
		checks[check.Name] = check
	}
	good := cloudtest.Subject(conduct.Behaviour{})
	for name, test := range sabotages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check, known := checks[test.check]
			if !known {
				t.Fatalf("there is no check %q", test.check)
			}
			if err := check.Run(t, good); err != nil {
				t.Fatalf("the good place fails: %v", err)
			}
			bad := conformance.Subject{Patience: 4 * time.Second, New: func(t testing.TB) conformance.Double {
				double := good.New(t)
				broken := &saboteur{Place: double.Place}
				test.do(double.Place, broken, &double)
				double.Place = broken
				return double
			}}
			if err := check.Run(t, bad); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the suite says %v, want %q", err, test.says)
			}
		})
	}
}
