// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/pool"
)

// TestRolls is what machines roll for, and what they do not.
func TestRolls(t *testing.T) {
	sized := func(cpu string) api.Machine {
		return api.Machine{Sim: &api.SimMachine{Resources: &api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse("4Gi")}}}
	}
	rolls := func(configuration string, machine api.Machine, schematic string, version api.TalosVersion) string {
		t.Helper()
		name, err := pool.Rolls(configuration, machine, schematic, version)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	first := rolls("a", sized("2"), "s", "v1.13.9")
	if again := rolls("a", sized("2"), "s", "v1.13.9"); again != first {
		t.Error("the same has another name")
	}
	for what, other := range map[string]string{
		"the configuration": rolls("b", sized("2"), "s", "v1.13.9"), "the size": rolls("a", sized("4"), "s", "v1.13.9"),
		"the image": rolls("a", sized("2"), "t", "v1.13.9"), "the release": rolls("a", sized("2"), "s", "v1.14.1"),
	} {
		if other == first {
			t.Errorf("machines do not roll for %s", what)
		}
	}
}
