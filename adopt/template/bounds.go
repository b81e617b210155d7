// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// deepest is how deep values may be nested.
const deepest = 32

var errLarge = fmt.Errorf("a value has more than %d bytes", mostOutput)

// room says whether so many things of a size fit.
func room(n, size int) error {
	if n < 0 || size > 0 && n > mostOutput/size {
		return errLarge
	}
	return nil
}

// bounded is a function whose results are weighed: assigned to variables and joined again, they could double with every
// step.
func bounded(function any) any {
	inner := reflect.ValueOf(function)
	kind := inner.Type()
	in := make([]reflect.Type, kind.NumIn())
	for i := range in {
		in[i] = kind.In(i)
	}
	failure := reflect.TypeFor[error]()
	outer := reflect.FuncOf(in, []reflect.Type{kind.Out(0), failure}, kind.IsVariadic())
	return reflect.MakeFunc(outer, func(arguments []reflect.Value) []reflect.Value {
		call := inner.Call
		if kind.IsVariadic() {
			call = inner.CallSlice
		}
		results := call(arguments)
		if len(results) == 1 {
			results = append(results, reflect.Zero(failure))
		}
		weighed := &scale{left: mostOutput}
		if results[1].IsNil() && !weighed.take(results[0], 0) {
			results[1] = reflect.ValueOf(&errLarge).Elem()
		}
		return results
	}).Interface()
}

// A scale knows how much there may be still: a byte for each of a text, and one for every value.
type scale struct{ left int }

// take puts a value on the scale and says whether it fits.
func (s *scale) take(value reflect.Value, depth int) bool {
	if s.left--; depth > deepest {
		s.left = -1
	}
	switch value.Kind() {
	case reflect.Interface:
		if !value.IsNil() {
			s.take(value.Elem(), depth)
		}
	case reflect.String:
		s.left -= value.Len()
	case reflect.Slice, reflect.Array:
		for i := 0; i < value.Len() && s.left >= 0; i++ {
			s.take(value.Index(i), depth+1)
		}
	case reflect.Map:
		for entries := value.MapRange(); s.left >= 0 && entries.Next(); {
			s.take(entries.Key(), depth+1)
			s.take(entries.Value(), depth+1)
		}
	}
	return s.left >= 0
}

// verb is a verb of a format with all that stands before its letter.
var verb = regexp.MustCompile(`%[^a-zA-Z%]*`)

var wide = regexp.MustCompile(`\*|[0-9]{4}`)

// printf is Go's, but for widths that are made to fill memory.
func printf(format string, arguments ...any) (string, error) {
	for _, found := range verb.FindAllString(format, -1) {
		if wide.MatchString(found) {
			return "", errors.New("printf: the width " + strings.TrimPrefix(found, "%") + " is not supported here")
		}
	}
	const longestFormat = 4096
	if len(format) > longestFormat {
		return "", errLarge
	}
	return fmt.Sprintf(format, arguments...), nil
}
