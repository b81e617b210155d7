// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// builtins are the built-in roles, with others beside.
func builtins(t *testing.T, declared ...*api.NodeRole) talos.Roles {
	t.Helper()
	roles, err := talos.NewRoles(declared...)
	if err != nil {
		t.Fatal(err)
	}
	return roles
}

// TestRecommend takes the smallest role that has all, and several where none has.
func TestRecommend(t *testing.T) {
	tests := map[string]string{ // needs, and the roles with what each is for
		"":                             "plain",
		"control-plane":                "control-plane(control-plane)",
		"nvidia":                       "gpu-nvidia(nvidia)",
		"amd":                          "gpu-amd(amd)",
		"intel":                        "gpu-intel(intel)",
		"tailscale":                    "gateway(tailscale)",
		"linstor":                      "compute(linstor)",
		"zfs":                          "compute(zfs)",
		"spin":                         "compute(spin)",
		"longhorn":                     "storage(longhorn)",
		"iscsi":                        "storage(iscsi)",
		"util-linux-tools":             "storage(util-linux-tools)",
		"ceph":                         "plain(ceph)",
		"nfs":                          "plain(nfs)",
		"Ceph nfs ceph":                "plain(ceph,nfs)",
		"linstor zfs spin":             "compute(linstor,zfs,spin)",
		"linstor tailscale":            "gateway(linstor,tailscale)",
		"nvidia nfs":                   "gpu-nvidia(nvidia,nfs)",
		"control-plane ceph":           "control-plane(control-plane,ceph)",
		"nvidia amd":                   "gpu-amd(amd) gpu-nvidia(nvidia)",
		"longhorn nvidia":              "gpu-nvidia(nvidia) storage(longhorn)",
		"control-plane tailscale":      "control-plane(control-plane) gateway(tailscale)",
		"linstor longhorn tailscale":   "gateway(linstor,tailscale) storage(longhorn)",
		"linstor drbd tailscale iscsi": "gateway(linstor,drbd,tailscale) storage(iscsi)",
	}
	for needs, want := range tests {
		t.Run(needs, func(t *testing.T) {
			made, err := builtins(t).Recommend(strings.Fields(needs)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, taken := range made.Take {
				name := taken.Role
				if len(taken.For) > 0 {
					name += "(" + strings.Join(taken.For, ",") + ")"
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
			if len(made.Take)+len(made.Leave) != len(talos.BuiltinRoleNames()) {
				t.Errorf("not every role is spoken of: %+v", made)
			}
		})
	}
}

// TestRecommendReasons wants a true reason for every role, and what the one that is taken asks.
func TestRecommendReasons(t *testing.T) {
	got, err := builtins(t).Recommend("tailscale", "nfs")
	if err != nil {
		t.Fatal(err)
	}
	want := talos.Recommendation{
		Take: []talos.Taken{{
			Role: "gateway", For: []string{"tailscale", "nfs"},
			Because: "it has tailscale for tailscale; nfs needs nothing on the machine; it brings drbd, spin, zfs too, and no role with less has what is needed",
			Asks:    []string{"one machine in each cluster", "authkey in the Secret tailscale, in the namespace of the pool"},
		}},
		Leave: []talos.Left{
			{Role: "compute", Because: "it lacks tailscale"},
			{Role: "control-plane", Because: "it runs the cluster's control plane"},
			{Role: "gpu-amd", Because: "it is for machines with graphics of AMD"},
			{Role: "gpu-intel", Because: "it is for machines with graphics of Intel"},
			{Role: "gpu-nvidia", Because: "it is for machines with graphics of NVIDIA"},
			{Role: "plain", Because: "it lacks tailscale"},
			{Role: "storage", Because: "it lacks tailscale"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = builtins(t).Recommend("amd")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"graphics of AMD in every machine", "processors of amd64"}, got.Take[0].Asks); diff != "" {
		t.Error(diff)
	}
	for _, left := range got.Leave {
		if want := map[string]string{"plain": "it has no driver for graphics of AMD", "control-plane": "it runs the cluster's control plane"}[left.Role]; want != "" && left.Because != want {
			t.Errorf("%s: %s", left.Role, left.Because)
		}
	}
}

// TestRecommendDeclared asks roles that a folder declares.
func TestRecommendDeclared(t *testing.T) {
	both := role("both", api.NodeRoleSpec{Extends: "gpu-nvidia", Extensions: []string{"siderolabs/iscsi-tools", "siderolabs/util-linux-tools"}})
	got, err := builtins(t, both).Recommend("nvidia", "longhorn")
	if err != nil || len(got.Take) != 1 || got.Take[0].Role != "both" {
		t.Errorf("the role that has both is not taken: %+v, %v", got.Take, err)
	}
	if got, err = builtins(t, both).Recommend("nvidia"); err != nil || got.Take[0].Role != "gpu-nvidia" {
		t.Errorf("not the smallest: %+v, %v", got.Take, err)
	}
	if got, err = builtins(t, role("worker", api.NodeRoleSpec{})).Recommend(); err != nil || got.Take[0].Role != "plain" {
		t.Errorf("got %+v, %v", got.Take, err)
	}
	reasons := map[string]string{}
	for _, left := range got.Leave {
		reasons[left.Role] = left.Because
	}
	if reasons["worker"] != "it would do as well" || reasons["storage"] != "it brings iscsi-tools, util-linux-tools too, which is not needed" {
		t.Errorf("got %v", reasons)
	}
	if _, err := builtins(t, role("storage", api.NodeRoleSpec{})).Recommend("longhorn"); err == nil || err.Error() != `no role has what "longhorn" needs: declare one that has` {
		t.Errorf("got %v", err)
	}
	if _, err := builtins(t, role("mine", api.NodeRoleSpec{Extends: "nobody"})).Recommend(); err == nil {
		t.Error("a role that extends nothing that exists is passed over")
	}
}
