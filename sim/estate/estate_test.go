// SPDX-License-Identifier: Apache-2.0

package estate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/estate/estatetest"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 5 * time.Minute

// holdVariable makes of this test's program another one that opens the estate of a folder and waits to be killed.
const holdVariable = "ESTATE_TEST_HOLD"

func TestMain(m *testing.M) {
	if folder := os.Getenv(holdVariable); folder != "" {
		e, err := estate.Open(context.Background(), options(folder, os.Getenv("ESTATE_TEST_OPERATOR")))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = fmt.Fprintln(os.Stdout, "ready", e.Runs(estate.Operator))
		select {}
	}
	os.Exit(m.Run())
}

// options are those of a test.
func options(folder, operator string) estate.Options {
	return estate.Options{Folder: folder, Operator: operator, Speed: 60, Durations: machine.Durations{Deadline: 1000 * time.Hour}}
}

// shop is a cluster with a pool in each of the two kinds of places.
const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: tenant}
---
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house}
spec: {kubevirt: {namespaces: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: cloud, namespace: tenant}
spec: {sim: {zone: cloud-1}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: tenant}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  network: {podCIDRs: [10.60.0.0/16], serviceCIDRs: [10.61.0.0/16]}
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: general, namespace: tenant}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house}
  replicas: 1
  machine: {kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: burst, namespace: tenant}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: cloud}
  replicas: 1
  machine: {sim: {}}
`

// open opens an estate, and closes it with the test.
func open(t *testing.T, folder string) (*estate.Estate, client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	wanted := options(folder, estatetest.Operator(t))
	begin := time.Now()
	wanted.Tell = func(part estate.Part, text string) { t.Logf("%6.1fs %s %s", time.Since(begin).Seconds(), part, text) }
	e, err := estate.Open(ctx, wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if e.Runs(estate.Management) {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	c, err := e.Client()
	if err != nil {
		t.Fatal(err)
	}
	return e, c
}

// apply makes objects.
func apply(t *testing.T, c client.Client, text string) {
	t.Helper()
	for _, part := range strings.Split(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), object); err != nil {
			t.Fatal(err)
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits until each pool is Ready with so many machines.
func settle(t *testing.T, c client.Client, count int32) {
	t.Helper()
	kubetest.Eventually(t, within, func(ctx context.Context) error {
		pools := &api.NodePoolList{}
		if err := c.List(ctx, pools); err != nil {
			return err
		}
		if len(pools.Items) != 2 {
			return fmt.Errorf("there are %d pools", len(pools.Items))
		}
		for _, pool := range pools.Items {
			ready := meta.FindStatusCondition(pool.Status.Conditions, api.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != pool.Generation {
				return fmt.Errorf("pool %s is not ready: %v", pool.Name, ready)
			}
			if number := pool.Status.ReadyReplicas; number == nil || *number != count {
				return fmt.Errorf("pool %s has not %d machines", pool.Name, count)
			}
		}
		return nil
	})
}

// scale changes how many machines the pools have.
func scale(t *testing.T, c client.Client, count int32) {
	t.Helper()
	for _, name := range []string{"general", "burst"} {
		pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name}}
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count))
		if err := c.Patch(t.Context(), pool, patch); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPartByPart makes a cluster, kills every part while its pools grow and shrink, and wants all to be as it should each time;
// then to be the same in another life, and nothing to be left after it. It takes minutes.
func TestPartByPart(t *testing.T) {
	folder := t.TempDir()
	e, c := open(t, folder)
	apply(t, c, shop)
	settle(t, c, 1)
	before := ports(t, folder)
	count := int32(1)
	for _, part := range estate.Parts() {
		e.Kill(part)
		if e.Runs(part) {
			t.Fatalf("%s runs after it was killed", part)
		}
		count = 3 - count
		if part != estate.Management { // of which it has to be asked
			scale(t, c, count)
		}
		if err := e.Start(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		if part == estate.Management {
			scale(t, c, count)
		}
		settle(t, c, count)
		t.Logf("%s was killed, and there are %d machines a pool", part, count)
	}
	if now := ports(t, folder); now != before {
		t.Errorf("after a restart somebody listens at\n%s\nand before at\n%s", now, before)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, folder)

	_, c = open(t, folder)
	scale(t, c, 2)
	settle(t, c, 2)
}

// ports are where the estate itself listens, but for machines.
func ports(t *testing.T, folder string) string {
	t.Helper()
	return strings.Join(estatetest.Listeners(t, network(t, folder)), "\n")
}

// network is what addresses of a folder begin with.
func network(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "loopback.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Network netip.Prefix }
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(kept.Network.Addr().String(), "0.0")
}

// nothingLeft wants no process and no port of an estate to be there.
func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	kubetest.Eventually(t, within, func(context.Context) error {
		if left := estatetest.Processes(t, folder); len(left) > 0 {
			return fmt.Errorf("processes are left: %v", left)
		}
		if left := estatetest.Listeners(t, network(t, folder), network(t, filepath.Join(folder, "places"))); len(left) > 0 {
			return fmt.Errorf("somebody listens at %v", left)
		}
		return nil
	})
}

// TestKilledAsAWhole has another program open an estate, refuses to open the same, and kills that program: nothing is left, and the
// estate can be opened again with all that was in it.
func TestKilledAsAWhole(t *testing.T) {
	folder := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdVariable+"="+folder, "ESTATE_TEST_OPERATOR="+estatetest.Operator(t))
	other.Stderr = os.Stderr
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	var word string
	var operator bool
	if _, err := fmt.Fscan(out, &word, &operator); err != nil || word != "ready" || !operator {
		t.Fatalf("the other program said %q, %v: %v", word, operator, err)
	}
	if left := estatetest.Processes(t, folder); len(left) < 3 {
		t.Errorf("only these processes run: %v", left)
	}
	_, err = estate.Open(t.Context(), options(folder, estatetest.Operator(t)))
	if err == nil || !strings.Contains(err.Error(), "of folder "+folder+" is in use by another program: end it, or use another folder") {
		t.Errorf("opened twice: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	nothingLeft(t, folder)

	_, c := open(t, folder)
	namespace := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "minos-system"}, namespace); err != nil {
		t.Error(err)
	}
}

// TestEndedByItself ends the operator behind the estate's back, and wants it to be started again.
func TestEndedByItself(t *testing.T) {
	folder := t.TempDir()
	e, _ := open(t, folder)
	operator := func() int {
		for _, found := range estatetest.Processes(t, folder) {
			if strings.Contains(found.Command, "minos-operator") {
				return found.ID
			}
		}
		return 0
	}
	first := operator()
	if first == 0 {
		t.Fatal("the operator does not run")
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	kubetest.Eventually(t, within, func(context.Context) error {
		if now := operator(); !e.Runs(estate.Operator) || now == 0 || now == first {
			return fmt.Errorf("no other operator runs")
		}
		return nil
	})
}
