// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestRefusal tells Talos's verdict from its silence, and keeps what a configuration holds out of it.
func TestRefusal(t *testing.T) {
	const configuration = "machine:\n  token: abcdef.0123456789abcdef\n  ca: {key: c2VjcmV0c2VjcmV0}\n"
	for name, test := range map[string]struct {
		err  error
		want string // empty is no verdict
	}{
		"nothing":        {nil, ""},
		"silence":        {status.Error(codes.Unavailable, "connection refused"), ""},
		"a denial":       {status.Error(codes.PermissionDenied, "not authorized"), ""},
		"of ours":        {errors.New("read Secret a: gone"), ""},
		"invalid":        {status.Error(codes.InvalidArgument, "1 error occurred:\n\t* unknown keys found"), "1 error occurred: * unknown keys found"},
		"not while up":   {status.Error(codes.Unknown, "this config change can't be applied in immediate mode\ndiff: token: abcdef.0123456789abcdef"), "this config change can't be applied in immediate mode"},
		"with a secret":  {status.Error(codes.InvalidArgument, "token abcdef.0123456789abcdef is bad"), "token (redacted) is bad"},
		"with a key":     {status.Error(codes.InvalidArgument, "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----"), "(redacted)"},
		"in many a word": {status.Error(codes.InvalidArgument, strings.Repeat("word ", 200)), strings.TrimSpace(strings.Repeat("word ", 80))},
	} {
		got := ""
		if isRefusal(test.err) {
			got = refusal(test.err, []byte(configuration))
		}
		if strings.TrimSpace(got) != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
