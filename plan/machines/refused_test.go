// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// TestRefusedIsReplaced replaces machines on which Talos does not take what it should while it runs: as others of an old revision,
// and no faster.
func TestRefusedIsReplaced(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	one := func(name, refused string) machines.Machine {
		return machines.Machine{Name: name, Revision: "r", Created: now, Made: now, Available: true, Joined: true, Node: machines.NodeReady, Refused: refused}
	}
	policy := machines.Policy{Pool: "p", Desired: 3, Revision: "r", Surge: 1, Startup: time.Hour, Unhealthy: 1}
	around := machines.Around{Now: now, Entropy: []byte("e")}
	todo := machines.For(policy, []machines.Machine{one("a", "not now"), one("b", "not now"), one("c", "")}, around)
	if len(todo.Create) != 1 || len(todo.Delete) != 0 || todo.Counts.UpToDate != 1 {
		t.Errorf("first another is made: %+v", todo)
	}
	todo = machines.For(policy, []machines.Machine{one("a", "not now"), one("b", "not now"), one("c", ""), one("d", "")}, around)
	if len(todo.Delete) != 1 || todo.Delete[0].Reason != "Talos does not take the newest configuration while it runs: not now" {
		t.Errorf("then one goes: %+v", todo)
	}
	if todo := machines.For(policy, []machines.Machine{one("a", ""), one("b", ""), one("c", "")}, around); !todo.IsEmpty() {
		t.Errorf("and then there is nothing to do: %+v", todo)
	}
}

// TestRefused is about the revision that a machine should have, and no other.
func TestRefused(t *testing.T) {
	object := &api.TalosMachine{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{machines.AnnotationRefused: machines.Refuses("p-two", "not now: really")}}}
	for revision, want := range map[api.Name]string{"p-two": "not now: really", "p-three": "", "p": ""} {
		object.Spec.Revision = revision
		if got := machines.Refused(object); got != want || machines.See(object).Refused != want {
			t.Errorf("%s: %q", revision, got)
		}
		condition := machines.Revised(object)
		if condition.Type != api.ConditionUpToDate || (condition.Status == metav1.ConditionTrue) != (want == "") || !strings.Contains(condition.Message, want) {
			t.Errorf("%s: %+v", revision, condition)
		}
	}
}
