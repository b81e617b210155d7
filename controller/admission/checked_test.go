// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/kubetest"
)

// TestChecked holds changes to the rules of minos check: what can never work is refused, whatever else is wrong is told, and what was
// wrong before is neither.
func TestChecked(t *testing.T) {
	openDoor(t)
	c, ears := listening(t)
	namespace := kubetest.Namespace(t)
	for _, object := range objectsOf(t, namespace, rolling+strings.Replace(poolOf("bent", "gpu-nvidia"), "\n", "---\n", 1)) {
		if object.GetKind() == "NodeRole" {
			object.SetNamespace("")
			t.Cleanup(func() { _ = c.Delete(context.Background(), object) })
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	pool := func(name string) client.Object {
		return &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	own := &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "own-" + namespace}}
	here := &api.Location{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "here"}}
	for name, test := range map[string]struct {
		object               client.Object
		patch, told, refused string
	}{
		"machines that never end their boot": {object: pool("general"), patch: `{"spec":{"role":"gpu-nvidia"}}`, told: "ROL-013: role gpu-nvidia needs graphics of NVIDIA, and the machines of pool general have none"},
		"they never did":                     {object: pool("bent"), patch: `{"spec":{"replicas":2}}`},
		"nothing wrong":                      {object: pool("general"), patch: `{"spec":{"replicas":4}}`},
		"an image that cannot be":            {object: own, patch: `{"spec":{"extensions":["siderolabs/iscsi-tolls"]}}`, refused: "EXT-001: "},
		"an image that can be":               {object: own, patch: `{"spec":{"extensions":["siderolabs/iscsi-tools"]}}`},
		"a place that breaks one":            {object: here, patch: `{"spec":{"sim":{"config":{"patches":[{"machine":{"sysctls":{"vm.overcommit_memory":"x"}}}]}}}}`},
	} {
		kubetest.Eventually(t, within, func(ctx context.Context) error {
			ears.take()
			err := c.Patch(ctx, test.object.DeepCopyObject().(client.Object), client.RawPatch("application/merge-patch+json", []byte(test.patch)), client.DryRunAll)
			findings := slices.DeleteFunc(ears.take(), func(line string) bool { return !isFinding(line) })
			switch {
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				return fmt.Errorf("%s: %w, want %s", name, err, test.refused)
			case test.refused == "" && err != nil:
				return fmt.Errorf("%s: %w", name, err)
			case (test.told == "") != (len(findings) == 0), test.told != "" && !slices.Contains(findings, test.told):
				return fmt.Errorf("%s: it was told %q, want %q", name, findings, test.told)
			}
			return nil
		})
	}
}

// isFinding says whether a warning is a rule's.
func isFinding(line string) bool {
	id, _, found := strings.Cut(line, ": ")
	return found && len(id) == len("ROL-013") && id[3] == '-'
}

// poolOf is a pool of a role.
func poolOf(name, role string) string {
	return "\napiVersion: minos.dev/v1alpha1\nkind: NodePool\nmetadata: {name: " + name + "}\n" +
		"spec: {clusterName: shop, role: " + role + ", locationRef: {kind: Location, name: here}, replicas: 1, machine: {sim: {}}}\n"
}
