// SPDX-License-Identifier: Apache-2.0

package box

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Until gives a context that ends when the process is told to stop: by SIGINT or SIGTERM, or when watched is not nil
// and comes to its end, which for a pipe held by the parent is also the parent's death. A second signal is no longer
// caught and ends the process at once.
func Until(parent context.Context, watched io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel)
	if watched != nil {
		go func() {
			// Whatever ends the reading, an error as well as the end, there is nobody left on the other side.
			_, _ = io.Copy(io.Discard, watched)
			cancel()
		}()
	}
	return ctx, cancel
}
