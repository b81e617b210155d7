// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/talos/fleet"
)

var update = flag.Bool("update", false, "write the goldens anew")

// hosted is the example of a hosted cluster, read once.
var hosted = sync.OnceValues(func() (*fleet.Fleet, error) {
	reader, err := load.NewReader()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob("../../docs/examples/hosted/*.yaml")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("there is no example"), err)
	}
	var objects []load.Object
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		documents, problems := reader.Read(file, text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("%v", problems)
		}
		for _, document := range documents {
			objects = append(objects, document.Object)
		}
	}
	return fleet.New(objects)
})

// input is what decides the objects of one pool of the example.
func input(t *testing.T, name string) virtual.Input {
	t.Helper()
	whole, err := hosted()
	if err != nil {
		t.Fatal(err)
	}
	cluster := whole.Clusters()[0]
	for _, each := range whole.Pools(cluster) {
		if each.Name != name {
			continue
		}
		role, err := whole.Role(each)
		if err != nil {
			t.Fatal(err)
		}
		location, err := whole.Location(each)
		if err != nil {
			t.Fatal(err)
		}
		each, cluster, location = each.DeepCopy(), cluster.DeepCopy(), *location.DeepCopy()
		each.UID = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
		return virtual.Input{
			Cluster: cluster, Pool: each, Role: role, Location: location, Revision: name + "-0123456789", Configuration: []byte("machine: {}\n"),
			Granted: pool.Claim(each), Have: min(pool.Claim(each), 2), Size: each.Spec.Machine.KubeVirt.Size.Resources,
			Budget: pool.BudgetOf(cluster, each, role),
		}
	}
	t.Fatalf("there is no pool %s", name)
	return virtual.Input{}
}

