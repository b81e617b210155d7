// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"minos.dev/minos/kube/dev"
)

const (
	readyLimit = 2 * time.Minute
	// grace is for requests under way to be answered, stopLimit for a component to stop. What the store has
	// acknowledged is safe whether or not the others said goodbye, so they are short.
	grace     = 300 * time.Millisecond
	stopLimit = 3 * time.Second
)

// Run is a control plane for [dev.Command].
func Run(ctx context.Context, spec dev.Spec, ready func()) error {
	defer func() { _ = spec.Listener.Close() }()
	if err := divertStderr(spec.Log); err != nil {
		return err
	}
	store, err := startStore(ctx, spec)
	if store == nil {
		return err
	}
	defer store.Close()

	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	store.watch(fail)
	clients := track(spec.Listener)
	spec.Listener = clients
	api := begin("kube-apiserver", fail, func(ctx context.Context) error { return serveAPI(ctx, spec, store.url) })
	defer api.end(clients.hangUp)

	err = bringUp(running, spec, fail, ready)
	switch {
	case ctx.Err() != nil:
		return nil // asked to stop, be it before all was up
	case err != nil:
		return err
	default:
		return context.Cause(running)
	}
}

// bringUp waits for the API server, adds the controllers, says that all is ready and stays until running ends. When it
// returns the controllers have stopped.
func bringUp(running context.Context, spec dev.Spec, fail context.CancelCauseFunc, ready func()) error {
	limited, cancel := context.WithTimeoutCause(running, readyLimit, fmt.Errorf("not ready after %s", readyLimit))
	defer cancel()
	p, err := newProbe(spec)
	if err != nil {
		return err
	}
	if err := p.serverReady(limited); err != nil {
		return cause(limited, err)
	}
	controllers := begin("kube-controller-manager", fail, func(ctx context.Context) error { return control(ctx, spec) })
	defer controllers.end(func() {})
	if err := p.controllersReady(limited); err != nil {
		return cause(limited, err)
	}
	ready()
	<-running.Done()
	return nil
}

// cause prefers the reason why waiting ended to the fact that it ended.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && !errors.Is(why, context.Canceled) {
		return why
	}
	return err
}

// A part is a component that runs in this process.
type part struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// begin starts a component. One that ends without being told to fails the whole plane.
func begin(name string, fail context.CancelCauseFunc, run func(context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		err := run(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			fail(fmt.Errorf("%s stopped: %w", name, err))
		default:
			fail(fmt.Errorf("%s stopped by itself", name))
		}
	}()
	return p
}

// end stops a component: politely at first, then it is hurried along, and in the end left to itself.
func (p *part) end(hurry func()) {
	p.cancel()
	if p.ended(grace) {
		return
	}
	hurry()
	p.ended(stopLimit)
}

func (p *part) ended(within time.Duration) bool {
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-p.done:
		return true
	case <-limit.C:
		return false
	}
}
