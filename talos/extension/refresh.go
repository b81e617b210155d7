// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Targets reads which extensions a release has from the Makefile of the repository of extensions: the words of its TARGETS
// and NONFREE_TARGETS. The repository names nowhere else what it publishes.
func Targets(makefile []byte) []string {
	var names []string
	continued := false
	for line := range strings.Lines(string(makefile)) {
		line = strings.TrimSpace(line)
		words, isList := line, continued
		if name, list, found := strings.Cut(line, "="); found && !continued {
			name = strings.TrimSpace(strings.TrimRight(name, ":?+ "))
			words, isList = list, name == "TARGETS" || name == "NONFREE_TARGETS"
		}
		continued = isList && strings.HasSuffix(line, `\`)
		if isList {
			names = append(names, plainWords(words)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// plainWords are the words of a list that are names: not a continuation, not a variable, not a comment.
func plainWords(list string) []string {
	list, _, _ = strings.Cut(list, "#")
	var words []string
	for _, word := range strings.Fields(list) {
		if word != `\` && !strings.ContainsAny(word, "$()") {
			words = append(words, word)
		}
	}
	return words
}

// With returns the catalogue with one more release. What is known of an extension beyond its releases stays; a new one is
// added with its name alone, and what its services wait for has to be read by a person.
func (c *Catalogue) With(tag string, names []string) (*Catalogue, error) {
	release, err := semver.ParseTolerant(tag)
	if err != nil {
		return nil, fmt.Errorf("release %q: %w", tag, err)
	}
	newest := c.releases[len(c.releases)-1]
	if release.LTE(newest) {
		return nil, fmt.Errorf("release %s is not newer than %s, the newest of the catalogue", tag, c.Tags[len(c.Tags)-1])
	}
	grown := &Catalogue{
		Tags: append(slices.Clone(c.Tags), tag), Extensions: slices.Clone(c.Extensions), releases: append(slices.Clone(c.releases), release),
	}
	for i, e := range grown.Extensions {
		if e.Until == "" && !slices.Contains(names, e.Name) {
			grown.Extensions[i].Until = c.Tags[len(c.Tags)-1]
		}
	}
	for _, name := range names {
		if e, known := c.Find(name); known && e.Until != "" {
			return nil, fmt.Errorf("%s is back in %s after it was gone since %s: the catalogue cannot say that", name, tag, e.Until)
		} else if !known {
			grown.Extensions = append(grown.Extensions, Extension{Name: name, Since: tag})
		}
	}
	slices.SortFunc(grown.Extensions, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
	return grown, nil
}

// Newer says whether a release is newer than all of the catalogue.
func (c *Catalogue) Newer(tag string) bool {
	release, err := semver.ParseTolerant(tag)
	return err == nil && release.GT(c.releases[len(c.releases)-1])
}

// Text is the catalogue as it is kept: an extension a line, so that a change can be read.
func (c *Catalogue) Text() ([]byte, error) {
	tags, err := json.Marshal(c.Tags)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"tags\": %s,\n  \"extensions\": [\n", tags)
	for i, e := range c.Extensions {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		comma := ","
		if i == len(c.Extensions)-1 {
			comma = ""
		}
		fmt.Fprintf(&out, "    %s%s\n", line, comma)
	}
	out.WriteString("  ]\n}\n")
	return out.Bytes(), nil
}
