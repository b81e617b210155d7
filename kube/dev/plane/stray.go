// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// divertStderr sends what libraries write to standard error to the log, for good: they go on writing while the process
// ends. It must be called before any component starts.
//
// The API server's client of etcd takes hold of os.Stderr before main runs and offers no way to have it log elsewhere, so
// the file behind the variable is exchanged, not the variable. The descriptor stays what it was: a crash is still seen.
func divertStderr(log io.Writer) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("divert standard error: %w", err)
	}
	original := *os.Stderr
	*os.Stderr = *writer
	go func() {
		_, _ = io.Copy(log, reader)
		runtime.KeepAlive(original) // a file nobody refers to is closed
	}()
	return nil
}
