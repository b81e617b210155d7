// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestIsEstablished reads the conditions of a definition, also before there are any.
func TestIsEstablished(t *testing.T) {
	for name, test := range map[string]struct {
		status map[string]any
		want   bool
	}{
		"no status":       {},
		"null":            {status: map[string]any{"conditions": nil}},
		"not yet":         {status: map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "False"}}}},
		"something other": {status: map[string]any{"conditions": []any{map[string]any{"type": "NamesAccepted", "status": "True"}}}},
		"established":     {status: map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}, want: true},
	} {
		definition := &unstructured.Unstructured{Object: map[string]any{}}
		if test.status != nil {
			definition.Object["status"] = test.status
		}
		if got := isEstablished(definition); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
