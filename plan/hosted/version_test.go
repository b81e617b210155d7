// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

func TestNext(t *testing.T) {
	tests := map[string]struct {
		seen hosted.Versions
		want api.KubernetesVersion
		why  string // a part of it
	}{
		"a new one is what is wanted":      {hosted.Versions{Wanted: "v1.35.2"}, "v1.35.2", ""},
		"as it is":                         {hosted.Versions{"v1.35.2", "v1.35.2", "v1.35.2"}, "v1.35.2", ""},
		"without the letter":               {hosted.Versions{"1.35.2", "v1.35.2", "v1.35.2"}, "v1.35.2", ""},
		"a patch":                          {hosted.Versions{"v1.35.2", "v1.35.2", "v1.35.9"}, "v1.35.9", ""},
		"a patch before the last one runs": {hosted.Versions{"v1.35.3", "v1.35.2", "v1.35.9"}, "v1.35.9", ""},
		"a minor":                          {hosted.Versions{"v1.35.2", "v1.35.2", "v1.36.1"}, "v1.36.1", ""},
		"a minor while a patch rolls out":  {hosted.Versions{"v1.35.3", "v1.35.2", "v1.36.1"}, "v1.35.3", "it goes to v1.36.1 when v1.35.3 runs everywhere: v1.35.2 still does"},
		"two minors":                       {hosted.Versions{"v1.35.2", "v1.35.2", "v1.37.1"}, "v1.36.0", "it goes to v1.37.1 by way of v1.36.0"},
		"two minors, halfway":              {hosted.Versions{"v1.36.0", "v1.35.2", "v1.37.1"}, "v1.36.0", "when v1.36.0 runs everywhere"},
		"down a patch":                     {hosted.Versions{"v1.35.2", "v1.35.2", "v1.35.1"}, "v1.35.2", "v1.35.1 is older, and a control plane never goes down"},
		"down a minor":                     {hosted.Versions{"1.36.0", "v1.36.0", "v1.35.9"}, "v1.36.0", "set spec.kubernetesVersion to v1.36.0 or newer"},
		"asked for and not started yet":    {hosted.Versions{"v1.35.2", "", "v1.36.0"}, "v1.36.0", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, why, err := hosted.Next(test.seen)
			if err != nil || got != test.want || !strings.Contains(why.Why, test.why) || (why.Why == "") != (test.why == "") {
				t.Errorf("got %s because %q, %v; want %s because %q", got, why, err, test.want, test.why)
			}
			if down := strings.HasPrefix(name, "down"); down != (why.Reason == api.ReasonInvalid) {
				t.Errorf("the reason is %q", why.Reason)
			}
		})
	}
	for _, broken := range []hosted.Versions{{Wanted: "new"}, {Asked: "old", Wanted: "v1.35.2"}, {"v1.35.2", "odd", "v1.36.0"}} {
		if _, _, err := hosted.Next(broken); err == nil {
			t.Errorf("%+v is taken", broken)
		}
	}
}

// TestNextClimbs follows a control plane that does what it is told to where it should be.
func TestNextClimbs(t *testing.T) {
	var steps []api.KubernetesVersion
	asked, runs := "v1.34.4", "v1.34.4"
	for range 10 {
		next, _, err := hosted.Next(hosted.Versions{Asked: asked, Runs: runs, Wanted: "v1.37.1"})
		if err != nil {
			t.Fatal(err)
		}
		if string(next) == asked {
			runs = asked // it has been rolled out meanwhile
			continue
		}
		steps, asked = append(steps, next), string(next)
	}
	if diff := cmp.Diff([]api.KubernetesVersion{"v1.35.0", "v1.36.0", "v1.37.1"}, steps); diff != "" {
		t.Error(diff)
	}
}
