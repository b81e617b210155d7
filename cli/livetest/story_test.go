// SPDX-License-Identifier: Apache-2.0

package livetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli"
	"minos.dev/minos/plan/names"
)

// TestClusters makes, lists, shows and deletes a cluster.
func TestClusters(t *testing.T) {
	t.Parallel()
	d := sit(t)
	contains(t, d.want("cluster list"), "there are none")
	dry := d.want("cluster create shop --kubernetes v1.36.3 --talos v1.13.9 --pods 10.8.0.0/16 --load-balancer --dry-run")
	contains(t, dry, "kind: TalosCluster", "podCIDRs:\n    - 10.8.0.0/16", "serviceCIDRs:\n    - 10.96.0.0/16", "type: LoadBalancer")
	if strings.Contains(dry, "uid:") || strings.Contains(dry, "managedFields") {
		t.Errorf("what a dry run prints cannot be applied:\n%s", dry)
	}
	contains(t, d.want("cluster list"), "there are none")

	d.createCluster()
	contains(t, d.want("cluster create far --kubernetes v1.36.3 --talos v1.13.9 --control-plane external --kubeconfig-secret admin/conf --endpoint k3s.example.com:443"), "made cluster far")
	contains(t, d.want("cluster list"), "NAME   KUBERNETES   TALOS     ENDPOINT   POOLS   NODES   READY   AGE", "shop   v1.36.3      v1.13.9")
	contains(t, d.want("cluster list -A"), "NAMESPACE", d.namespace)
	contains(t, d.want("cluster describe far"), "external, by Secret admin", "k3s.example.com:443", "nobody has looked at it yet")
	contains(t, d.want("cluster list -o yaml"), "kind: TalosClusterList", "kind: TalosCluster\n")

	d.createPool("workers", "")
	refused := d.run("cluster delete shop --wait")
	contains(t, refused.stderr, "minos: cluster shop has 1 pool, and is not deleted: workers\nhint: delete them first: 'minos pool delete workers -n "+d.namespace)
	d.want("pool delete workers --wait")
	contains(t, d.want("cluster delete shop --dry-run"), "TalosCluster", "shop-talos-secrets")
	contains(t, d.want("cluster list"), "shop ")
	contains(t, d.want("cluster delete shop --wait"), "cluster shop is being deleted\n", "cluster shop is gone")
}

// TestPools makes, lists, shows, scales and deletes a pool.
func TestPools(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	contains(t, d.want("pool create workers --cluster shop --role plain --location Location/lab --replicas 2 --cpu 2 --memory 4Gi --dry-run"),
		"kind: NodePool", "replicas: 2", "nothing was made: the pool would make 2 machines")
	contains(t, d.want("pool create burst --cluster shop --role plain --location hall --max 4 --instance-type u1.medium --disk 30Gi --dry-run"),
		"instanceType: u1.medium", "size: 30Gi", "between 0 and 4 machines")
	d.createPool("workers", "--replicas 2")
	d.machine("workers-a", 7, "")
	d.machine("workers-b", 2, "no answer from 192.0.2.1:50001")
	d.report(1, "1 of 2 machines are Ready")
	contains(t, d.want("pool list --cluster shop"), "NAME      CLUSTER   ROLE    DESIRED   CURRENT   NODES   UP-TO-DATE   READY   AGE", "workers   shop      plain   2         2         1       -            False")
	contains(t, d.want("pool list -o wide"), "LOCATION", "Progressing")
	contains(t, d.want("pool list --cluster bank"), "there are none")
	contains(t, d.want("pool describe workers"), "2 wanted, 2 exist, 1 Ready, ? up to date", "MachinesReady", "workers-b",
		"CertificateIssued: no answer from 192.0.2.1:50001", "It is not Ready: 1 of 2 machines Ready; 1 waits for trustd: no answer from 192.0.2.1:50001")
	contains(t, d.want("pool describe workers -o json"), `"kind": "NodePool"`)
	contains(t, d.want("pool delete workers --dry-run"), "NodePool       workers", "TalosMachine   workers-a", "Node           workers-a")

	contains(t, d.want("pool scale workers 3 --dry-run"), "pool workers: from 2 to 3: 1 machine would be made; no other is rolled")
	if got := *d.workers().Spec.Replicas; got != 2 {
		t.Errorf("a dry run changed the number to %d", got)
	}
	contains(t, d.want("pool scale workers 0"), "from 2 to 0: 2 machines will be drained and removed")
	contains(t, d.want("pool scale workers 0"), "pool workers wants 0 machines already")
	if got := *d.workers().Spec.Replicas; got != 0 {
		t.Errorf("the number is %d", got)
	}
}

