// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	place "minos.dev/minos/backend/sim"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/cluster"
	"minos.dev/minos/sim/conduct"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/loopback"
	sim "minos.dev/minos/sim/machine"
)

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 2 * time.Minute

// version is the release of Talos in these tests.
const version = "v1.13.9"

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	kubetest.Main(m)
}

// theTenant is a cluster that machines can join, for all tests.
var theTenant *cluster.Cluster

// TestMachines runs the stories beside each other, on one management cluster and one tenant.
func TestMachines(t *testing.T) {
	network, err := loopback.Claim("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	address, err := network.Take("control-plane")
	if err != nil {
		t.Fatal(err)
	}
	theTenant, err = cluster.Open(t.Context(), cluster.Options{Folder: t.TempDir(), Address: address, Talos: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theTenant.Stop() })
	for name, story := range map[string]func(*testing.T){
		"pool becomes ready":          testPoolBecomesReady,
		"lost answer":                 testLostAnswer,
		"quota":                       testQuota,
		"dies":                        testDies,
		"rolls":                       testRolls,
		"never joins":                 testNeverJoins,
		"unproven":                    testUnproven,
		"is revised live":             testIsRevisedLive,
		"is refused live":             testIsRefusedLive,
		"steady state writes nothing": testSteadyStateWritesNothing,
		"end":                         testEnd,
		"end of a dead tenant":        testEndOfADeadTenant,
		"undeletable":                 testUndeletable,
		"killed":                      testKilled,
		"orphan":                      testOrphan,
		"vanished":                    testVanished,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t)
		})
	}
}

// A world is a management cluster, a tenant, a cloud, and an operator that can be killed.
type world struct {
	t         *testing.T
	client    client.Client
	namespace string
	tenant    *cluster.Cluster
	nodes     client.Client // the tenant's
	cloud     *cloud.Cloud
	rack      *sim.Rack
	keeper    *conduct.Keeper
	place     backend.Place
	cluster   *api.TalosCluster
	pool      *api.NodePool
	options   options
	measures  *metrics.Metrics // of all operators

	mutex    sync.Mutex
	revision string
	rolls    string
	shift    time.Duration // how far the operator's clock is ahead
	image    backend.Image
	events   []string
	kill     func()
}

// options are what differs between tests.
type options struct {
	replicas     int32
	behaviour    conduct.Behaviour
	unavailable  int
	surge        int
	drain        int32
	patience     time.Duration
	grace        time.Duration
	reportOnly   bool
	withoutNodes bool
	services     bool // the image has some
}

// newWorld declares a cluster, a location and a pool. No operator runs yet.
func newWorld(t *testing.T, o options) *world {
	t.Helper()
	w := &world{t: t, client: kubetest.Client(t), namespace: kubetest.Namespace(t), tenant: theTenant, options: o, kill: func() {}, measures: metrics.New(nil)}
	var err error
	w.nodes, err = client.New(theTenant.Plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.openCloud()
	w.declare()
	w.measures.Cluster(client.ObjectKeyFromObject(w.cluster), metrics.Cluster{}) // as the controller of clusters does
	t.Cleanup(func() { w.kill(); w.clean() })
	return w
}

// openCloud starts a cloud on addresses of its own.
func (w *world) openCloud() {
	w.t.Helper()
	network, err := loopback.Claim("")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = network.Close() })
	w.rack, err = sim.NewRack(sim.Environment{Scale: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.rack.Close)
	w.keeper = conduct.NewKeeper(1, 1, w.options.behaviour)
	w.cloud, err = cloud.Open(cloud.Options{Folder: filepath.Join(w.t.TempDir(), "cloud"), Rack: w.rack, Keeper: w.keeper, Addresses: network, Log: w.log})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.cloud.Close)
	w.place, err = place.New(cloudtest.Serve(w.t, w.cloud), cloudtest.Token)
	if err != nil {
		w.t.Fatal(err)
	}
}

// log keeps what the cloud tells.
func (w *world) log(event cloud.Event) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.events = append(w.events, event.Machine+" "+event.Message)
}

// count counts events that say something.
func (w *world) count(message string) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	count := 0
	for _, event := range w.events {
		if len(event) >= len(message) && event[len(event)-len(message):] == message {
			count++
		}
	}
	return count
}

