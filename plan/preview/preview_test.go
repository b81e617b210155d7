// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/preview"
)

// The states that changes begin from: a pool of three machines of each kind.
const (
	declaredCluster = `
metadata: {name: shop, namespace: tenant}
spec:
  kubernetesVersion: v1.34.2
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.1}
  controlPlane: {kamaji: {}}
status: {kubernetesVersion: v1.34.2}
`
	declaredPool = `
metadata: {name: general, namespace: tenant}
spec:
  clusterName: shop
  role: own
  locationRef: {kind: Location, name: here}
  replicas: 3
  machine: MACHINE
status: {replicas: 3, desiredReplicas: 3, readyReplicas: 3}
`
	declaredRole = `
metadata: {name: own}
spec: {extends: plain}
`
	virtualMachine   = "{kubevirt: {size: {resources: {cpu: 2, memory: 4Gi}}}}"
	simulatedMachine = "{sim: {resources: {cpu: 2, memory: 4Gi}}}"
)

// read reads an object.
func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// stateOf is a state with one kind of machine.
func stateOf(t *testing.T, machine string) preview.State {
	t.Helper()
	state := preview.State{Cluster: &api.TalosCluster{}, Pool: &api.NodePool{}, Roles: make([]api.NodeRole, 1)}
	read(t, declaredCluster, state.Cluster)
	read(t, strings.Replace(declaredPool, "MACHINE", machine, 1), state.Pool)
	read(t, declaredRole, &state.Roles[0])
	state.Location = api.LocationSpec{KubeVirt: &api.KubeVirtLocation{}}
	if state.Pool.Spec.Machine.Sim != nil {
		state.Location = api.LocationSpec{Sim: &api.SimLocation{}}
	}
	return state
}

// A change is what differs, as a merge patch of each object.
type change struct{ pool, cluster, role, place string }

// apply makes it, on copies.
func (c change) apply(t *testing.T, before preview.State) preview.State {
	t.Helper()
	after := preview.State{Cluster: before.Cluster.DeepCopy(), Pool: before.Pool.DeepCopy(), Location: *before.Location.DeepCopy()}
	after.Roles = []api.NodeRole{*before.Roles[0].DeepCopy()}
	for text, into := range map[string]any{c.pool: &after.Pool.Spec, c.cluster: &after.Cluster.Spec, c.role: &after.Roles[0].Spec, c.place: &after.Location} {
		if text != "" {
			read(t, text, into)
		}
	}
	return after
}

