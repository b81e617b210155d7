// SPDX-License-Identifier: Apache-2.0

package livetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/cli"
	"minos.dev/minos/plan/preview"
)

// write writes a file of declarations.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "change.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The pool and the cluster as they are, with room for what differs.
const (
	poolFile = `apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers}
spec:
  clusterName: %s
  role: %s
  locationRef: {kind: Location, name: lab}
  replicas: %d
  machine: {sim: {}}
`
	clusterFile = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop}
spec: {kubernetesVersion: %s, talosVersion: %s, endpoint: {host: 192.0.2.1}, controlPlane: {kamaji: {}}}
`
)

// TestDiff foretells what files would do to a pool of three machines.
func TestDiff(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.want("cluster create shop --kubernetes v1.34.3 --talos v1.13.9 --endpoint 192.0.2.1")
	d.createPool("workers", "--replicas 3")
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "workers"}}
	shop := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "shop"}}
	for text, object := range map[string]client.Object{`{"status":{"replicas":3,"desiredReplicas":3}}`: pool, `{"status":{"kubernetesVersion":"v1.34.3"}}`: shop} {
		if err := d.client.Status().Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		command, file string
		code          int
		want          []string
	}{
		"the same": {"pool diff", fmt.Sprintf(poolFile, "shop", "plain", 3), cli.ExitOK, []string{
			"OBJECT         MACHINES   WHAT-HAPPENS   BECAUSE\npool workers   3          nothing        -\n", "nothing would happen to 3 machines\n",
		}},
		"another role": {"pool diff", fmt.Sprintf(poolFile, "shop", "storage", 3), cli.ExitChanges, []string{
			"pool workers   3          3 replaced, 1 at a time   role\n", "3 of 3 machines would be replaced\n",
		}},
		"fewer": {"pool diff", fmt.Sprintf(poolFile, "shop", "plain", 1), cli.ExitChanges, []string{"2 drained and removed", "0 of 3 machines would be replaced"}},
		"another cluster": {"pool diff", fmt.Sprintf(poolFile, "far", "plain", 3), cli.ExitFindings, []string{
			"not possible: spec.clusterName: \"far\": cannot change, because machines cannot move between clusters", "1 thing is not possible",
		}},
		"a release, by the cluster": {"pool diff", fmt.Sprintf(clusterFile, "v1.34.3", "v1.13.8"), cli.ExitChanges, []string{
			"pool workers   3          3 replaced, 1 at a time   talosVersion of TalosCluster shop\n",
		}},
		"Kubernetes": {"cluster diff", fmt.Sprintf(clusterFile, "v1.35.1", "v1.13.9"), cli.ExitChanges, []string{
			"cluster shop   -          the control plane goes to v1.35.1   kubernetesVersion\n",
			"pool workers   3          3 replaced, 1 at a time             kubernetesVersion of TalosCluster shop\n",
		}},
		"two minor versions on": {"cluster diff", fmt.Sprintf(clusterFile, "v1.36.1", "v1.13.9"), cli.ExitFindings, []string{
			`not possible: spec.kubernetesVersion: "v1.36.1": cannot skip a minor version`,
		}},
		"down": {"cluster diff", fmt.Sprintf(clusterFile, "v1.33.1", "v1.13.9"), cli.ExitFindings, []string{`not possible: spec.kubernetesVersion: "v1.33.1": cannot go down to an older minor version`}},
		"a file with a mistake": {"pool diff", "apiVersion: minos.dev/v1alpha1\nkind: NodePool\nmetadata: {name: x}\nspec: {}\n", cli.ExitError, []string{
			"minos: ", "hint: 'minos check ",
		}},
	} {
		got := d.run(test.command + " " + write(t, test.file))
		if got.code != test.code {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, got.code, test.code, got.stdout, got.stderr)
		}
		contains(t, got.stdout+got.stderr, test.want...)
	}
	printed := d.run("pool diff -o json " + write(t, fmt.Sprintf(poolFile, "shop", "storage", 3)))
	var read []preview.Forecast
	if err := json.Unmarshal([]byte(printed.stdout), &read); err != nil || len(read) != 1 || read[0].Replaced != 3 || strings.Join(read[0].Because, "") != "role" {
		t.Errorf("%v: %s", err, printed.stdout)
	}
}
