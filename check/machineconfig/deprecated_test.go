// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"reflect"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"

	"minos.dev/minos/talos/config"
)

// TestReplacedFieldsExist holds the table of old fields to Talos's own types, and what replaces them to the kinds that there are.
func TestReplacedFieldsExist(t *testing.T) {
	for _, one := range replaced {
		at := reflect.TypeFor[v1alpha1.Config]()
		for step := range strings.SplitSeq(one.field, ".") {
			if at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			next := member(reflect.New(at).Elem(), step)
			if !next.IsValid() {
				t.Errorf("there is no field %s", one.field)
				break
			}
			at = next.Type()
		}
		for word := range strings.FieldsSeq(strings.ReplaceAll(one.by, ",", "")) {
			if _, ok := config.Introduced(word); !ok && strings.HasSuffix(word, "Config") {
				t.Errorf("%s: there is no document %s", one.field, word)
			}
		}
	}
}
