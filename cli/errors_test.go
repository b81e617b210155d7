// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	cause := errors.New("no file")
	wrap := func(err error) error { return fmt.Errorf("read: %w", err) }
	for name, tc := range map[string]struct {
		err      error
		want     string
		wantCode int
	}{
		"nothing":                      {nil, "", ExitOK},
		"an error":                     {cause, "minos: no file\n", ExitError},
		"a hint":                       {Hint(cause, "look"), "minos: no file\nhint: look\n", ExitError},
		"a wrapped hint":               {wrap(Hint(cause, "look")), "minos: read: no file\nhint: look\n", ExitError},
		"the outer of two hints":       {Hint(Hint(cause, "in"), "out"), "minos: no file\nhint: out\n", ExitError},
		"a hint on nothing":            {Hint(nil, "look"), "", ExitOK},
		"a code alone":                 {Exit(ExitChanges, nil), "", ExitChanges},
		"a code alone, with a hint":    {Hint(Exit(ExitFindings, nil), "look"), "", ExitFindings},
		"a code and an error":          {Exit(ExitFindings, cause), "minos: no file\n", ExitFindings},
		"a code inside other words":    {wrap(Exit(ExitFindings, cause)), "minos: read: no file\n", ExitFindings},
		"a code for success":           {Exit(ExitOK, nil), "", ExitOK},
		"several lines":                {errors.New("a\nb\r\nc\n"), "minos: a; b; c\n", ExitError},
		"several lines in a hint":      {Hint(cause, "a\nb"), "minos: no file\nhint: a; b\n", ExitError},
		"the end that was asked for":   {interrupted(wrap(context.Canceled)), "minos: interrupted\n", ExitError},
		"a failure after it was asked": {interrupted(cause), "minos: interrupted: no file\n", ExitError},
		"success after it was asked":   {interrupted(nil), "", ExitOK},
		"a result after it was asked":  {interrupted(Exit(ExitChanges, nil)), "", ExitChanges},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if code := report(&b, tc.err); code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// Callers look through both wrappers with errors.Is.
func TestWrappersUnwrap(t *testing.T) {
	cause := errors.New("cause")
	if err := Hint(Exit(ExitFindings, cause), "look"); !errors.Is(err, cause) || err.Error() != "cause" {
		t.Errorf("error %v does not unwrap to its cause", err)
	}
}
