// SPDX-License-Identifier: Apache-2.0

package dev_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"minos.dev/minos/sim/dev"
	"minos.dev/minos/sim/estate/estatetest"
)

// within bounds a wait on a busy machine. It bounds, and does not measure.
const within = 5 * time.Minute

// open opens an environment, and closes it with the test.
func open(t *testing.T, folder string) *dev.Session {
	t.Helper()
	var mutex sync.Mutex
	ended := false
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	s, err := dev.Open(ctx, dev.Options{Folder: folder, Operator: estatetest.Operator(t), Speed: 60, Tell: func(line dev.Line) {
		mutex.Lock()
		defer mutex.Unlock()
		if !ended {
			t.Log(line)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		mutex.Lock()
		defer mutex.Unlock()
		ended = true
	})
	return s
}

// TestStories plays every story in one environment, one after the other: each has to leave it as it found it. It takes minutes.
func TestStories(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.AwaitReady(t.Context(), within); err != nil {
		t.Fatal(err)
	}
	for _, story := range dev.Stories() {
		t.Run(story.Name, func(t *testing.T) {
			begin := time.Now()
			if err := story.Play(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			t.Logf("it took %s", time.Since(begin))
		})
	}
}
