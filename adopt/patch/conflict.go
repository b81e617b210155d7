// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"reflect"
)

// Commute says whether two patches lead to the same configuration in either order. It is careful: where it cannot know,
// the answer is no.
func Commute(a, b []Document) bool {
	for _, one := range a {
		for _, other := range b {
			if ID(one) == ID(other) && !commute(one, other) {
				return false
			}
		}
	}
	return true
}

// commute compares what two patches say below the same point.
func commute(a, b Document) bool {
	if a[Deletion] != nil || b[Deletion] != nil {
		return reflect.DeepEqual(a, b)
	}
	for key, left := range a {
		right, both := b[key]
		if !both {
			continue
		}
		leftFields, leftIs := left.(Document)
		rightFields, rightIs := right.(Document)
		_, leftList := left.([]any)
		_, rightList := right.([]any)
		switch {
		case leftIs && rightIs:
			if !commute(leftFields, rightFields) {
				return false
			}
		case leftList || rightList: // lists are appended, so that their order shows
			return false
		case !reflect.DeepEqual(left, right):
			return false
		}
	}
	return true
}

// Without removes a path from a document, with what holds nothing else then. It says whether the path was there.
func Without(d Document, path []string) bool {
	below, ok := d[path[0]]
	if !ok {
		return false
	}
	if len(path) == 1 {
		delete(d, path[0])
		return true
	}
	fields, ok := below.(Document)
	if !ok || !Without(fields, path[1:]) {
		return false
	}
	if len(fields) == 0 {
		delete(d, path[0])
	}
	return true
}

// Get returns what stands at a path, or nil.
func Get(d Document, path ...string) any {
	var value any = d
	for _, key := range path {
		fields, ok := value.(Document)
		if !ok {
			return nil
		}
		value = fields[key]
	}
	return value
}

// Set puts a value at a path, in place of what stands there.
func Set(d Document, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		below, ok := d[key].(Document)
		if !ok {
			below = Document{}
			d[key] = below
		}
		d = below
	}
	d[path[len(path)-1]] = value
}

// IsEmpty says whether nothing remains of a patch but its identity.
func IsEmpty(d Document) bool {
	for key := range d {
		if key != "apiVersion" && key != "kind" && key != "name" && key != "version" {
			return false
		}
	}
	return true
}