// objects are those of an input.
func objects(t *testing.T, in virtual.Input) virtual.Objects {
	t.Helper()
	made, err := virtual.For(in)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestExamples(t *testing.T) {
	for _, name := range []string{"shop-general", "shop-gateway", "shop-gpu"} {
		t.Run(name, func(t *testing.T) {
			made := objects(t, input(t, name))
			golden(t, name, made.Template, made.Deployment, made.Health)
		})
	}
}

// TestEverything has all that a pool can say.
func TestEverything(t *testing.T) {
	in := input(t, "shop-gateway")
	limit, request := resource.MustParse("2"), resource.MustParse("100m")
	size := resource.MustParse("30Gi")
	in.Cluster.Spec.Images = &api.Images{Factory: "https://factory.example.com", CABundle: "-----BEGIN CERTIFICATE-----\n"}
	in.Pool.Spec.Architecture = api.ARM64
	in.Pool.Spec.Machine.KubeVirt = &api.KubeVirtMachine{
		Size: api.KubeVirtSize{Resources: in.Size}, Disk: &api.KubeVirtDisk{Size: &size, StorageClassName: "fast"},
		PodCPU: &api.PodCPU{Limit: &limit, Request: &request}, NodeSelector: map[string]string{"example.com/room": "a"},
		Spread:        []api.Spread{{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 2, WhenUnsatisfiable: "DoNotSchedule"}, {TopologyKey: "kubernetes.io/hostname"}},
		SerialConsole: api.ConsoleHidden, Bootstrap: api.BootstrapTalosConfigTemplate,
	}
	seconds, failed := int32(90), intstr.FromInt32(2)
	in.Pool.Spec.Health = &api.Health{MaxUnhealthy: &failed, StartupTimeoutSeconds: &seconds, NotReadyTimeoutSeconds: &seconds, UnknownTimeoutSeconds: &seconds}
	made := objects(t, in)
	golden(t, "everything", made.Trust, made.Template, made.Bootstrap, made.Deployment, made.Health)
}

// golden compares objects with a file.
func golden(t *testing.T, name string, made ...*unstructured.Unstructured) {
	t.Helper()
	var documents []string
	for _, object := range made {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(text))
	}
	got, file := strings.Join(documents, "---\n"), filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestNames says which changes replace machines: those that give the template another name, and no others.
func TestNames(t *testing.T) {
	first := objects(t, input(t, "shop-gateway")).Template
	spread := []api.Spread{{TopologyKey: "kubernetes.io/hostname", MaxSkew: 1, WhenUnsatisfiable: "ScheduleAnyway"}}
	disk, cores := resource.MustParse("20480Mi"), resource.MustParse("2000m")
	tests := map[string]struct {
		change            func(*virtual.Input)
		sameName, sameAll bool
	}{
		"nothing": {func(*virtual.Input) {}, true, true},
		"defaults that are said": {func(in *virtual.Input) {
			in.Pool.Spec.Machine.KubeVirt.Disk = &api.KubeVirtDisk{Size: &disk}
			in.Pool.Spec.Machine.KubeVirt.Spread = spread
			in.Pool.Spec.Machine.KubeVirt.SerialConsole = api.ConsoleLogged
		}, true, false},
		"another way to say two cores":       {func(in *virtual.Input) { in.Pool.Spec.Machine.KubeVirt.Size.Resources.CPU = cores }, true, true},
		"more replicas":                      {func(in *virtual.Input) { in.Granted = 9 }, true, true},
		"another revision":                   {func(in *virtual.Input) { in.Revision = "shop-gateway-9876543210" }, true, true},
		"another Kubernetes version":         {func(in *virtual.Input) { in.Cluster.Spec.KubernetesVersion = "v1.36.4" }, true, true},
		"another storage class of the place": {func(in *virtual.Input) { in.Location.KubeVirt.StorageClassName = "other" }, true, false},
		"an image that the place has prepared": {func(in *virtual.Input) {
			in.Location.KubeVirt.Image = &api.ImageSource{URL: "https://example.com/talos.raw.xz"}
		}, true, false},
		"another factory": {func(in *virtual.Input) { in.Cluster.Spec.Images = &api.Images{Factory: "https://factory.example.com"} }, true, false},
		"another Talos":   {func(in *virtual.Input) { in.Cluster.Spec.TalosVersion = "v1.13.8" }, false, false},
		"more memory": {func(in *virtual.Input) {
			in.Pool.Spec.Machine.KubeVirt.Size.Resources.Memory = resource.MustParse("8Gi")
		}, false, false},
		"an instance type": {func(in *virtual.Input) {
			in.Pool.Spec.Machine.KubeVirt.Size = api.KubeVirtSize{InstanceType: "u1.medium"}
		}, false, false},
		"another storage class of the pool": {func(in *virtual.Input) {
			in.Pool.Spec.Machine.KubeVirt.Disk = &api.KubeVirtDisk{StorageClassName: "fast"}
		}, false, false},
		"another console": {func(in *virtual.Input) { in.Pool.Spec.Machine.KubeVirt.SerialConsole = api.ConsoleHidden }, false, false},
		"other extensions": {func(in *virtual.Input) {
			in.Role = in.Role.DeepCopy()
			in.Role.Spec.Extensions = append(in.Role.Spec.Extensions, "iscsi-tools")
		}, false, false},
		"other hosts":              {func(in *virtual.Input) { in.Pool.Spec.Machine.KubeVirt.NodeSelector = map[string]string{"a": "b"} }, false, false},
		"a device":                 {func(in *virtual.Input) { in.Pool.Spec.Machine.KubeVirt.GPUs = []api.KubeVirtGPU{{DeviceName: "a/b"}} }, false, false},
		"another limit of the pod": {func(in *virtual.Input) { in.Pool.Spec.Machine.KubeVirt.PodCPU = &api.PodCPU{Limit: &cores} }, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t, "shop-gateway")
			test.change(&in)
			got := objects(t, in).Template
			const applied = "minos.dev/applied"
			if same := got.GetName() == first.GetName(); same != test.sameName {
				t.Errorf("the name is %s, and was %s", got.GetName(), first.GetName())
			}
			if same := got.GetAnnotations()[applied] == first.GetAnnotations()[applied]; same != test.sameAll && name != "defaults that are said" {
				t.Errorf("the same content: %v", same)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	zero, one, two := resource.MustParse("0"), resource.MustParse("1"), resource.MustParse("2")
	half := resource.MustParse("1500m")
	tests := map[string]struct {
		change func(*api.KubeVirtMachine)
		want   string
	}{
		"half a core": {func(m *api.KubeVirtMachine) { m.Size.Resources.CPU = half }, "the processor is whole cores"},
		"bounds beside an instance type": {
			func(m *api.KubeVirtMachine) {
				m.Size, m.PodCPU = api.KubeVirtSize{InstanceType: "u1.medium"}, &api.PodCPU{Limit: &two}
			}, "works with size.resources only",
		},
		"a request of nothing":      {func(m *api.KubeVirtMachine) { m.PodCPU = &api.PodCPU{Limit: &two, Request: &zero} }, "must be more than zero"},
		"a limit of nothing":        {func(m *api.KubeVirtMachine) { m.PodCPU = &api.PodCPU{Limit: &zero} }, "must be more than zero"},
		"a request above the limit": {func(m *api.KubeVirtMachine) { m.PodCPU = &api.PodCPU{Limit: &one, Request: &two} }, "request 2 is more than limit 1"},
	}
	for name, test := range tests {
		in := input(t, "shop-gateway")
		test.change(in.Pool.Spec.Machine.KubeVirt)
		if _, err := virtual.For(in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}

func TestUnhealthy(t *testing.T) {
	number, share, none := intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromString("0%")
	tests := map[string]struct {
		health *api.Health
		have   int32
		want   any
	}{
		"by default":                     {nil, 5, "40%"},
		"a share that rounds to nothing": {nil, 2, int64(1)},
		"a share of one machine":         {&api.Health{MaxUnhealthy: &share}, 1, int64(1)},
		"a share of none":                {&api.Health{MaxUnhealthy: &share}, 0, "50%"},
		"a share that is enough":         {&api.Health{MaxUnhealthy: &share}, 2, "50%"},
		"a number":                       {&api.Health{MaxUnhealthy: &number}, 1, int64(2)},
		"nothing, and that on purpose":   {&api.Health{MaxUnhealthy: &none}, 2, "0%"},
		"failed machines are kept":       {&api.Health{MaxUnhealthy: &share, Failed: api.FailedKeep}, 4, int64(0)},
		"failed machines are replaced":   {&api.Health{MaxUnhealthy: &share, Failed: api.FailedReplace}, 4, "50%"},
	}
	for name, test := range tests {
		in := input(t, "shop-gateway")
		in.Pool.Spec.Health, in.Have = test.health, test.have
		got, _, _ := unstructured.NestedFieldNoCopy(objects(t, in).Health.Object, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo")
		if got != test.want {
			t.Errorf("%s: %v; want %v", name, got, test.want)
		}
	}
}

// TestCapacity holds what a machine offers against what the kubelet is told to keep.
func TestCapacity(t *testing.T) {
	pods := int32(50)
	kept := &api.Resources{CPU: resource.MustParse("100m"), Memory: resource.MustParse("512Mi")}
	tests := map[string]struct {
		cpu, memory string
		kubelet     *api.Kubelet
		want        map[string]string
	}{
		"small":            {"1", "4Gi", nil, map[string]string{"cpu": "900m", "memory": "3297Mi", "pods": "110", "ephemeral-storage": "20Gi"}},
		"large":            {"32", "128Gi", nil, map[string]string{"cpu": "31", "memory": "119848Mi", "pods": "110", "ephemeral-storage": "20Gi"}},
		"as the pool says": {"2", "4Gi", &api.Kubelet{SystemReserved: kept, KubeReserved: kept, EvictionHardMemory: "1Gi", MaxPods: &pods}, map[string]string{"cpu": "1800m", "memory": "2Gi", "pods": "50", "ephemeral-storage": "20Gi"}},
	}
	for name, test := range tests {
		in := input(t, "shop-gateway")
		in.Size = &api.Resources{CPU: resource.MustParse(test.cpu), Memory: resource.MustParse(test.memory)}
		in.Pool.Spec.Config = &api.PoolConfig{Kubelet: test.kubelet}
		got := map[string]string{}
		for key, amount := range objects(t, in).Capacity {
			got[key] = amount.String()
		}
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTheAutoscalerIsBoundByTheGrant caps both bounds at what the place grants.
func TestTheAutoscalerIsBoundByTheGrant(t *testing.T) {
	in := input(t, "shop-general")
	in.Granted = 0
	made := objects(t, in).Deployment
	const prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
	if least, most := made.GetAnnotations()[prefix+"min-size"], made.GetAnnotations()[prefix+"max-size"]; cmp.Or(least, "?")+cmp.Or(most, "?") != "00" {
		t.Errorf("from %s to %s", least, most)
	}
	if _, said, _ := unstructured.NestedInt64(made.Object, "spec", "replicas"); said {
		t.Error("the autoscaler does not own replicas")
	}
}
