// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// TestEveryStepHasAdvice walks the roll-ups, so that the next step is not forgotten.
func TestEveryStepHasAdvice(t *testing.T) {
	for _, rollup := range []api.Rollup{api.TalosClusterReady, api.NodePoolReady, api.TalosMachineReady, api.LocationReady} {
		for _, step := range rollup {
			if advisers[step] == nil {
				t.Errorf("%s has no advice", step)
				continue
			}
			seen := healthy()
			at := examination{seen, now}.situationOf(&seen.Pools[0])
			for _, situation := range []situation{{}, at} {
				_, look := advise(situation, condition(step, metav1.ConditionFalse, api.ReasonWaiting, ""))
				for _, line := range look {
					if strings.Contains(line, "%!") {
						t.Errorf("%s: %s", step, line)
					}
				}
			}
		}
	}
	for _, step := range api.TalosMachineReady {
		if steps[step] == "" {
			t.Errorf("%s has no words", step)
		}
	}
}

func TestSick(t *testing.T) {
	for want, found := range map[bool][]Finding{false: {{Severity: Note}}, true: {{Severity: Note}, {Severity: Waiting}}} {
		if got := Sick(found); got != want {
			t.Errorf("%v: %t", found, got)
		}
	}
}

func TestOnly(t *testing.T) {
	seen := healthy()
	other := seen.Pools[0]
	other.Name, other.Spec.ClusterName, other.Spec.LocationRef.Name = "others", "bank", "yard"
	bank, yard := seen.Clusters[0], seen.ClusterLocations[0]
	bank.Name, yard.Name = "bank", "yard"
	seen.Pools, seen.Clusters, seen.ClusterLocations = append(seen.Pools, other), append(seen.Clusters, bank), append(seen.ClusterLocations, yard)
	tests := map[string]string{
		"workers": "[workers] [shop] [hall] 2",
		"shop":    "[workers] [shop] [hall] 2",
		"bank":    "[others] [bank] [yard] 0",
		"nobody":  "[] [] [] 0",
	}
	for name, want := range tests {
		only := seen.Only(name)
		pools, clusters, places := []string{}, []string{}, []string{}
		for _, p := range only.Pools {
			pools = append(pools, p.Name)
		}
		for _, c := range only.Clusters {
			clusters = append(clusters, c.Name)
		}
		for _, l := range only.ClusterLocations {
			places = append(places, l.Name)
		}
		if got := fmt.Sprint(pools, clusters, places, len(only.Machines)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	// A name that nobody has is compared with all clusters, also those that are not looked at.
	seen.Pools[1].Spec.ClusterName = "bonk"
	seen.Pools[1].Status.Conditions = but(seen.Pools[1].Status.Conditions, condition(api.ConditionClusterReady, metav1.ConditionFalse, api.ReasonNotFound, ""))
	if found := Findings(seen.Only("others"), now); len(found) != 1 || !strings.Contains(found[0].Cause, `did you mean "bank"?`) {
		t.Errorf("found %v", found)
	}
}

func TestProgress(t *testing.T) {
	tests := map[string]struct {
		change func(*Seen)
		want   string
	}{
		"ready": {func(*Seen) {}, "2 of 2 machines Ready"},
		"new":   {func(s *Seen) { s.Pools[0].Status = api.NodePoolStatus{}; s.Machines = nil }, "not looked at yet"},
		"two at trustd": {
			func(s *Seen) {
				five, three := int32(5), int32(3)
				s.Pools[0].Status.DesiredReplicas, s.Pools[0].Status.ReadyReplicas = &five, &three
				waitingFor(s, condition(api.ConditionCertificateIssued, metav1.ConditionFalse, api.ReasonWaiting, "no answer"), 0, 1)
				s.Pools[0].Status.Conditions = append(s.Pools[0].Status.Conditions, condition(api.ConditionReady, metav1.ConditionFalse, api.ReasonProgressing, ""))
			},
			"3 of 5 machines Ready; 2 wait for trustd: no answer",
		},
		"before any machine": {
			func(s *Seen) {
				s.Machines = nil
				s.Pools[0].Status.Conditions = []metav1.Condition{condition(api.ConditionReady, metav1.ConditionFalse, api.ReasonWaiting, "ClusterReady: no control plane")}
			},
			"2 of 2 machines Ready; Waiting: ClusterReady: no control plane",
		},
		"after a change": {func(s *Seen) { s.Pools[0].Generation = 2 }, "2 of 2 machines Ready; the change has not been looked at yet"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			seen := healthy()
			test.change(&seen)
			if got := Progress(&seen.Pools[0], seen.Machines); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
