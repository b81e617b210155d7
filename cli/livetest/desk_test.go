// SPDX-License-Identifier: Apache-2.0

// Package livetest tries the commands about a management cluster against a real API server. No operator runs here: the tests
// play it, and write the statuses that it would write.
package livetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// within bounds what a busy machine takes.
const within = 30 * time.Second

// A desk is where one test works: a namespace with a place of its own.
type desk struct {
	t          *testing.T
	client     client.Client
	namespace  string
	kubeconfig string
}

// sit makes a desk with a Location called lab, in which machines are simulated, and a rack of metal.
func sit(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, kubetest.Client(t), kubetest.Namespace(t), kubetest.Kubeconfig(t)}
	for name, spec := range map[string]api.LocationSpec{
		"lab":  {Sim: &api.SimLocation{}},
		"rack": {Metal: &api.MetalLocation{}},
		"hall": {KubeVirt: &api.KubeVirtLocation{}},
	} {
		d.make(&api.Location{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: d.namespace}, Spec: spec})
	}
	return d
}

// make makes an object.
func (d *desk) make(object client.Object) {
	d.t.Helper()
	if err := d.client.Create(d.t.Context(), object); err != nil {
		d.t.Fatal(err)
	}
}

// A result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command in the desk's namespace.
func (d *desk) run(line string) result {
	d.t.Helper()
	return d.start(d.t.Context(), line).wait()
}

// want runs a command and wants it to end well.
func (d *desk) want(line string) string {
	d.t.Helper()
	ended := d.run(line)
	if ended.code != cli.ExitOK {
		d.t.Fatalf("minos %s: exit code %d: %s", line, ended.code, ended.stderr)
	}
	return ended.stdout + ended.stderr
}

// A running command can be read while it runs.
type running struct {
	out, err shared
	code     chan int
}

// start begins a command.
func (d *desk) start(ctx context.Context, line string) *running {
	started := &running{code: make(chan int, 1)}
	args := append(strings.Fields(line), "--kubeconfig", d.kubeconfig, "-n", d.namespace)
	root := cli.New(cli.Streams{In: strings.NewReader(""), Out: &started.out, Err: &started.err}, cli.Version{})
	go func() { started.code <- cli.Run(ctx, root, args) }()
	return started
}

// wait waits for its end.
func (r *running) wait() result {
	return result{<-r.code, r.out.String(), r.err.String()}
}

// says waits until its words contain a text.
func (r *running) says(t *testing.T, text string) {
	t.Helper()
	kubetest.Eventually(t, within, func(context.Context) error {
		if !strings.Contains(r.err.String(), text) {
			return fmt.Errorf("it does not say %q but %q", text, r.err.String())
		}
		return nil
	})
}

// shared is a buffer that is read while it is written.
type shared struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// contains wants every part in a text.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in:\n%s", part, text)
		}
	}
}

// createCluster makes the cluster shop by the command.
func (d *desk) createCluster() {
	d.t.Helper()
	d.want("cluster create shop --kubernetes v1.36.3 --talos v1.13.9")
}

// createPool makes a pool of the cluster shop by the command.
func (d *desk) createPool(name, more string) {
	d.t.Helper()
	d.want("pool create " + name + " --cluster shop --role plain --location lab " + more)
}

// workers reads the pool workers.
func (d *desk) workers() *api.NodePool {
	d.t.Helper()
	pool := &api.NodePool{}
	if err := d.client.Get(d.t.Context(), client.ObjectKey{Namespace: d.namespace, Name: "workers"}, pool); err != nil {
		d.t.Fatal(err)
	}
	return pool
}

// report writes what an operator would say of the pool workers: that some of its machines are Ready, and which step others wait for.
func (d *desk) report(ready int32, why string) {
	d.t.Helper()
	pool := d.workers()
	pool.Status.ObservedGeneration = pool.Generation
	pool.Status.DesiredReplicas, pool.Status.Replicas, pool.Status.ReadyReplicas = pool.Spec.Replicas, pool.Spec.Replicas, &ready
	for _, part := range api.NodePoolReady {
		condition := metav1.Condition{Type: part, Status: metav1.ConditionTrue, Reason: api.ReasonReady, ObservedGeneration: pool.Generation}
		if part == api.ConditionMachinesReady && why != "" {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, api.ReasonProgressing, why
		}
		meta.SetStatusCondition(&pool.Status.Conditions, condition)
	}
	meta.SetStatusCondition(&pool.Status.Conditions, api.NodePoolReady.Ready(pool.Status.Conditions, pool.Generation))
	if err := d.client.Status().Update(d.t.Context(), pool); err != nil {
		d.t.Fatal(err)
	}
}

// machine makes a machine of the pool workers that has reached some steps.
func (d *desk) machine(name string, reached int, why string) {
	d.t.Helper()
	machine := &api.TalosMachine{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: d.namespace, Labels: names.Labels("shop", "workers")}}
	machine.Spec = api.TalosMachineSpec{
		ClusterName: "shop", PoolName: "workers", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "lab"}, Revision: "one",
	}
	d.make(machine)
	for i, step := range api.TalosMachineReady[:min(reached+1, len(api.TalosMachineReady))] {
		condition := metav1.Condition{Type: step, Status: metav1.ConditionTrue, Reason: api.ReasonReady}
		if i == reached {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, api.ReasonWaiting, why
		}
		meta.SetStatusCondition(&machine.Status.Conditions, condition)
	}
	meta.SetStatusCondition(&machine.Status.Conditions, api.TalosMachineReady.Ready(machine.Status.Conditions, machine.Generation))
	machine.Status.NodeName = name
	if err := d.client.Status().Update(d.t.Context(), machine); err != nil {
		d.t.Fatal(err)
	}
}
