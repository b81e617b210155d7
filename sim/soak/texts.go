// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"minos.dev/minos/sim/soak/invariant"
)

// leaks looks for secrets in all logs, events and statuses.
func (s *Stage) leaks(ctx context.Context) ([]invariant.Violation, error) {
	found, err := s.leaksInLogs()
	if err != nil || len(found) > 0 {
		return found, err
	}
	events := &corev1.EventList{}
	if err := s.client.List(ctx, events); err != nil {
		return nil, err
	}
	for _, event := range events.Items {
		found = append(found, s.leaksIn(fmt.Sprintf("an event of %s %s", event.InvolvedObject.Kind, event.InvolvedObject.Name), event.Message)...)
	}
	for _, kind := range told() {
		objects, err := s.list(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			text, err := json.Marshal([]any{object.Object["status"], object.GetAnnotations()})
			if err != nil {
				return nil, err
			}
			found = append(found, s.leaksIn(fmt.Sprintf("the status or the annotations of %s %s/%s", kind.Kind, object.GetNamespace(), object.GetName()), string(text))...)
		}
	}
	return found, nil
}

// told are the kinds in which somebody tells how things are.
func told() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, kind := range []string{"TalosCluster", "NodePool", "TalosMachine", "Location", "ClusterLocation"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "minos.dev", Version: "v1alpha1", Kind: kind})
	}
	return append(kinds, leftKinds()...)
}

// leaksIn looks into one text.
func (s *Stage) leaksIn(where, text string) []invariant.Violation {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return invariant.Leaks(where, text, s.known)
}

// overlap is how much of a log is read again, so that nothing is missed between two looks.
const overlap = 1 << 10

// leaksInLogs looks into what was written since the last look, of all parts.
func (s *Stage) leaksInLogs() ([]invariant.Violation, error) {
	var found []invariant.Violation
	err := filepath.WalkDir(s.options.Folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a tenant goes meanwhile
		}
		if err != nil || !entry.Type().IsRegular() || !isLog(entry.Name()) {
			return err
		}
		text, err := s.news(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && text != "" {
			name, _ := filepath.Rel(s.options.Folder, path)
			found = append(found, s.leaksIn(name, text)...)
		}
		return err
	})
	return found, err
}

// isLog says whether a file is a log by its name: of a part, or of an API server, or one of either that was put aside.
func isLog(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".log.old") || name == "log.txt" || name == "log.old.txt"
}

// news is what a log has that was not read yet. One that was begun anew is read from its beginning.
func (s *Stage) news(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	s.mutex.Lock()
	from := s.read[path]
	s.read[path] = info.Size()
	s.mutex.Unlock()
	if from == info.Size() {
		return "", nil
	}
	if from > info.Size() {
		from = 0
	}
	from = max(0, from-overlap)
	text, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	return string(text), err
}
