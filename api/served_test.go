// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/kubetest"
)

// kubectl runs kubectl against the test's control plane.
func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	program, err := controlplane.Program()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), program, append([]string{"kubectl", "--kubeconfig", kubetest.Kubeconfig(t)}, arguments...)...)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// pool is a pool with or without a number of machines.
func pool(namespace, name string, replicas *int32) *api.NodePool {
	p := &api.NodePool{}
	p.Namespace, p.Name = namespace, name
	p.Spec = api.NodePoolSpec{
		ClusterName: "shop", Role: "plain", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "rehearsal"},
		Replicas: replicas, Machine: api.Machine{Sim: &api.SimMachine{}},
	}
	if replicas == nil {
		p.Spec.Autoscaling = &api.Autoscaling{Min: new(int32), Max: new(int32(3))}
	}
	return p
}

func TestScale(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	fixed, scaled := pool(namespace, "fixed", new(int32(1))), pool(namespace, "scaled", nil)
	create(t, c, fixed)
	create(t, c, scaled)

	toFive := func(pool *api.NodePool) error {
		body := client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}})
		return c.SubResource("scale").Update(t.Context(), pool, body)
	}
	if err := toFive(fixed); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(fixed), fixed); err != nil {
		t.Fatal(err)
	}
	if got := *fixed.Spec.Replicas; got != 5 {
		t.Errorf("replicas is %d, want 5", got)
	}

	if err := toFive(scaled); err == nil || !strings.Contains(err.Error(), "replicas and autoscaling cannot both be set") {
		t.Errorf("scaling what the autoscaler owns: %v", err)
	}
}

// TestColumns holds what people see first to what they know from Cluster API and Karpenter.
func TestColumns(t *testing.T) {
	c, namespace := kubetest.Client(t), kubetest.Namespace(t)
	create(t, c, pool(namespace, "workers", new(int32(1))))
	header := func(resource string, more ...string) []string {
		out := kubectl(t, append([]string{"get", resource, "--namespace", namespace}, more...)...)
		first, _, _ := strings.Cut(out, "\n")
		return strings.Fields(first)
	}
	want := []string{"NAME", "CLUSTER", "ROLE", "DESIRED", "CURRENT", "NODES", "UP-TO-DATE", "READY", "AGE"}
	if diff := cmp.Diff(want, header("np")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want, "LOCATION", "VERSION", "REASON"), header("nodepools", "--output", "wide")); diff != "" {
		t.Error(diff)
	}
	if out := kubectl(t, "get", "minos", "--namespace", namespace); !strings.Contains(out, "workers") {
		t.Errorf("the category shows %q", out)
	}
}

// TestExplain holds "kubectl explain" to being documentation: every field of every kind has words.
func TestExplain(t *testing.T) {
	for _, kind := range []string{"taloscluster", "nodepool", "noderole", "clusterlocation", "location", "talosmachine"} {
		out := kubectl(t, "explain", kind+".spec", "--recursive=false")
		if strings.Contains(out, "<no description>") {
			t.Errorf("kubectl explain %s.spec has a field without a description:\n%s", kind, out)
		}
	}
	machine := kubectl(t, "explain", "nodepool.spec.machine")
	for _, words := range []string{"exactly one member is set", "kubevirt makes virtual machines", "metal takes machines that exist", "sim makes simulated machines"} {
		if !strings.Contains(strings.Join(strings.Fields(machine), " "), words) {
			t.Errorf("kubectl explain nodepool.spec.machine does not say %q:\n%s", words, machine)
		}
	}
}
