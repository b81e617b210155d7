// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/preview"
	"minos.dev/minos/talos/fleet"
)

// TestActsAsForetold carries changes out by the plan by which the operator acts, and wants as many machines to go as was foretold,
// and no more at a time.
func TestActsAsForetold(t *testing.T) {
	for name, made := range map[string]change{
		"nothing": {}, "a size": {pool: "machine: {sim: {resources: {cpu: 4, memory: 4Gi}}}"}, "a role": {pool: "role: storage"},
		"a label": {pool: "config: {labels: {example.com/a: b}}"}, "a release": {cluster: "talosVersion: v1.13.8"},
		"a module": {role: "kernelModules: [{name: zfs}]"}, "two at a time": {pool: "{role: storage, rollout: {maxSurge: 1, maxUnavailable: 1}}"},
		"fewer": {pool: "replicas: 1"}, "more, and others": {pool: "{replicas: 5, role: storage}"}, "fewer, and others": {pool: "{replicas: 1, role: storage}"},
		"one after the other": {pool: "{role: storage, rollout: {maxSurge: 0, maxUnavailable: 1}}"},
	} {
		t.Run(name, func(t *testing.T) {
			before := stateOf(t, simulatedMachine)
			after := made.apply(t, before)
			found := preview.For(before, after)
			gone, most := carryOut(t, before, after)
			if gone != found.Replaced+found.Removed {
				t.Errorf("%d went, and it was foretold that %q", gone, found.Lines())
			}
			if found.Replaced > 0 && most > found.AtOnce+found.Removed+found.Made {
				t.Errorf("%d were in hand at a time, and it was foretold that %q", most, found.Lines())
			}
		})
	}
}

// carryOut rolls three machines from one state to another, and says how many of them went and how many machines were being made
// or taken away at a time.
func carryOut(t *testing.T, before, after preview.State) (gone, most int) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	role, name := rollsOf(t, after)
	_, old := rollsOf(t, before)
	budget := pool.BudgetOf(after.Cluster, after.Pool, role)
	policy := machines.PolicyOf(after.Pool, machines.Limits{Desired: int(pool.Claim(after.Pool)), Revision: name, Surge: budget.Surge, Unavailable: budget.Unavailable})
	var all []machines.Machine
	works := func(name, revision string) machines.Machine {
		return machines.Machine{Name: name, Revision: revision, Created: now, Made: now, Available: true, Joined: true, Node: machines.NodeReady}
	}
	for at := range 3 {
		all = append(all, works(fmt.Sprint("old-", at), old))
	}
	for round := range 20 {
		todo := machines.For(policy, all, machines.Around{Now: now, Entropy: fmt.Append(nil, round)})
		if todo.IsEmpty() {
			return gone, most
		}
		most = max(most, len(todo.Create)+len(todo.Delete))
		for _, one := range todo.Delete {
			for at := range all {
				if all[at].Name == one.Name {
					all = append(all[:at:at], all[at+1:]...)
					break
				}
			}
			if len(one.Name) > 4 && one.Name[:4] == "old-" {
				gone++
			}
		}
		for _, one := range todo.Create {
			all = append(all, works(one, name))
		}
	}
	t.Fatal("it does not end")
	return gone, most
}

// rollsOf is what machines of a state roll for, as the operator names it.
func rollsOf(t *testing.T, of preview.State) (*api.NodeRole, string) {
	t.Helper()
	objects := []load.Object{of.Cluster, of.Pool, &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: of.Pool.Namespace, Name: "here"}, Spec: of.Location}}
	for at := range of.Roles {
		objects = append(objects, &of.Roles[at])
	}
	whole, err := fleet.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	role, err := whole.Role(of.Pool)
	if err != nil {
		t.Fatal(err)
	}
	booted, err := pool.Image(of.Cluster, of.Pool, role)
	if err != nil {
		t.Fatal(err)
	}
	with, err := fleet.Placeholders(role)
	if err != nil {
		t.Fatal(err)
	}
	made, err := pool.Configure(whole, of.Pool, booted, with)
	if err != nil {
		t.Fatal(err)
	}
	return role, made.Rolls
}
