// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"reflect"
)

// Diff returns the strategic patches that lead from one configuration to another, to be applied in order. It tries them:
// what cannot be said by strategic patches is an error.
func Diff(before, after *Config) ([]Document, error) {
	// Talos appends most lists and overwrites a few, so that more items are said by the new ones alone, and others as a whole.
	// Where that does not lead there, lists are removed first: those that are not longer than before, or all of them. And where that does not
	// either, because Talos forgets an expression that a patch does not repeat, documents are said as a whole.
	for _, how := range []manner{overwritten, appended, replaced, restated, renewed} {
		patches := diff(before.documents, after.documents, how)
		merged, err := before.Merge(patches...)
		if err == nil && merged.Equal(after) {
			return patches, nil
		}
	}
	return nil, fmt.Errorf("cannot be said as a strategic patch of %s", changedIDs(before, after))
}

// changedIDs names the first document that differs.
func changedIDs(before, after *Config) string {
	was, is := byID(before.documents), byID(after.documents)
	for _, document := range append(before.Documents(), after.Documents()...) {
		if id := ID(document); !reflect.DeepEqual(was[id], is[id]) {
			return id
		}
	}
	return "nothing"
}

// A manner is how a change is said.
type manner int

const (
	overwritten manner = iota
	appended
	replaced
	restated
	renewed
)

// diff returns the patches document by document.
func diff(before, after []Document, how manner) []Document {
	was, is := byID(before), byID(after)
	var patches []Document
	for _, document := range before {
		if _, kept := is[ID(document)]; !kept {
			patches = append(patches, identified(document, deleted()))
		}
	}
	for _, document := range after {
		old, existed := was[ID(document)]
		if !existed {
			patches = append(patches, Clone(document))
			continue
		}
		if _, isNew := document["kind"]; isNew && how >= restated {
			patches = append(patches, whole(old, document, how)...)
			continue
		}
		first, then := change(old, document, how)
		for _, fields := range []Document{first, then} {
			if len(fields) > 0 {
				patches = append(patches, identified(document, fields))
			}
		}
	}
	return patches
}

// whole says a document that changed anew, over the old one or in its place.
func whole(before, after Document, how manner) []Document {
	switch {
	case reflect.DeepEqual(before, after):
		return nil
	case how == restated:
		return []Document{Clone(after)}
	}
	return []Document{identified(after, deleted()), Clone(after)}
}

// identified gives a patch the identity of its document.
func identified(document, fields Document) Document {
	for _, key := range []string{"apiVersion", "kind", "name"} {
		if value, ok := document[key]; ok {
			fields[key] = value
		}
	}
	return fields
}

// change returns what is to be removed before and what is to be set then. What is only removed goes with the second, so
// that most changes are one patch.
func change(before, after Document, how manner) (first, then Document) {
	first, then = Document{}, Document{}
	for key := range before {
		if _, kept := after[key]; !kept {
			then[key] = deleted()
		}
	}
	for key, new := range after {
		old, existed := before[key]
		if existed && reflect.DeepEqual(old, new) {
			continue
		}
		oldFields, wasFields := old.(Document)
		newFields, isFields := new.(Document)
		switch {
		case wasFields && isFields:
			firstBelow, thenBelow := change(oldFields, newFields, how)
			put(first, key, firstBelow)
			put(then, key, thenBelow)
		case wasFields:
			first[key], then[key] = deleted(), clone(new)
		default:
			value, gone := changeList(old, new, how)
			if then[key] = value; gone {
				first[key] = deleted()
			}
		}
	}
	return first, then
}

// changeList is what is to be set for a value that may be a list, and whether the old list has to go first.
func changeList(old, new any, how manner) (value any, gone bool) {
	oldList, wasList := old.([]any)
	newList, isList := new.([]any)
	switch {
	case !wasList:
		return clone(new), false
	case isList && how <= appended && isPrefix(oldList, newList):
		return clone(newList[len(oldList):]), false
	}
	return clone(new), !isList || how != overwritten
}

// put sets fields that there are.
func put(fields Document, key string, below Document) {
	if len(below) > 0 {
		fields[key] = below
	}
}

// isPrefix says whether a list begins with another.
func isPrefix(short, long []any) bool {
	return len(short) < len(long) && reflect.DeepEqual(short, long[:len(short)])
}
