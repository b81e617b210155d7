// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/operator"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/door"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/sim/program"
)

// A Part is one that can be started, stopped and killed by itself.
type Part string

// The parts.
const (
	// Management is the management cluster: etcd, API server and controller manager in one process.
	Management Part = "management"
	// ClusterAPI is Cluster API's own controllers, a process.
	ClusterAPI Part = "cluster-api"
	// Places is Kamaji, KubeVirt and a cloud, as doubles in this program; hosted API servers are processes.
	Places Part = "places"
	// Operator is the operator, a process with the rights of its manifests.
	Operator Part = "operator"
)

// Parts are all of them, each behind those that it needs to start.
func Parts() []Part { return []Part{Management, ClusterAPI, Places, Operator} }

// Options are one estate.
type Options struct {
	// Folder keeps all of it.
	Folder string
	// Operator is the operator's program. Without it, it is looked for as all programs are.
	Operator string
	// Speed is how much faster than life time passes, and Seed decides what is left to chance.
	Speed float64
	Seed  uint64
	// Durations are how long machines take.
	Durations machine.Durations
	// Every is how often Kamaji looks; a fifth of a second if it is not said.
	Every time.Duration
	// Log is told what happens to machines, and Tell what happens to parts, both also at the same time. They may be missing.
	Log  func(machine.Event)
	Tell func(part Part, text string)
	// Doors are on the ways between parts, and Stamp is the clock by which the cloud says when it made an instance. Without them ways are
	// straight, and the clock is right.
	Doors *door.Doors
	Stamp func() time.Time
}

// An Estate is open until it is closed.
type Estate struct {
	options Options
	network *loopback.Network
	token   string // of the cloud
	program string // of the operator

	context context.Context // of what it does by itself
	cancel  context.CancelFunc
	work    sync.WaitGroup
	parts   map[Part]*part

	mutex  sync.Mutex
	centre *datacentre.DataCentre
	config *rest.Config
	client client.Client
}

// Open takes the folder, which may be empty or have been used before, and starts every part. The context bounds the start only.
func Open(ctx context.Context, options Options) (*Estate, error) {
	e, err := Prepare(options)
	if err != nil {
		return nil, err
	}
	for _, part := range Parts() {
		if err := e.Start(ctx, part); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// Prepare is Open for those who start the parts themselves: it takes the folder, and starts nothing.
func Prepare(options Options) (*Estate, error) {
	folder, err := filepath.Abs(options.Folder)
	if err != nil {
		return nil, err
	}
	options.Folder, options.Every = folder, cmp.Or(options.Every, time.Second/5)
	if options.Log == nil {
		options.Log = func(machine.Event) {}
	}
	if options.Tell == nil {
		options.Tell = func(Part, string) {}
	}
	ctrl.SetLogger(logr.Discard()) // what matters is told, and logged by the parts
	e := &Estate{options: options, program: options.Operator, parts: map[Part]*part{}}
	if e.program == "" {
		if e.program, err = program.Find(program.Operator); err != nil {
			return nil, err
		}
	}
	if _, err := program.Find(program.Kube); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(e.Logs(), 0o700); err != nil {
		return nil, err
	}
	// Whoever holds the network has the folder: the kernel lets go of it when this program ends, however it ends.
	if e.network, err = loopback.Claim(folder); err != nil {
		return nil, err
	}
	if e.token, err = keptToken(filepath.Join(folder, "token")); err != nil {
		return nil, errors.Join(err, e.network.Close())
	}
	e.context, e.cancel = context.WithCancel(context.Background())
	for _, name := range Parts() {
		e.parts[name] = &part{estate: e, name: name, begin: e.starts(name)}
	}
	return e, nil
}

// Start starts a part and returns when it can be used. One that runs is left alone.
func (e *Estate) Start(ctx context.Context, name Part) error { return e.parts[name].start(ctx) }

// Stop asks a part to end, and waits until it has. One that does not run is no mistake.
func (e *Estate) Stop(name Part) error { return e.parts[name].end(running.Stop) }

// Kill ends a part at once and without goodbye.
func (e *Estate) Kill(name Part) {
	_ = e.parts[name].end(func(r running) error { r.Kill(); return nil })
}

// Runs says whether a part does.
func (e *Estate) Runs(name Part) bool { return e.parts[name].runs() }

// Close ends everything and returns when nothing is left, the parts that need others first.
func (e *Estate) Close() error {
	e.cancel()
	var failed []error
	for _, name := range slices.Backward(Parts()) {
		failed = append(failed, e.Stop(name))
	}
	e.work.Wait()
	return errors.Join(append(failed, e.network.Close())...)
}

// Kubeconfig is a file with which an administrator reaches the management cluster.
func (e *Estate) Kubeconfig() string {
	return filepath.Join(e.options.Folder, "management", "kubeconfig")
}

// Config is the same for a client, without a rate limit: the cluster is ours alone. It is a copy.
func (e *Estate) Config() (*rest.Config, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.config == nil {
		config, err := clientcmd.BuildConfigFromFlags("", e.Kubeconfig())
		if err != nil {
			return nil, fmt.Errorf("the management cluster has not been started: %w", err)
		}
		config.QPS = -1
		e.config = config
	}
	return rest.CopyConfig(e.config), nil
}

// Client is a client of the management cluster that knows Kubernetes' kinds and ours.
func (e *Estate) Client() (client.Client, error) {
	config, err := e.Config()
	if err != nil {
		return nil, err
	}
	scheme, err := operator.Scheme()
	if err != nil {
		return nil, err
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.client == nil {
		e.client, err = client.New(config, client.Options{Scheme: scheme})
	}
	return e.client, err
}

// Centre is the data centre of the places; nil while they do not run. After a restart it is another one.
func (e *Estate) Centre() *datacentre.DataCentre {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.centre
}

// Logs is the folder of all logs.
func (e *Estate) Logs() string { return filepath.Join(e.options.Folder, "logs") }

// LogFile is where a part's log is.
func (e *Estate) LogFile(name Part) string { return filepath.Join(e.Logs(), string(name)+".log") }

// at is where something of the estate listens: the same in every start, and nobody else's.
func (e *Estate) at(what string, port uint16) (netip.AddrPort, error) {
	address, err := e.network.Take(what)
	return netip.AddrPortFrom(address, port), err
}
