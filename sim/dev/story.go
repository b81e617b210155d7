// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"fmt"

	"minos.dev/minos/api/nearest"
)

// A Story is something that can go wrong, and what is expected all the same.
type Story struct {
	Name string
	// About says what happens, and End what is true at the end.
	About, End string
	// Play has it happen, and waits for what is expected. Its error says what did not come true.
	Play func(ctx context.Context, s *Session) error
}

// Stories are all of them.
func Stories() []Story {
	return []Story{
		{
			"token-leak", "a pool's configuration leaks, with the tokens in it, and the tokens are replaced",
			"the leaked tokens enrol nobody, and the pool is Ready with new ones", tokenLeak,
		},
		{
			"signer-outage", "the signer is down while a pool grows, and comes back",
			"machines that were there never noticed, and the new one joined when the signer was back", signerOutage,
		},
		{
			"dying-machine", "the host of a machine breaks",
			"another machine took its place, and neither the instance nor the Node of the dead one is left", dyingMachine,
		},
		{
			"bad-layer", "a pool gets a layer that would break its machines, past the guard at the door",
			"only that pool said so, and its machines stayed as they were", badLayer,
		},
		{
			"full-place", "a pool grows in a place that has no room",
			"the pool said that there is no room, and went on by itself when there was", fullPlace,
		},
		{
			"stuck-service", "a gateway without the configuration of its service never ends its boot",
			"its pool named the service, although the Node was Ready, and no other pool was touched", stuckService,
		},
		{
			"operator-killed", "the operator is killed while pools grow, and starts again",
			"all is Ready, and no machine was made twice", operatorKilled,
		},
	}
}

// StoryNames are their names.
func StoryNames() []string {
	var all []string
	for _, story := range Stories() {
		all = append(all, story.Name)
	}
	return all
}

// FindStory finds a story by its name. No name is no story.
func FindStory(name string) (*Story, error) {
	if name == "" {
		return nil, nil
	}
	for _, story := range Stories() {
		if story.Name == name {
			return &story, nil
		}
	}
	return nil, fmt.Errorf("--scenario: there is no story %q%s", name, nearest.Hint(name, StoryNames()))
}
