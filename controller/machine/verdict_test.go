// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
)

func TestJudge(t *testing.T) {
	says := func(reason string) machines.Instance { return machines.Instance{Reason: reason, Message: "words"} }
	tests := map[string]struct {
		err   error
		want  machines.Instance
		after time.Duration
	}{
		"the name is another's": {backend.Fail(backend.Taken, "words"), machines.Instance{Lost: "words"}, again},
		"no room":               {backend.Fail(backend.NoRoom, "words"), says(api.ReasonNoCapacity), 15 * time.Second},
		"not allowed":           {backend.Fail(backend.Denied, "words"), says(api.ReasonDenied), 30 * time.Second},
		"never":                 {backend.Fail(backend.Invalid, "words"), says(api.ReasonInvalid), time.Minute},
		"too fast, and the place says when": {
			&backend.Error{Reason: backend.TooFast, Message: "words", After: 7 * time.Second}, says(api.ReasonProgressing), 7 * time.Second,
		},
		"not now":                 {backend.Fail(backend.Unavailable, "words"), says(api.ReasonProgressing), again},
		"nobody knows":            {backend.Fail(backend.Unsure, "words"), says(api.ReasonProgressing), time.Second},
		"an error without a word": {errors.New("words"), says(api.ReasonProgressing), time.Second},
		"refused here":            {refuse(api.ReasonNotFound, "words"), says(api.ReasonNotFound), again},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, after := judge(test.err)
			if diff := cmp.Diff(test.want, got); diff != "" || after != test.after {
				t.Errorf("again after %s, want %s; %s", after, test.after, diff)
			}
		})
	}
}
