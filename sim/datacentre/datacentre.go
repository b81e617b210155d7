// SPDX-License-Identifier: Apache-2.0

// Package datacentre is all that a management cluster needs around it, on this machine: Kamaji, KubeVirt with its Cluster API
// provider, and a cloud, each a double that speaks the real protocol, over one rack of simulated machines and one network of
// addresses. A folder keeps it: it can be killed at any moment and goes on when it is opened again.
package datacentre

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/siderolabs/image-factory/pkg/schematic"
	"k8s.io/client-go/rest"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/kubevirt"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

// Options are one data centre.
type Options struct {
	// Config reaches the management cluster, as an administrator.
	Config *rest.Config
	// Folder keeps all of it.
	Folder string
	// Speed is how much faster than life time passes; 1 if it is not said. Seed decides what is left to chance.
	Speed float64
	Seed  uint64
	// Durations are how long machines take.
	Durations machine.Durations
	// Every is how often Kamaji is looked at; a second if it is not said.
	Every time.Duration
	// Listen is where the API of the cloud answers, and Token what opens it: a free port of 127.0.0.1 and a new one if they are not
	// said. Who wants to be found again after a restart says both.
	Listen, Token string
	// Log is told what happens to machines, also at the same time. Words takes what Kamaji and its signers say; nil for nobody.
	Log   func(machine.Event)
	Words *slog.Logger
	// Doors are on the ways of machines and to control planes; nil for none. Stamp is the clock by which the cloud says when it made
	// an instance; nil for the right one.
	Doors *door.Doors
	Stamp func() time.Time
}

// A DataCentre is open until it is closed.
type DataCentre struct {
	Kamaji   *kamaji.Kamaji
	KubeVirt *kubevirt.Double
	Cloud    *cloud.Cloud
	// Rack has the machines of both, and Keeper how both behave.
	Rack   *machine.Rack
	Keeper *conduct.Keeper
	// URL is where the API of the cloud is, and Token opens it.
	URL, Token string

	stop    context.CancelFunc
	work    sync.WaitGroup
	failed  chan error // of parts that broke, at most one each
	closers []func() error
}

// Open opens a data centre. The kinds that it serves must be installed.
func Open(ctx context.Context, options Options) (_ *DataCentre, err error) {
	if options.Log == nil {
		options.Log = func(machine.Event) {}
	}
	d := &DataCentre{Keeper: conduct.NewKeeper(options.Seed, options.Speed, conduct.Behaviour{}), Token: cmp.Or(options.Token, rand.Text()), failed: make(chan error, 3)}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	network, err := loopback.Claim(options.Folder)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, network.Close)
	factory, err := builtIn()
	if err != nil {
		return nil, err
	}
	d.Rack, err = machine.NewRack(through(machine.Environment{Scale: options.Speed, Durations: options.Durations, Registry: factory, Log: options.Log}, options.Doors))
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, func() error { d.Rack.Close(); return nil })
	if err := d.virtual(running, options, network, factory); err != nil {
		return nil, err
	}
	return d, d.clouds(running, options, network, factory)
}

// virtual starts Kamaji and KubeVirt.
func (d *DataCentre) virtual(ctx context.Context, options Options, network *loopback.Network, factory *machine.Factory) (err error) {
	d.Kamaji, err = kamaji.New(kamaji.Options{
		Config: options.Config, Folder: filepath.Join(options.Folder, "kamaji"), Network: network, Every: options.Every, Log: options.Words,
		Ways: newWays(network, options.Doors),
	})
	if err != nil {
		return fmt.Errorf("kamaji: %w", err)
	}
	d.KubeVirt, err = kubevirt.New(kubevirt.Options{
		Config: options.Config, Folder: filepath.Join(options.Folder, "kubevirt"), Rack: d.Rack, Factory: factory, Keeper: d.Keeper, Addresses: network, Log: options.Log,
	})
	if err != nil {
		return fmt.Errorf("kubevirt: %w", err)
	}
	d.run("kamaji", func() error { return d.Kamaji.Run(ctx) })
	d.run("kubevirt", func() error { return d.KubeVirt.Run(ctx) })
	return nil
}

// clouds starts the cloud.
func (d *DataCentre) clouds(ctx context.Context, options Options, network *loopback.Network, factory *machine.Factory) (err error) {
	d.Cloud, err = cloud.Open(cloud.Options{
		Folder: filepath.Join(options.Folder, "cloud"), Rack: d.Rack, Keeper: d.Keeper, Addresses: network, Images: cloud.FromFactory(factory), Stamp: options.Stamp,
		Log: func(event cloud.Event) {
			options.Log(machine.Event{Time: event.Time, Machine: event.Machine, Message: event.Message})
		},
	})
	if err != nil {
		return fmt.Errorf("cloud: %w", err)
	}
	d.closers = append(d.closers, func() error { d.Cloud.Close(); return nil })
	server, err := d.Cloud.Listen(ctx, cmp.Or(options.Listen, "127.0.0.1:0"), d.Token)
	if err != nil {
		return fmt.Errorf("cloud: %w", err)
	}
	d.URL = server.URL()
	d.run("cloud", func() error { return server.Run(ctx) })
	return nil
}

// run runs a part until the data centre is closed.
func (d *DataCentre) run(name string, part func() error) {
	d.work.Go(func() {
		if err := part(); err != nil && !errors.Is(err, context.Canceled) {
			d.failed <- fmt.Errorf("%s: %w", name, err)
		}
	})
}

// Close ends everything as a power cut would, and returns when nothing runs. Its error says also which part broke before.
func (d *DataCentre) Close() error {
	d.stop()
	d.work.Wait()
	close(d.failed)
	var failed []error
	for err := range d.failed {
		failed = append(failed, err)
	}
	for at := len(d.closers) - 1; at >= 0; at-- {
		failed = append(failed, d.closers[at]())
	}
	d.closers = nil
	return errors.Join(failed...)
}

// builtIn is a factory that knows the images of the built-in roles.
func builtIn() (*machine.Factory, error) {
	roles, err := talos.NewRoles()
	if err != nil {
		return nil, err
	}
	factory := &machine.Factory{Extensions: map[string][]string{}}
	for _, name := range roles.Names() {
		role, err := roles.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		whole, err := image.Schematic(role, schematic.Schematic{})
		if err != nil {
			return nil, err
		}
		identity, err := whole.ID()
		if err != nil {
			return nil, err
		}
		factory.Extensions[identity] = image.Extensions(role)
	}
	return factory, nil
}
