// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/datacentre"
)

// expectWithin is how long a story waits for what it expects. It bounds, and does not measure: the computer may be busy.
const expectWithin = 3 * time.Minute

// tell says what happens in a story.
func (s *Session) tell(format string, args ...any) { s.Say("story", fmt.Sprintf(format, args...)) }

// expect waits for something, and says when it came true.
func (s *Session) expect(ctx context.Context, what string, holds func(View) error) error {
	if err := s.Await(ctx, expectWithin, holds); err != nil {
		return fmt.Errorf("expected: %s: %w", what, err)
	}
	s.Say("as expected", what)
	return nil
}

// expectReady waits until all is Ready.
func (s *Session) expectReady(ctx context.Context) error {
	return s.expect(ctx, "all is Ready", func(view View) error {
		if !view.Ready() {
			return errors.New(waiting(view))
		}
		return nil
	})
}

// waiting is what keeps all from being Ready, in words.
func waiting(view View) string {
	for _, cluster := range view.Clusters {
		if !cluster.Ready {
			return fmt.Sprintf("cluster %s waits for %s: %s", cluster.Name, cluster.Step, cluster.Waits)
		}
	}
	for _, pool := range view.Pools {
		if !pool.Ready {
			return fmt.Sprintf("pool %s waits for %s: %s", pool.Name, pool.Step, pool.Waits)
		}
	}
	return "machines are missing"
}

// says wants a pool not to be Ready, and words to be in what it says.
func (v View) says(pool string, words ...string) error {
	found := v.Pool(pool)
	said := found.Step + ": " + found.Waits
	if found.Ready {
		return fmt.Errorf("pool %s says that it is Ready", pool)
	}
	for _, word := range words {
		if !strings.Contains(said, word) {
			return fmt.Errorf("pool %s says %q, and not %q", pool, said, word)
		}
	}
	return nil
}

// unharmed wants machines to be there as they were: with power, and without another boot.
func (v View) unharmed(before []Machine) error {
	for _, was := range before {
		now := v.machine(was.Name)
		switch {
		case now == nil:
			return fmt.Errorf("machine %s is gone", was.Name)
		case now.Boots != was.Boots || now.Stage != was.Stage:
			return fmt.Errorf("machine %s is in stage %s after %d boots, and was in stage %s after %d", was.Name, now.Stage, now.Boots, was.Stage, was.Boots)
		}
	}
	return nil
}

// others wants every pool but one to be Ready.
func (v View) others(but string) error {
	for _, pool := range v.Pools {
		if pool.Name != but && !pool.Ready {
			return fmt.Errorf("pool %s is not Ready either: %s: %s", pool.Name, pool.Step, pool.Waits)
		}
	}
	return nil
}

// change patches a pool.
func (s *Session) change(ctx context.Context, pool, patch string) error {
	object := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: pool}}
	return s.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// scale changes how many machines a pool has.
func (s *Session) scale(ctx context.Context, pool string, count int32) error {
	s.tell("the number of machines of pool %s becomes %d", pool, count)
	return s.change(ctx, pool, fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
}

// centre is the data centre, which a story needs to be there.
func (s *Session) centre() (*datacentre.DataCentre, error) {
	if centre := s.estate.Centre(); centre != nil {
		return centre, nil
	}
	return nil, errors.New("the places do not run")
}

// beginStory is how all is before a story, which has to be Ready.
func (s *Session) beginStory(ctx context.Context) (View, *datacentre.DataCentre, error) {
	if err := s.AwaitReady(ctx, expectWithin); err != nil {
		return View{}, nil, err
	}
	view, err := s.follow(ctx)
	if err != nil {
		return View{}, nil, err
	}
	centre, err := s.centre()
	return view, centre, err
}

// undo puts back what a story has changed, also when it failed or was stopped, and waits until all is Ready.
func (s *Session) undo(ctx context.Context, story error, back func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), expectWithin)
	defer cancel()
	err := back(ctx)
	if story != nil {
		return story // which is what matters
	}
	if err != nil {
		return fmt.Errorf("put back what was changed: %w", err)
	}
	return s.expectReady(ctx)
}
