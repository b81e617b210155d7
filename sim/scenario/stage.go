// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"minos.dev/minos/api/load"
	"minos.dev/minos/backend"
	place "minos.dev/minos/backend/sim"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cluster"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
)

// A stage is everything that a rehearsal needs: addresses, a cluster, a cloud, and the machines in it.
type stage struct {
	declared *cluster.Declared
	network  *loopback.Network
	cluster  *cluster.Cluster
	factory  *machine.Factory
	keeper   *conduct.Keeper
	rack     *machine.Rack
	cloud    *cloud.Cloud
	place    backend.Place

	closers []func() error // in the order in which things were opened
}

// setUp opens a stage, or goes on with the one of a folder.
func setUp(ctx context.Context, options Options, tell func(name string, step machine.Step, message string)) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.declared, err = readDeclared(options.Objects, options.Scenario); err != nil {
		return nil, err
	}
	if s.network, err = loopback.Claim(options.Folder); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.network.Close)
	own, err := s.network.Take("control-plane")
	if err != nil {
		return nil, err
	}
	tell("", "", "the API server starts")
	s.cluster, err = cluster.Open(ctx, cluster.Options{Folder: filepath.Join(options.Folder, "cluster"), Address: own, Talos: s.declared.Cluster.Spec.TalosVersion})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.cluster.Stop)
	if err := s.machines(options, tell); err != nil {
		return nil, err
	}
	if err := s.serve(ctx); err != nil {
		return nil, err
	}
	tell("", "", fmt.Sprintf("the API server and the signer answer at %s", own))
	return s, nil
}

// readDeclared finds the cluster, and holds the scenario's names against it.
func readDeclared(objects []load.Object, scenario *Scenario) (*cluster.Declared, error) {
	declared, err := cluster.Read(objects, scenario.Cluster)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return declared, scenario.checkPools(declared.Pools())
}

// machines brings the rack and the cloud. Machines of an earlier run have power again as soon as the cloud is open.
func (s *stage) machines(options Options, tell func(string, machine.Step, string)) error {
	schematics, err := s.declared.Schematics()
	if err != nil {
		return err
	}
	s.factory = &machine.Factory{Extensions: schematics}
	scenario := options.Scenario
	s.keeper = conduct.NewKeeper(scenario.Seed, scenario.Speed, scenario.Place)
	durations := machine.Durations{
		Boot: scenario.Durations.Boot.Duration, Install: scenario.Durations.Install.Duration, Deadline: scenario.Durations.Deadline.Duration,
	}
	s.rack, err = machine.NewRack(machine.Environment{
		Scale: scenario.Speed, Durations: durations, Registry: s.factory,
		Log: func(event machine.Event) { tell(event.Machine, event.Step, event.Message) },
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { s.rack.Close(); return nil })
	s.cloud, err = cloud.Open(cloud.Options{
		Folder: filepath.Join(options.Folder, "cloud"), Rack: s.rack, Keeper: s.keeper, Addresses: s.network, Images: cloud.FromFactory(s.factory),
		Log: func(event cloud.Event) { tell(event.Machine, "", event.Message) },
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { s.cloud.Close(); return nil })
	return nil
}

// serve opens the cloud's API and the place behind which it is: the rehearsal makes machines as an operator does.
func (s *stage) serve(ctx context.Context) error {
	token := rand.Text()
	server, err := s.cloud.Listen(ctx, "127.0.0.1:0", token)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- server.Run(serving) }()
	s.closers = append(s.closers, func() error { stop(); return <-done })
	s.place, err = place.New(server.URL(), token)
	return err
}

// close closes what was opened, the last first.
func (s *stage) close() error {
	var failed []error
	for at := len(s.closers) - 1; at >= 0; at-- {
		failed = append(failed, s.closers[at]())
	}
	return errors.Join(failed...)
}

// prepare makes the folder of a rehearsal.
func prepare(folder string) error { return os.MkdirAll(folder, 0o700) }
