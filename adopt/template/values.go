// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
)

// word is a value as text.
func word(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// plain is a list as texts; what is no list is a list of one.
func plain(list any) []string {
	value := reflect.ValueOf(list)
	if value.Kind() != reflect.Slice && value.Kind() != reflect.Array {
		return []string{word(list)}
	}
	var all []string
	for i := range value.Len() {
		all = append(all, word(value.Index(i).Interface()))
	}
	return all
}

func joined(values []any, quote func(string) string) string {
	var all []string
	for _, value := range values {
		if value != nil {
			all = append(all, quote(word(value)))
		}
	}
	return strings.Join(all, " ")
}

// isEmpty is what sprig calls empty: nothing, zero, false, and what holds nothing.
func isEmpty(value any) bool {
	found := reflect.ValueOf(value)
	switch found.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return found.Len() == 0
	case reflect.Struct:
		return false
	}
	return found.IsZero()
}

func coalesce(values ...any) any {
	for _, value := range values {
		if !isEmpty(value) {
			return value
		}
	}
	return nil
}

func required(text string, value any) (any, error) {
	if isEmpty(value) {
		return nil, fmt.Errorf("it says: %s", text)
	}
	return value, nil
}

func cmpOr(value, fallback any) any {
	if value == nil {
		return fallback
	}
	return value
}

// semverCompare says whether a version is in a range such as ">= 1.14.0-0".
func semverCompare(constraint, version string) (bool, error) {
	within, err := semver.ParseRange(strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(constraint, " ", ""), ",", " "), "v"))
	if err != nil {
		return false, fmt.Errorf("the range %q is not supported here", constraint)
	}
	release, err := semver.ParseTolerant(version)
	if err != nil {
		return false, fmt.Errorf("%q is no version", version)
	}
	return within(release), nil
}

// number is a value as a whole number.
func number(value any) (int, error) {
	found := reflect.ValueOf(value)
	switch {
	case found.CanInt():
		return int(found.Int()), nil
	case found.CanUint():
		return int(found.Uint()), nil
	case found.CanFloat():
		return int(found.Float()), nil
	}
	n, err := strconv.Atoi(word(value))
	if err != nil {
		return 0, fmt.Errorf("%q is no number", word(value))
	}
	return n, nil
}

func folded(values []any, with func(a, b int) int) (int, error) {
	result := 0
	for i, value := range values {
		n, err := number(value)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			result = n
			continue
		}
		result = with(result, n)
	}
	return result, nil
}

func until(n int) ([]int, error) {
	if n < 0 || n > longest {
		return nil, fmt.Errorf("until %d is out of bounds", n)
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list, nil
}

func dict(pairs ...any) map[string]any {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		var value any = ""
		if i+1 < len(pairs) {
			value = pairs[i+1]
		}
		fields[word(pairs[i])] = value
	}
	return fields
}

// item is one item of a list; nothing of an empty one.
func item(list any, at func(n int) int) (any, error) {
	value := reflect.ValueOf(list)
	if value.Kind() != reflect.Slice && value.Kind() != reflect.Array {
		return nil, fmt.Errorf("%T is no list", list)
	}
	if value.Len() == 0 {
		return nil, nil
	}
	return value.Index(at(value.Len())).Interface(), nil
}
