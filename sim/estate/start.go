// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/sim/process"
)

// starts is how a part is started.
func (e *Estate) starts(name Part) func(ctx context.Context) (running, error) {
	switch name {
	case Management:
		return e.startManagement
	case ClusterAPI:
		return e.startClusterAPI
	case Places:
		return e.startPlaces
	default:
		return e.startOperator
	}
}

// startManagement starts the management cluster, with all that is installed in it.
func (e *Estate) startManagement(ctx context.Context) (running, error) {
	at, err := e.at("management", 6443)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(e.options.Folder, "management")
	if err := link(filepath.Join("..", "management", "log.txt"), e.LogFile(Management)); err != nil {
		return nil, err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: folder, Address: at.Addr(), Port: int(at.Port())})
	if err != nil {
		return nil, err
	}
	if err := e.install(ctx); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane.Process(), nil
}

// link makes a name for a file that another program writes.
func link(file, name string) error {
	if err := os.Symlink(file, name); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// startClusterAPI starts Cluster API's controllers.
func (e *Estate) startClusterAPI(ctx context.Context) (running, error) {
	if err := e.turnLog(ClusterAPI); err != nil {
		return nil, err
	}
	return asRunning(controlplane.ClusterAPI(ctx, e.Kubeconfig(), "--log", e.LogFile(ClusterAPI)))
}

// asRunning keeps an absent process from becoming a part that is there.
func asRunning(p *process.Process, err error) (running, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// startPlaces opens the data centre.
func (e *Estate) startPlaces(ctx context.Context) (running, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	at, err := e.at("cloud", 8080)
	if err != nil {
		return nil, err
	}
	log, err := e.openLog(Places)
	if err != nil {
		return nil, err
	}
	words := slog.New(slog.NewTextHandler(log, nil))
	centre, err := datacentre.Open(ctx, datacentre.Options{
		Config: config, Folder: filepath.Join(e.options.Folder, "places"), Speed: e.options.Speed, Seed: e.options.Seed,
		Durations: e.options.Durations, Every: e.options.Every, Listen: at.String(), Token: e.token, Words: words,
		Doors: e.options.Doors, Stamp: e.options.Stamp,
		Log: func(event machine.Event) {
			words.Info(event.Message, "machine", event.Machine, "step", event.Step)
			e.options.Log(event)
		},
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	e.setCentre(centre)
	return &places{estate: e, centre: centre, log: log, done: make(chan struct{})}, nil
}

// setCentre notes which data centre there is.
func (e *Estate) setCentre(centre *datacentre.DataCentre) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.centre = centre
}

// places are a data centre as a part. It has but one end, which is that of a power cut.
type places struct {
	estate *Estate
	centre *datacentre.DataCentre
	log    *os.File

	once sync.Once
	done chan struct{}
}

// Stop ends it.
func (p *places) Stop() (err error) {
	p.once.Do(func() {
		p.estate.setCentre(nil)
		err = errors.Join(p.centre.Close(), p.log.Close())
		close(p.done)
	})
	return err
}

// Kill is the same.
func (p *places) Kill() { _ = p.Stop() }

// Done is closed when it has ended.
func (p *places) Done() <-chan struct{} { return p.done }

const (
	// signerImage names the signer by which the double of Kamaji knows it; nothing is pulled.
	signerImage = "registry.example.com/minos-signer:dev"
	// services is the network of services of minos-kube, which clusters must keep clear of.
	services = "10.0.0.0/24"
)

// startOperator starts the operator and waits until it answers.
func (e *Estate) startOperator(ctx context.Context) (running, error) {
	kubeconfig, err := e.operatorAccess(ctx)
	if err != nil {
		return nil, err
	}
	webhook, err := e.at("operator", 9443)
	if err != nil {
		return nil, err
	}
	metrics, _ := e.at("operator", 8080) // which is known by now
	health, _ := e.at("operator", 8081)
	cloud, err := e.at("cloud", 8080)
	if err == nil {
		cloud, err = e.through(door.ToPlace, cloud)
	}
	if err != nil {
		return nil, err
	}
	log, err := e.openLog(Operator)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, process.Command{
		Program: e.program, Environment: []string{"MINOS_SIM_TOKEN=" + e.token}, Signal: syscall.SIGTERM, Words: log,
		Args: []string{
			"--kubeconfig", kubeconfig, "--namespace", operatorNamespace, "--signer-image", signerImage, "--elect=false",
			"--metrics", metrics.String(), "--health", health.String(), "--webhook", webhook.String(), "--webhook-service", "",
			// Tenants' API servers are on loopback too: only the management cluster's own network is out of their reach.
			"--refused-networks", "127.0.0.0/24,169.254.0.0/16," + e.network.Prefix().String(), "--management-networks", services,
			"--sim-url", "http://" + cloud.String(),
		},
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	e.work.Go(func() { <-p.Done(); _ = log.Close() })
	if err := answers(ctx, p, "http://"+health.String()+"/readyz"); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// answers waits until a process does at an address.
func answers(ctx context.Context, p *process.Process, url string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-p.Done():
			return fmt.Errorf("minos-operator ended before it was ready: %s", p.Words())
		case <-ctx.Done():
			return fmt.Errorf("minos-operator was not ready in time: %w: %s", ctx.Err(), p.Words())
		}
	}
}