// declare makes the objects.
func (w *world) declare() {
	w.t.Helper()
	endpoint := w.tenant.Plane.Endpoint()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "shop"}
	w.cluster = &api.TalosCluster{ObjectMeta: meta, Spec: api.TalosClusterSpec{
		KubernetesVersion: "v1.36.3", TalosVersion: version, Endpoint: &api.Endpoint{Host: endpoint.Addr().String(), Port: int32(endpoint.Port())},
		ControlPlane: api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "shop-kubeconfig", Key: "value"}}},
	}}
	location := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "here"}, Spec: api.LocationSpec{Sim: &api.SimLocation{Place: api.Place{Zone: "zone-1"}}}}
	w.pool = &api.NodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "w" + w.namespace[len("test-"):]},
		Spec: api.NodePoolSpec{
			ClusterName: "shop", Role: "plain", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "here"}, Replicas: &w.options.replicas,
			Machine: api.Machine{Sim: &api.SimMachine{}}, Rollout: &api.Rollout{DrainTimeoutSeconds: &w.options.drain},
		},
	}
	identity, err := w.tenant.Secrets.Marshal()
	if err != nil {
		w.t.Fatal(err)
	}
	w.make(w.cluster, location, w.pool,
		w.secret("shop-kubeconfig", "value", w.tenant.Plane.Kubeconfig(), nil), w.secret(names.Identity(w.cluster), names.IdentityKey, identity, nil))
	w.revise("one", true)
}

// secret is a Secret with one key.
func (w *world) secret(name, key string, value []byte, labels map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: labels}, Data: map[string][]byte{key: value}}
}

// make makes objects.
func (w *world) make(objects ...client.Object) {
	w.t.Helper()
	for _, object := range objects {
		if err := w.client.Create(w.t.Context(), object); err != nil {
			w.t.Fatal(err)
		}
	}
}

// revise makes a revision of the configuration the newest.
func (w *world) revise(name string, rolls bool) {
	w.t.Helper()
	location := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "here"}, Spec: api.LocationSpec{Sim: &api.SimLocation{}}}
	declared, err := cluster.Read([]load.Object{w.cluster, location, w.pool}, "shop")
	if err != nil {
		w.t.Fatal(err)
	}
	wanted, err := declared.Machines(w.tenant, map[string]int{w.pool.Name: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	secret := w.pool.Name + "-" + name
	w.make(w.secret(secret, names.ConfigurationKey, wanted[0].UserData, names.Purpose("shop", w.pool.Name, names.PurposeConfiguration)))
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.revision, w.image = secret, wanted[0].Image
	if rolls {
		w.rolls = secret
	}
}

// now is the operator's clock.
func (w *world) now() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return time.Now().Add(w.shift)
}

// machines are those of the pool.
func (w *world) machines(ctx context.Context) ([]api.TalosMachine, error) {
	var all api.TalosMachineList
	err := w.client.List(ctx, &all, client.InNamespace(w.namespace))
	return all.Items, err
}

// eventually waits.
func (w *world) eventually(holds func(ctx context.Context) error) {
	w.t.Helper()
	kubetest.Eventually(w.t, within, holds)
}

// ready wants so many machines of the newest revision that are ready, as many instances, and nothing else.
func (w *world) ready(want int) func(context.Context) error {
	return func(ctx context.Context) error {
		all, err := w.machines(ctx)
		if err != nil {
			return err
		}
		instances := w.cloud.Instances()
		if len(all) != want || len(instances) != want {
			return fmt.Errorf("%d machines and %d instances: %s", len(all), len(instances), stands(all))
		}
		for _, one := range all {
			ready := slices.IndexFunc(one.Status.Conditions, func(c metav1.Condition) bool { return c.Type == api.ConditionReady && c.Status == metav1.ConditionTrue })
			if ready < 0 || string(one.Spec.Revision) != w.revision || one.Annotations[machines.AnnotationJoined] == "" {
				return errors.New(stands(all))
			}
		}
		return nil
	}
}

// stands says how far machines are.
func stands(all []api.TalosMachine) string {
	text := ""
	for _, one := range all {
		text += "\n" + one.Name + " " + string(one.Spec.Revision)
		if !one.DeletionTimestamp.IsZero() {
			text += " deleting"
		}
		for _, condition := range one.Status.Conditions {
			if condition.Type == api.ConditionReady {
				text += " " + string(condition.Status) + " " + condition.Reason + ": " + condition.Message
			}
		}
	}
	return text
}

// scale changes how many machines are wanted.
func (w *world) scale(replicas int32) {
	w.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := w.client.Patch(w.t.Context(), w.pool.DeepCopy(), client.RawPatch("application/merge-patch+json", patch)); err != nil {
		w.t.Fatal(err)
	}
}

// clean lets objects go that no operator looks after any more.
func (w *world) clean() {
	ctx := context.Background() // the test's own has ended
	all, _ := w.machines(ctx)
	for at := range all {
		_ = w.client.Patch(ctx, &all[at], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		_ = w.nodes.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: all[at].Name}})
	}
}
