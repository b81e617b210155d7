// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that cannot be read must not count as one that declares nothing.
func TestReadFolderRefusesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "huge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(largest+1), file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := readFolder(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "may have 16") {
		t.Errorf("got %v", err)
	}
}

func TestReadFolderStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readFolder(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