// TestFor is what changes do, by the kind of machine.
func TestFor(t *testing.T) {
	for name, test := range map[string]struct {
		change
		virtual, own []string // of machines of Cluster API, and of our own
	}{
		"nothing":                 {},
		"the same in other words": {change: change{pool: "machine: {KIND: {SIZE: {cpu: 2000m, memory: 4096Mi}}}"}},
		"a size": {
			change{pool: "machine: {KIND: {SIZE: {cpu: 4, memory: 4Gi}}}"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: machine.kubevirt.size changed"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: machine.sim.resources changed"},
		},
		"more machines": {
			change{pool: "replicas: 5"}, []string{"2 machines of pool general will be made"}, []string{"2 machines of pool general will be made"},
		},
		"fewer machines of another size": {
			change{pool: "{replicas: 1, machine: {KIND: {SIZE: {cpu: 4, memory: 4Gi}}}}"},
			[]string{"1 machine of pool general will be replaced, 1 at a time: machine.kubevirt.size changed", "2 machines of pool general will be drained and removed"},
			[]string{"1 machine of pool general will be replaced, 1 at a time: machine.sim.resources changed", "2 machines of pool general will be drained and removed"},
		},
		"a role": {
			change{pool: "role: storage"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: role changed"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: role changed"},
		},
		"a kernel setting of the role": {
			change{role: `sysctls: {vm.nr_hugepages: "8"}`},
			[]string{"3 machines of pool general will be replaced, 1 at a time: sysctls of NodeRole own changed"},
			[]string{"3 machines of pool general will be changed while they run: sysctls of NodeRole own changed"},
		},
		"a release, with a budget": {
			change{cluster: "{talosVersion: v1.13.8, rollout: {maxSurge: 50%, maxUnavailable: 0}}"},
			[]string{"3 machines of pool general will be replaced, 2 at a time: talosVersion of TalosCluster shop changed"},
			[]string{"3 machines of pool general will be replaced, 2 at a time: talosVersion of TalosCluster shop changed"},
		},
		"a release of Kubernetes, two minor versions on": {
			change{cluster: "kubernetesVersion: v1.36.1"},
			[]string{"3 machines of pool general will be replaced 2 times, for each minor version on the way, 1 at a time: kubernetesVersion of TalosCluster shop changed"},
			[]string{"3 machines of pool general will be replaced 2 times, for each minor version on the way, 1 at a time: kubernetesVersion of TalosCluster shop changed"},
		},
		"name servers of the place": {
			change{place: "KIND: {network: {nameservers: [192.0.2.53]}}"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: kubevirt.network of Location here changed"},
			[]string{"3 machines of pool general will be changed while they run: sim.network of Location here changed"},
		},
		"taints beside a patience": {
			change{pool: "{config: {taints: [{key: a, effect: NoSchedule}]}, health: {startupTimeoutSeconds: 99}}"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: config changed"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: config changed"},
		},
		"what Talos refuses": {
			change{pool: "config: {patches: [{machine: {token: abc}}]}"},
			[]string{"pool general: machines stay as they are: pool layer: patches[0].machine.token"},
			[]string{"pool general: machines stay as they are: pool layer: patches[0].machine.token"},
		},
		"a label": {
			change{pool: "config: {labels: {example.com/a: b}}"},
			[]string{"3 machines of pool general will be changed while they run: config changed"},
			[]string{"3 machines of pool general will be changed while they run: config changed"},
		},
		"a label beside a mirror, of the role and the cluster": {
			change{role: "labels: {example.com/a: b}", cluster: "images: {mirrors: [{registry: docker.io, endpoints: [https://mirror.example.com]}]}"},
			[]string{"3 machines of pool general will be replaced, 1 at a time: images of TalosCluster shop changed"},
			[]string{"3 machines of pool general will be changed while they run: images of TalosCluster shop, labels of NodeRole own changed"},
		},
		"a budget only":        {change: change{pool: "rollout: {maxSurge: 2}"}},
		"a description only":   {change: change{role: "description: another"}},
		"a limit of the place": {change: change{place: "KIND: {limits: {machines: 9}}"}},
	} {
		t.Run(name, func(t *testing.T) {
			for machine, kind := range map[string]struct {
				names []string
				want  []string
			}{
				virtualMachine:   {[]string{"KIND", "kubevirt", "SIZE", "size: {resources", "4Gi}}}", "4Gi}}}}", "4096Mi}}}", "4096Mi}}}}"}, test.virtual},
				simulatedMachine: {[]string{"KIND", "sim", "SIZE", "resources"}, test.own},
			} {
				words := strings.NewReplacer(kind.names...)
				before := stateOf(t, machine)
				after := change{words.Replace(test.pool), test.cluster, test.role, words.Replace(test.place)}.apply(t, before)
				sameLines(t, kind.want, preview.For(before, after).Lines())
			}
		})
	}
}

// sameLines compares lines; one that is wanted may be the beginning of a longer one.
func sameLines(t *testing.T, want, got []string) {
	t.Helper()
	short := append([]string(nil), got...)
	for at := range short {
		if at < len(want) && strings.HasPrefix(short[at], want[at]) {
			short[at] = want[at]
		}
	}
	if diff := cmp.Diff(want, short); diff != "" {
		t.Errorf("%s\nall of it: %q", diff, got)
	}
}

// TestDown is a control plane that does not go down, while kubelets may be older than it.
func TestDown(t *testing.T) {
	before := stateOf(t, virtualMachine)
	found := preview.For(before, change{cluster: "kubernetesVersion: v1.33.1"}.apply(t, before))
	if len(found.Impossible) != 1 || !strings.Contains(found.Impossible[0], "kubernetesVersion of TalosCluster shop: it stays at v1.34.2") {
		t.Errorf("%q", found.Impossible)
	}
	if found.Replaced != 3 {
		t.Errorf("%d are replaced: the kubelets are declared", found.Replaced)
	}
}

// TestUnsupported is a change to versions that do not go together: machines stay at theirs, and what else changes is done with those.
func TestUnsupported(t *testing.T) {
	const stay = "pool general: Talos v1.8.0 does not run Kubernetes v1.34.2: it runs 1.26 to 1.31; machines stay at Talos v1.13.9 and Kubernetes v1.34.2: " +
		"set talosVersion and kubernetesVersion of TalosCluster shop to versions that go together"
	for _, machine := range []string{virtualMachine, simulatedMachine} {
		before := stateOf(t, machine)
		before.Pool.Status.TalosVersion, before.Pool.Status.KubernetesVersion = "v1.13.9", "v1.34.2"
		for name, test := range map[string]struct {
			change change
			want   []string
		}{
			"alone":           {change{cluster: "talosVersion: v1.8.0"}, []string{stay}},
			"with a role too": {change{cluster: "talosVersion: v1.8.0", pool: "role: storage"}, []string{"3 machines of pool general will be replaced, 1 at a time: role changed", stay}},
		} {
			if diff := cmp.Diff(test.want, preview.For(before, test.change.apply(t, before)).Lines()); diff != "" {
				t.Errorf("%s, %s: %s", name, machine, diff)
			}
		}
		before.Cluster.Spec.TalosVersion = "v1.8.0" // which was refused then
		if found := preview.For(before, change{pool: "health: {startupTimeoutSeconds: 99}"}.apply(t, before)); !found.IsEmpty() {
			t.Errorf("another change: %q", found.Lines())
		}
	}
}

// TestHeld is a change while the API server has not followed the last one: what was to come anyway is not this change's doing.
func TestHeld(t *testing.T) {
	before := stateOf(t, virtualMachine)
	before.Cluster.Spec.KubernetesVersion = "v1.35.0" // and 1.34.2 runs
	if found := preview.For(before, change{pool: "health: {startupTimeoutSeconds: 99}"}.apply(t, before)); !found.IsEmpty() {
		t.Errorf("%q", found.Lines())
	}
}

// TestOthers are pools of which there is less to say.
func TestOthers(t *testing.T) {
	after := stateOf(t, simulatedMachine)
	after.Pool.Status = api.NodePoolStatus{}
	if got := preview.For(preview.State{}, after).Lines(); !cmp.Equal(got, []string{"3 machines of pool general will be made"}) {
		t.Errorf("a new pool: %q", got)
	}
	before := stateOf(t, simulatedMachine)
	before.Pool.Spec.Replicas = nil
	least, most, desired := int32(2), int32(6), int32(4)
	before.Pool.Spec.Autoscaling, before.Pool.Status.DesiredReplicas = &api.Autoscaling{Min: &least, Max: &most}, &desired
	if got := preview.For(before, change{pool: "autoscaling: {min: 5, max: 9}"}.apply(t, before)).Lines(); !cmp.Equal(got, []string{"1 machine of pool general will be made"}) {
		t.Errorf("an autoscaled pool: %q", got)
	}
	empty := stateOf(t, simulatedMachine)
	empty.Pool.Spec.Replicas, empty.Pool.Status.Replicas = new(int32), new(int32)
	if got := preview.For(empty, change{pool: "role: storage"}.apply(t, empty)); !got.IsEmpty() {
		t.Errorf("a pool without machines: %q", got.Lines())
	}
	waits := stateOf(t, simulatedMachine)
	waits.Cluster = nil
	if got := preview.For(waits, waits); !got.IsEmpty() {
		t.Errorf("a pool without a cluster: %q", got.Lines())
	}
}

// TestRoleOfTheirOwn is a role that comes to stand in place of a built-in one.
func TestRoleOfTheirOwn(t *testing.T) {
	before := stateOf(t, simulatedMachine)
	after := change{}.apply(t, before)
	after.Roles = append(after.Roles, api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Spec: api.NodeRoleSpec{Extensions: []string{"drbd"}}})
	want := []string{"3 machines of pool general will be replaced, 1 at a time: NodeRole plain changed"}
	if got := preview.For(before, after).Lines(); !cmp.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
