// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// resolved are the roles of pools, by the name of the pool, with what they extend folded in.
func resolved(t testing.TB, all []load.Object) map[string]*api.NodeRole {
	t.Helper()
	var declared []*api.NodeRole
	for _, object := range all {
		if role, ok := object.(*api.NodeRole); ok {
			declared = append(declared, role)
		}
	}
	known, err := talos.NewRoles(declared...)
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]*api.NodeRole{}
	for _, object := range all {
		if pool, ok := object.(*api.NodePool); ok {
			if roles[pool.Name], err = known.Resolve(pool.Spec.Role); err != nil {
				t.Fatal(err)
			}
		}
	}
	return roles
}

// TestRolesHaveWhatTheyNeed looks at what machines get, whichever role it comes from.
func TestRolesHaveWhatTheyNeed(t *testing.T) {
	type role struct {
		Extensions, Modules []string
		Sysctls, Labels     map[string]string
	}
	micro := []string{"amd-ucode", "intel-ucode"}
	tests := map[string]map[string]role{
		"profile=homelab extensions=none storage=none": {"home-plane": {}, "home-workers": {}},
		"profile=homelab arch=arm64 storage=none":      {"home-plane": {}, "home-workers": {}},
		"profile=homelab storage=none":                 {"home-plane": {Extensions: micro}, "home-workers": {Extensions: micro}},
		"profile=homelab extensions=none storage=longhorn": { // where workloads run, volumes are
			"home-plane":   {Extensions: []string{"iscsi-tools", "util-linux-tools"}},
			"home-workers": {Extensions: []string{"iscsi-tools", "util-linux-tools"}},
		},
		"profile=production": { // and nowhere else
			"home-plane":   {Extensions: micro},
			"home-workers": {Extensions: []string{"amd-ucode", "intel-ucode", "iscsi-tools", "util-linux-tools"}},
		},
		"profile=production extensions=none storage=mayastor": {
			"home-plane": {},
			"home-workers": {
				Modules: []string{"nvme_tcp"}, Sysctls: map[string]string{"vm.nr_hugepages": "1024"},
				Labels: map[string]string{"openebs.io/engine": "mayastor"},
			},
		},
		"profile=production extensions=none storage=nfs": {"home-plane": {}, "home-workers": {Extensions: []string{"nfs-utils"}}},
		"profile=production extensions=none storage=linstor workloads=true": {
			"home-plane":   {Extensions: []string{"drbd", "zfs"}, Modules: []string{"drbd", "zfs"}},
			"home-workers": {Extensions: []string{"drbd", "spin", "zfs"}, Modules: []string{"drbd", "zfs"}},
		},
		// A driver belongs to the machines that work, and an extension's module is loaded.
		"profile=production storage=none extensions=zfs,siderolabs/intel-ucode,zfs": {
			"home-plane":   {Extensions: []string{"intel-ucode"}},
			"home-workers": {Extensions: []string{"intel-ucode", "zfs"}, Modules: []string{"zfs"}},
		},
		// Unless there are no others.
		"profile=edge storage=none extensions=i915": {"home-plane": {Extensions: []string{"i915"}}},
		"profile=hosted storage=longhorn":           {"home-workers": {Extensions: []string{"iscsi-tools", "util-linux-tools"}}},
	}
	for words, want := range tests {
		t.Run(words, func(t *testing.T) {
			_, files := made(t, words)
			got := map[string]role{}
			for pool, found := range resolved(t, objects(t, files)) {
				one := role{Sysctls: found.Spec.Sysctls, Labels: found.Spec.Labels, Extensions: slices.Sorted(slices.Values(found.Spec.Extensions))}
				for _, module := range found.Spec.KernelModules {
					one.Modules = append(one.Modules, module.Name)
				}
				got[pool] = one
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestVolumes looks at where data is kept: on a disk of its own in production, and in a folder where there may be none.
func TestVolumes(t *testing.T) {
	type volume struct{ name, kind string }
	for words, want := range map[string]volume{
		"profile=homelab":                      {"local-path", "volumeType: directory"},
		"profile=homelab storage=longhorn":     {"longhorn", "volumeType: directory"},
		"profile=production":                   {"longhorn", "match: \"!system_disk\""},
		"profile=production storage=mayastor":  {"openebs", "volumeType: directory"}, // its own data; volumes are on whole disks
		"profile=hosted storage=longhorn":      {"longhorn", "volumeType: directory"},
		"profile=production storage=rook-ceph": {},
		"profile=production storage=nfs":       {},
	} {
		_, files := made(t, words)
		_, found, declared := strings.Cut(files["pools.yaml"], "kind: UserVolumeConfig\n        name: ")
		if declared != (want.name != "") || !strings.HasPrefix(found, want.name+"\n") && declared || !strings.Contains(found, want.kind) {
			t.Errorf("%s: want %+v:\n%s", words, want, files["pools.yaml"])
		}
	}
}

// TestTodo names what no file can do.
func TestTodo(t *testing.T) {
	for words, want := range map[string]string{
		"profile=homelab cni=none":                      "deliver a pod network: until then no node is ready",
		"profile=homelab cni=calico":                    "install Calico once the API server answers: until then no node is ready",
		"profile=hosted cni=flannel":                    "install Flannel once the API server answers: until then no node is ready",
		"profile=homelab storage=rook-ceph worker=none": "Rook-Ceph keeps copies on 3 machines, and there are 1: add some, or ask it for fewer copies",
		"profile=homelab backup=none":                   "there is no backup: a lost etcd is a lost cluster",
		"profile=edge":                                  "a place without a lock wants machine.metal.secureBoot and encrypted disks",
		"profile=production platform=cloud":             "cluster.yaml: make spec.endpoint.host a free address of your network, or a load balancer, in place of api.home.example.com",
		"profile=production vip-link=none":              "cluster.yaml: make spec.endpoint.host a free address of your network, or a load balancer, in place of 192.0.2.10",
	} {
		answers, files := made(t, words)
		if !slices.Contains(answers.Todo(), want) {
			t.Errorf("%s: no %q in %q", words, want, answers.Todo())
		}
		if !strings.Contains(files["README.md"], "- "+want+"\n") {
			t.Errorf("%s: README.md does not say %q", words, want)
		}
	}
	answers, _ := made(t, "profile=homelab")
	for _, line := range answers.Todo() {
		if strings.Contains(line, "pod network") || strings.Contains(line, "Flannel") {
			t.Errorf("Talos brings Flannel: %s", line)
		}
	}
}
