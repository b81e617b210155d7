// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/loopback"
)

// Options say what a double works with.
type Options struct {
	// Config leads to the management cluster.
	Config *rest.Config
	// Folder keeps the control planes, one in each <namespace>/<name>.
	Folder string
	// Network is where their addresses come from.
	Network *loopback.Network
	// Ways are those by which kubeconfigs lead to control planes; straight, if there are none.
	Ways Ways
	// Infrastructure are further kinds of infrastructure whose endpoint it may set, as with the provider's
	// --dynamic-infrastructure-clusters.
	Infrastructure []string
	// Faults hold for every control plane that has none of its own.
	Faults Faults
	// Every is how often it looks; a second if it is zero, as the provider does.
	Every time.Duration
	// Log takes what it says, and what the signers say. Audit takes the signers' lines about requests, from several at once.
	// Either may be missing.
	Log   *slog.Logger
	Audit io.Writer
}

// Kamaji is the double.
type Kamaji struct {
	options Options
	client  client.Client
	nudge   chan struct{}
	tenants map[types.NamespacedName]*tenant // of Run alone

	mutex  sync.Mutex
	faults map[types.NamespacedName]Faults
}

// group is where KamajiControlPlane is.
const group = "controlplane.cluster.x-k8s.io"

// versions are those that it understands, the best first.
var versions = []string{"v1alpha2", "v1alpha1"}

// New prepares a double. It does nothing before Run.
func New(options Options) (*Kamaji, error) {
	if options.Folder == "" || options.Network == nil {
		return nil, errors.New("a double of Kamaji needs a folder and a network")
	}
	folder, err := filepath.Abs(options.Folder)
	if err != nil {
		return nil, err
	}
	options.Folder = folder
	if options.Every == 0 {
		options.Every = time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Audit == nil {
		options.Audit = io.Discard
	}
	config := rest.CopyConfig(options.Config)
	config.QPS = -1 // the API server is on this machine and holds its own
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the management cluster: %w", err)
	}
	return &Kamaji{
		options: options, client: c, nudge: make(chan struct{}, 1),
		tenants: map[types.NamespacedName]*tenant{}, faults: map[types.NamespacedName]Faults{},
	}, nil
}

// Run works until the context ends. Then it kills every control plane and waits until they are gone; nothing is removed.
// An error of one control plane is told in the log and stops nothing. It is called once.
func (k *Kamaji) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	tick := time.NewTicker(k.options.Every)
	defer tick.Stop()
	log := teller{log: k.options.Log}
	for {
		log.tell(ctx, k.look(ctx, &running))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-k.nudge:
		}
	}
}

// look finds control planes, gives each of them somebody who tends it, and nudges those who do.
func (k *Kamaji) look(ctx context.Context, running *sync.WaitGroup) error {
	list, err := k.list(ctx)
	if err != nil {
		return fmt.Errorf("list control planes: %w", err)
	}
	for key, t := range k.tenants {
		if t.ended() {
			delete(k.tenants, key)
		}
	}
	for at := range list.Items {
		object := &list.Items[at]
		key := client.ObjectKeyFromObject(object)
		if k.tenants[key] == nil {
			t := newTenant(k, object)
			k.tenants[key] = t
			running.Go(func() { t.tend(ctx) })
		}
	}
	for _, t := range k.tenants {
		t.wake()
	}
	return nil
}

// list returns all control planes, in the best version that the management cluster serves. A cluster that does not serve
// the kind yet has none.
func (k *Kamaji) list(ctx context.Context) (*unstructured.UnstructuredList, error) {
	found := &unstructured.UnstructuredList{}
	mapping, err := k.client.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: "KamajiControlPlane"}, versions...)
	if meta.IsNoMatchError(err) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	found.SetGroupVersionKind(mapping.GroupVersionKind)
	return found, k.client.List(ctx, found)
}

// teller logs an error when it is another one than the last.
type teller struct {
	log  *slog.Logger
	last string
}

// tell logs. Errors of a context that has ended are nobody's.
func (t *teller) tell(ctx context.Context, err error) {
	words := ""
	if err != nil {
		words = err.Error()
	}
	if words == t.last || ctx.Err() != nil {
		return
	}
	t.last = words
	if err != nil {
		t.log.Warn(words)
		return
	}
	t.log.Info("all is as it should be")
}
