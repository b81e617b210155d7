// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
)

// objects reads declarations.
func objects(t *testing.T, text string) []load.Object {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := reader.Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var all []load.Object
	for _, document := range documents {
		all = append(all, document.Object)
	}
	return all
}

// example is one of the documentation's.
func example(t *testing.T, path string) []load.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(text))
}

const twoClusters = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: a}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: b}
spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9, controlPlane: {kamaji: {}}}
`

// TestRead is which cluster is meant.
func TestRead(t *testing.T) {
	found := objects(t, twoClusters)
	if read, err := Read(found, "b"); err != nil || read.Cluster.Name != "b" {
		t.Errorf("%+v, %v", read, err)
	}
	for name, want := range map[string]string{"": "say which of a, b", "c": "no cluster c is declared"} {
		if _, err := Read(found, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if _, err := Read(nil, ""); err == nil || !strings.Contains(err.Error(), "no cluster is declared") {
		t.Error(err)
	}
	read, err := Read(found[:1], "")
	if err != nil {
		t.Fatal(err)
	}
	read.Cluster.Spec.TalosVersion = "v1.14.1"
	if found[0].(*api.TalosCluster).Spec.TalosVersion != "v1.13.9" {
		t.Error("what was declared is changed")
	}
}

// TestCount is how many machines a pool declares.
func TestCount(t *testing.T) {
	three, two := int32(3), int32(2)
	for name, test := range map[string]struct {
		spec api.NodePoolSpec
		want int
	}{
		"hosts":       {api.NodePoolSpec{Machine: api.Machine{Metal: &api.MetalMachine{Hosts: make([]api.MetalHost, 4)}}}, 4},
		"replicas":    {api.NodePoolSpec{Replicas: &three}, 3},
		"autoscaling": {api.NodePoolSpec{Autoscaling: &api.Autoscaling{Min: &two}}, 2},
		"nothing":     {api.NodePoolSpec{}, 1},
	} {
		if got := Count(&api.NodePool{Spec: test.spec}); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// TestHardware is what is in a machine that nobody made yet.
func TestHardware(t *testing.T) {
	needs, plain := &api.NodeRole{Spec: api.NodeRoleSpec{Hardware: &api.Hardware{GPU: api.GPUNVIDIA}}}, &api.NodeRole{}
	own, size := &api.SimMachine{GPU: api.GPUAMD}, &api.Resources{}
	virtual := func(gpus int) api.Machine {
		return api.Machine{KubeVirt: &api.KubeVirtMachine{Size: api.KubeVirtSize{Resources: size}, GPUs: make([]api.KubeVirtGPU, gpus)}}
	}
	metal := api.Machine{Metal: &api.MetalMachine{}}
	for name, test := range map[string]struct {
		machine api.Machine
		role    *api.NodeRole
		want    *api.SimMachine
	}{
		"as it is declared":              {api.Machine{Sim: own}, needs, own},
		"a host of the role":             {metal, needs, &api.SimMachine{GPU: api.GPUNVIDIA}},
		"a host":                         {metal, plain, &api.SimMachine{}},
		"a virtual one with a device":    {virtual(1), needs, &api.SimMachine{GPU: api.GPUNVIDIA, Resources: size}},
		"a virtual one without one":      {virtual(0), needs, &api.SimMachine{Resources: size}},
		"a virtual one with a spare one": {virtual(1), plain, &api.SimMachine{Resources: size}},
	} {
		got := simulated(&api.NodePool{Spec: api.NodePoolSpec{Machine: test.machine}}, test.role)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSchematics wants to know what is in the images of all pools.
func TestSchematics(t *testing.T) {
	read, err := Read(example(t, "gpu/cluster.yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	found, err := read.Schematics()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for schematic, extensions := range found {
		if len(schematic) != 64 {
			t.Errorf("%q is no schematic", schematic)
		}
		all = append(all, strings.Join(extensions, ","))
	}
	if text := strings.Join(all, " "); len(found) != 4 || !strings.Contains(text, "nvidia-container-toolkit") || !strings.Contains(text, "i915") {
		t.Errorf("there are %v", found)
	}
}
