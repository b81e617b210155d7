// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"testing"
)

// TestPlain leaves out of errors what differs each time, and what says nothing.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"dial tcp 192.0.2.1:50000: connect: connection refused": "connection refused",
		`rpc error: code = Unavailable desc = connection error: desc = "transport: authentication handshake failed: read tcp 127.0.0.1:41520->192.0.2.1:50000: read: connection reset by peer"`://
		`connection error: desc = "transport: authentication handshake failed: read tcp 192.0.2.1:50000: read: connection reset by peer`,
		"read tcp [2001:db8::1]:41520->[2001:db8::2]:50000: i/o timeout": "read tcp [2001:db8::2]:50000: i/o timeout",
		"rpc error: code = DeadlineExceeded desc = too\nlate":            "too late",
	} {
		if got := plain(errors.New(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
