// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/nearest"
)

// decode reads a scenario as it is written. Its errors are one line, in the words of the file.
func decode(text []byte) (*Scenario, error) {
	read := &Scenario{}
	plain, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(read); err != nil {
		return nil, explain(err)
	}
	return read, nil
}

// explain says what is wrong with a field, without the words of Go.
func explain(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		value := strings.NewReplacer("array", "list", "object", "map", "string", "text").Replace(wrong.Value)
		if wrong.Field == "" {
			return fmt.Errorf("a scenario has fields, and this is a %s", value)
		}
		return fmt.Errorf("%s: a %s does not belong here", wrong.Field, value)
	}
	quoted, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if name, bad := strconv.Unquote(quoted); unknown && bad == nil {
		return fmt.Errorf("%s: there is no such field%s", name, nearest.Hint(name, Fields()))
	}
	return err
}

// Fields are the names of the fields that a scenario can have, at any depth.
func Fields() []string {
	names := map[string]bool{}
	collect(reflect.TypeFor[Scenario](), names)
	return slices.Sorted(maps.Keys(names))
}

// collect adds the names of a type's fields.
func collect(of reflect.Type, names map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		collect(of.Elem(), names)
	case reflect.Struct:
		for at := range of.NumField() {
			field := of.Field(at)
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				names[name] = true
				collect(field.Type, names)
			}
		}
	default: // a value has no fields
	}
}
