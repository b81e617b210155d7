// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	wire "minos.dev/minos/backend/sim"
	"minos.dev/minos/sim/datacentre"
	"minos.dev/minos/sim/machine"
)

// yardName is the name of the cluster, of its namespace and of its place.
const yardName = "yard"

// A yard is one cluster with many machines, on a management cluster of its own: a hosted control plane with a real API server and a
// real signer, and pools of simulated machines that join it. What the operator calls is counted at the door of the management cluster,
// at the counter of the place, and for the tenant by the operator itself.
type yard struct {
	*crowd
	centre *datacentre.DataCentre
	place  *counter
	// others are processes of other tests, which cost nothing here.
	others map[int]bool
	want   []int32 // how many machines each pool has
}

// yardPools is how many pools share the machines: three have three tenths each, and the last one has a tenth.
const yardPools = 4

// shares are how many machines each pool has of so many.
func shares(machines int) []int32 {
	share := int32(machines * 3 / 10)
	return []int32{share, share, share, int32(machines) - 3*share}
}

// newYard brings all of it, with the operator, until the cluster is ready and has one machine: nobody pays for what is done once.
func newYard(t testing.TB) *yard {
	t.Helper()
	y := &yard{others: children(t)}
	y.crowd = newManagement(t)
	config, err := y.plane.Config()
	if err != nil {
		t.Fatal(err)
	}
	y.centre, err = datacentre.Open(t.Context(), datacentre.Options{
		Config: config, Folder: t.TempDir(), Speed: 60, Every: 200 * time.Millisecond, Durations: machine.Durations{Deadline: 1000 * time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := y.centre.Close(); err != nil {
			t.Error(err)
		}
	})
	y.place = newCounter(t, y.centre.Cloud.Handler("sesame"))
	y.cloud = y.place.server.URL
	y.operate()
	y.declareOne()
	y.want = []int32{0, 0, 0, 1}
	y.scale(y.want)
	y.arrived()
	return y
}

// declareOne declares the cluster and its pools, without machines.
func (y *yard) declareOne() {
	y.t.Helper()
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: yardName}},
		&api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: yardName, Name: "cloud"}, Spec: api.LocationSpec{Sim: &api.SimLocation{Place: api.Place{Zone: "cloud-1"}}}},
		&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: yardName, Name: yardName}, Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.36.3", TalosVersion: "v1.13.9", ControlPlane: api.ControlPlane{Kamaji: &api.KamajiControlPlane{}},
		}},
	}
	for at := range yardPools {
		pool := poolOf(yardName, 0)
		pool.Name = yardPool(at)
		pool.Spec.Rollout = &api.Rollout{MaxSurge: new(intstr.FromString("25%"))}
		objects = append(objects, pool)
	}
	for _, object := range objects {
		if err := y.client.Create(y.t.Context(), object); err != nil {
			y.t.Fatal(err)
		}
	}
	y.clusters, y.expected = []string{yardName}, yardPools
	y.settled()
}

// yardPool is the name of a pool.
func yardPool(at int) string { return fmt.Sprintf("pool-%d", at) }

// scale says how many machines each pool has from now on.
func (y *yard) scale(want []int32) {
	y.t.Helper()
	for at, count := range want {
		y.change(at, fmt.Sprintf(`{"spec":{"replicas":%d}}`, count))
	}
	y.want = want
}

// change patches a pool.
func (y *yard) change(at int, patch string) {
	y.t.Helper()
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: yardName, Name: yardPool(at)}}
	if err := y.client.Patch(y.t.Context(), pool, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		y.t.Fatal(err)
	}
}

// arrived waits until every pool has all its machines, ready and of the newest revision, and no others.
func (y *yard) arrived() {
	y.t.Helper()
	for at, count := range y.want {
		y.eventually(func(ctx context.Context) error {
			pool := &api.NodePool{}
			if err := y.client.Get(ctx, types.NamespacedName{Namespace: yardName, Name: yardPool(at)}, pool); err != nil {
				return err
			}
			for _, number := range []*int32{pool.Status.Replicas, pool.Status.ReadyReplicas, pool.Status.UpToDateReplicas} {
				if number == nil || *number != count {
					return fmt.Errorf("%s has not %d machines: %s", pool.Name, count, text(pool.Status))
				}
			}
			return ready(pool.Name, pool.Generation, pool.Status.ObservedGeneration, pool.Status.Conditions)
		})
	}
}

// inTenant reaches the cluster as its administrator.
func (y *yard) inTenant() client.Client {
	y.t.Helper()
	secret := &corev1.Secret{}
	if err := y.client.Get(y.t.Context(), types.NamespacedName{Namespace: yardName, Name: yardName + "-kubeconfig"}, secret); err != nil {
		y.t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		y.t.Fatal(err)
	}
	config.QPS = -1
	inside, err := client.New(config, client.Options{})
	if err != nil {
		y.t.Fatal(err)
	}
	return inside
}

// A counter is the only way to a place, and counts the calls. It keeps what somebody wanted to be made.
type counter struct {
	server *httptest.Server

	mutex  sync.Mutex
	counts map[string]int
	wanted wire.Wanted
}

// newCounter opens one.
func newCounter(t testing.TB, behind http.Handler) *counter {
	t.Helper()
	c := &counter{counts: map[string]int{}}
	c.server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		c.count(request, body)
		behind.ServeHTTP(answer, request)
	}))
	t.Cleanup(c.server.Close)
	t.Cleanup(c.server.CloseClientConnections)
	return c
}

// count counts one call.
func (c *counter) count(request *http.Request, body []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	verb := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete"}[request.Method]
	if verb == "" {
		verb = "get"
		if strings.TrimSuffix(request.URL.Path, "/") == wire.Root {
			verb = "list"
		}
	}
	c.counts[verb]++
	if verb == "create" {
		_ = json.Unmarshal(body, &c.wanted) // what cannot be read, the place refuses
	}
}

// seen are the calls until now, by verb.
func (c *counter) seen() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}

// last is what somebody wanted last.
func (c *counter) last() wire.Wanted {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.wanted
}
