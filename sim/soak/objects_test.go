// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"strings"
	"testing"

	"minos.dev/minos/api/load"
	"minos.dev/minos/sim/soak/story"
)

// TestObjects holds what is made to the rules of the API server, and what is changed to fields that there are.
func TestObjects(t *testing.T) {
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	pool := story.Deed{Kind: story.MakePool, Cluster: "shop", Pool: "edge", What: story.Storage, Number: 2, Place: story.House}
	texts := []string{house, clusterText(story.Deed{Cluster: "shop"}), poolText(pool)}
	pool.Place = story.Cloud
	for _, text := range append(texts, poolText(pool)) {
		if _, problems := reader.Read("made.yaml", []byte(text)); len(problems) > 0 {
			t.Errorf("%s\n%v", text, problems)
		}
	}
	for kind, want := range map[story.Kind]string{
		story.ScalePool: `{"spec":{"replicas":3}}`, story.ResizePool: `{"spec":{"machine":{"sim":{"resources":{"cpu":5,"memory":"10Gi"}}}}}`,
		story.RelabelPool: `{"spec":{"config":{"labels":{"soak.example.com/label":"3"}}}}`,
		story.PatchPool:   `{"spec":{"config":{"kubelet":{"extraArgs":{"event-qps":"53"}}}}}`,
	} {
		if got, err := change(story.Deed{Kind: kind, Number: 3}, story.Cloud); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", kind, got, err, want)
		}
	}
	if _, err := change(story.Deed{Kind: story.Kill}, story.Cloud); err == nil {
		t.Error("a kill changes a pool")
	}
}

// TestLimits are the budgets that are declared, and so those that are held.
func TestLimits(t *testing.T) {
	for text, want := range map[string]limit{
		poolText(story.Deed{Pool: "burst", What: story.Plain}): {surge: 1}, poolText(story.Deed{Pool: "edge", What: story.Plain}): {unavailable: 1},
	} {
		declared := "maxSurge: 1, maxUnavailable: 0"
		if want.unavailable == 1 {
			declared = "maxSurge: 0, maxUnavailable: 1"
		}
		if !strings.Contains(text, declared) {
			t.Errorf("%s does not declare %s", text, declared)
		}
	}
	if got := limitOf("gate-east", story.Gateway); got != (limit{unavailable: 1}) {
		t.Errorf("a gateway may have %+v", got)
	}
}

// TestBehaviour wants every manner to be one that a place can have, and to do something.
func TestBehaviour(t *testing.T) {
	for _, manner := range story.Manners() {
		how := behaviour(manner)
		if err := how.Check(); err != nil {
			t.Errorf("%s: %v", manner, err)
		}
		if how.Latency.Duration+how.Start.Duration+how.Lag.Duration == 0 && how.Quota == 0 && how.Rate == 0 && len(how.Faults) == 0 {
			t.Errorf("%s does nothing", manner)
		}
	}
}

// TestEveryFaultIsKnown wants every link to have a door.
func TestEveryLinkHasADoor(t *testing.T) {
	for _, link := range []string{story.ToManagement, story.ToPlace, story.ToTenant, story.ToSigner, story.ToServer} {
		if links[link] == "" {
			t.Errorf("%s has none", link)
		}
	}
}
