// SPDX-License-Identifier: Apache-2.0

package livetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli"
	"minos.dev/minos/sim/kubetest"
)

// TestCredentials gets what the management cluster keeps.
func TestCredentials(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	contains(t, d.run("cluster kubeconfig shop").stderr, "minos: cluster shop has no such credential yet: key value of Secret shop-kubeconfig is not there\n")
	for name, data := range map[string]map[string]string{"shop-kubeconfig": {"value": "the kubeconfig\n"}, "shop-talosconfig": {"talosconfig": "the talosconfig\n"}} {
		d.make(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: d.namespace}, StringData: data})
	}
	if got := d.want("cluster kubeconfig shop"); got != "the kubeconfig\n" {
		t.Errorf("printed %q", got)
	}
	file := filepath.Join(t.TempDir(), "talosconfig")
	if got := d.want("cluster talosconfig shop --out " + file); got != "wrote "+file+"\n" {
		t.Errorf("said %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	contains(t, d.run("cluster talosconfig shop --out "+file).stderr, "exists already, and nothing is written over it")
	contains(t, d.run("cluster talosconfig shop --role os:reader").stderr, "minos: --role is for credentials made from a folder")
}

// TestRefusals is what bad input gets.
func TestRefusals(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.createCluster()
	d.createPool("workers", "")
	d.createPool("burst", "--max 4")
	d.make(&api.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "metal", Namespace: d.namespace},
		Spec: api.NodePoolSpec{
			ClusterName: "shop", Role: "plain", LocationRef: api.LocationReference{Kind: api.KindLocation, Name: "rack"},
			Machine: api.Machine{Metal: &api.MetalMachine{Hosts: []api.MetalHost{{Name: "one", Address: "192.0.2.1", Disk: api.InstallDisk{Path: "/dev/sda"}}}}},
		},
	})
	const create = "pool create x --cluster shop --role plain "
	tests := map[string]string{
		"pool describe wokers":  `there is no pool "wokers" in namespace "` + d.namespace + `", did you mean "workers"?`,
		"cluster describe bank": `there is no cluster "bank" in namespace`,
		"pool scale burst 3":    "pool burst is autoscaled between 0 and 4 machines: its number is the autoscaler's\nhint: change spec.autoscaling",
		"pool scale metal 3":    "pool metal has as many machines as it lists hosts: 1\nhint: add or remove hosts",
		"pool create workers --cluster shop --role plain --location lab": `there is a pool "workers" in namespace`,
		create + "--location lba":                                                     `there is no place "lba" for namespace "` + d.namespace + `", did you mean "lab"?`,
		create + "--location Room/lab":                                                `--location: "Room" is not Location or ClusterLocation`,
		create + "--location rack":                                                    "Location rack is a place of kind metal, whose pools list their hosts\nhint:",
		create + "--location hall":                                                    "a machine needs a size: give --instance-type, or --cpu and --memory",
		create + "--location lab --disk 20Gi":                                         "Location lab is a simulated place",
		create + "--location hall --cpu 2 --memory much":                              `--memory: "much" is not an amount such as 2 or 4Gi`,
		create + "--location hall --instance-type u1 --disk 2Gi":                      "spec.machine.kubevirt.disk.size: ",
		create + "--location lab --max 0":                                             "spec.autoscaling.max: 0: should be greater than or equal to 1",
		"pool create x --cluster shop --role plian --location lab":                    `spec.role: there is no role "plian", did you mean "plain"?`,
		"pool create bad.name --cluster shop --role plain --location lab":             "metadata.name may not contain a dot",
		"cluster create y --kubernetes v1.36.3 --talos 1.13":                          `spec.talosVersion: "1.13": must be a full Talos version such as v1.13.9`,
		"cluster create y --kubernetes v1.37.0 --talos v1.13.9":                       "spec.talosVersion: ",
		"cluster create y --kubernetes v1.36.3 --talos v1.13.9 --control-plane talos": "spec.endpoint: must be set for this kind of control plane",
	}
	for line, want := range tests {
		ended := d.run(line)
		if ended.code != cli.ExitError || !strings.HasPrefix(ended.stderr, "minos: ") || !strings.Contains(ended.stderr, want) || ended.stdout != "" {
			t.Errorf("minos %s: exit code %d, %s, want %q", line, ended.code, ended.stderr, want)
		}
	}
	contains(t, d.want("pool create early --cluster shp --role plain --location lab"), `warning: there is no cluster "shp" in namespace`, `did you mean "shop"?`, "made pool early")
}

// TestRights says which right is missing.
func TestRights(t *testing.T) {
	t.Parallel()
	d := sit(t)
	config, err := clientcmd.LoadFromFile(d.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "jo"
	}
	d.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, d.kubeconfig); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("minos: user %q may not list nodepools.minos.dev in namespace %q\nhint: ask for a role with the verb \"list\" on nodepools.minos.dev", "jo", d.namespace)
	contains(t, d.run("pool list").stderr, want)
	contains(t, d.run("pool list -A").stderr, `may not list nodepools.minos.dev in all namespaces`)

	// With the rights that a tenant has in its own namespace, it works, and says what could not be looked at.
	rules := []rbacv1.PolicyRule{{APIGroups: []string{api.Group}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	d.make(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: d.namespace}, Rules: rules})
	d.make(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: d.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "jo"}},
	})
	kubetest.Eventually(t, within, func(context.Context) error { // the API server takes a moment to know
		if ended := d.run("pool list"); ended.code != cli.ExitOK {
			return fmt.Errorf("%s", ended.stderr)
		}
		return nil
	})
	contains(t, d.run("doctor").stderr, `warning: user "jo" may not list clusterlocations.minos.dev in all namespaces: the platform's places are not examined`)
	d.createCluster()
	contains(t, d.want("pool create workers --cluster shop --role plain --location Location/lab"),
		`warning: user "jo" may not list noderoles.minos.dev in all namespaces: the pool is held to the API server's rules only`, "made pool workers")
	contains(t, d.run("cluster kubeconfig shop").stderr, `minos: user "jo" may not get secrets in namespace`)
}