// TestWaits waits for a pool that grows and goes, with an operator that takes its time.
func TestWaits(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	d.createPool("workers", "")
	d.report(1, "")
	d.machine("workers-a", 7, "")
	scaling := d.start(t.Context(), "pool scale workers 2 --wait")
	scaling.says(t, "1 of 1 machine Ready; the change has not been looked at yet\n")
	d.machine("workers-b", 6, "ext-tailscale waits")
	d.report(1, "too few")
	scaling.says(t, "1 of 2 machines Ready; 1 waits for extension services: ext-tailscale waits\n")
	d.report(2, "")
	if ended := scaling.wait(); ended.code != cli.ExitOK || strings.Count(ended.stderr, "1 of 2 machines Ready;") != 1 {
		t.Errorf("exit code %d: %s", ended.code, ended.stderr)
	}

	d.report(1, "workers-b is away")
	late := d.run("pool scale workers 3 --wait --timeout 1500ms")
	if contains(t, late.stderr, "minos: pool workers is not Ready after 1.5s: ", "hint: it goes on: 'minos doctor'"); late.code != cli.ExitError {
		t.Errorf("exit code %d", late.code)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := d.start(ctx, "pool scale workers 4 --wait")
	stopped.says(t, "of 2 machines Ready")
	cancel()
	if ended := stopped.wait(); ended.code != cli.ExitError {
		t.Errorf("exit code %d", ended.code)
	}
	contains(t, stopped.err.String(), "minos: interrupted: nobody waits for pool workers any more; what was asked for stays in place, and goes on\n")
	if got := *d.workers().Spec.Replicas; got != 4 {
		t.Errorf("the number is %d after Ctrl-C", got)
	}
}

// TestDeleteWaits waits for a pool that a finalizer holds until its machines are gone.
func TestDeleteWaits(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	d.createPool("workers", "--replicas 1")
	d.machine("workers-a", 7, "")
	pool := d.workers()
	pool.Finalizers = []string{names.Finalizer}
	if err := d.client.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	deleting := d.start(t.Context(), "pool delete workers --wait")
	deleting.says(t, "1 machine still to go\n")
	contains(t, d.run("pool scale workers 3").stderr, "minos: pool workers is being deleted")
	contains(t, d.want("pool describe workers"), "It is being deleted, held by minos.dev/clean-up.")
	if err := d.client.DeleteAllOf(t.Context(), &api.TalosMachine{}, client.InNamespace(d.namespace)); err != nil {
		t.Fatal(err)
	}
	deleting.says(t, "its machines are gone; the rest is cleaned up\n")
	pool = d.workers()
	pool.Finalizers = nil
	if err := d.client.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if ended := deleting.wait(); ended.code != cli.ExitOK || !strings.HasSuffix(ended.stderr, "pool workers is gone\n") {
		t.Errorf("exit code %d: %s", ended.code, ended.stderr)
	}
}

// TestClusterWaits waits for a new cluster.
func TestClusterWaits(t *testing.T) {
	t.Parallel()
	d := sit(t)
	creating := d.start(t.Context(), "cluster create shop --kubernetes v1.36.3 --talos v1.13.9 --wait")
	creating.says(t, "not looked at yet")
	for _, why := range []string{"0 of 2 replicas", ""} {
		cluster := &api.TalosCluster{}
		if err := d.client.Get(t.Context(), client.ObjectKey{Namespace: d.namespace, Name: "shop"}, cluster); err != nil {
			t.Fatal(err)
		}
		cluster.Status.ObservedGeneration = cluster.Generation
		ready := metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: api.ReasonReady, ObservedGeneration: cluster.Generation}
		if why != "" {
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, api.ReasonWaiting, why
		}
		meta.SetStatusCondition(&cluster.Status.Conditions, ready)
		if err := d.client.Status().Update(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
		if why != "" {
			creating.says(t, "Waiting: 0 of 2 replicas\n")
		}
	}
	if ended := creating.wait(); ended.code != cli.ExitOK || !strings.HasSuffix(ended.stderr, "cluster shop is Ready\n") {
		t.Errorf("exit code %d: %s", ended.code, ended.stderr)
	}
}

// TestDoctor examines what is not Ready.
func TestDoctor(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	d.createPool("workers", "--replicas 1")
	d.machine("workers-a", 2, "no answer from 192.0.2.1:50001")
	d.report(0, "too few")
	sick := d.run("doctor workers")
	if sick.code != cli.ExitFindings {
		t.Errorf("exit code %d: %s", sick.code, sick.stderr)
	}
	contains(t, sick.stdout, "SEVERITY", "NodePool/workers", "CertificateIssued", "1 of 1 machine waits for trustd: no answer from 192.0.2.1:50001",
		"  machines: workers-a\n", "  look: from the machine's network: nc -vz ENDPOINT 50001")
	contains(t, d.run("doctor -o json").stdout, `"step": "CertificateIssued"`)
	contains(t, d.run("doctor wrokers").stderr, fmt.Sprintf(`minos: there is no pool and no cluster "wrokers" in namespace %q, did you mean "workers"?`, d.namespace))

	d.want("pool delete workers")
	d.want("cluster delete shop")
	contains(t, d.want("doctor"), "all is well: 0 clusters, 0 pools, 1 machine")
}
