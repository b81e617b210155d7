// SPDX-License-Identifier: Apache-2.0

package token

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/trust/policy"
)

const (
	// MinLength is the fewest characters of a token in a file. Talos makes 23; with 16 letters and digits, a guess a
	// microsecond finds one in some hundred thousand million years.
	MinLength = 16
	// maxLength is more than a header needs to carry.
	maxLength = 1024
	// MaxFile is the most bytes of a token's file.
	MaxFile = 64 << 10
)

// Parse reads a file: the bare token, or a YAML document that says more. The rules given hold where it says nothing.
// Errors never quote a value, since a token in the wrong place is a token still.
func Parse(file string, content []byte, rules policy.Rules) (Token, error) {
	token := Token{File: file, Pool: poolOf(file), Rules: rules}
	text := strings.TrimSpace(string(content))
	secret := text
	if strings.ContainsAny(text, " \t\r\n{") {
		fields, err := mapping(content)
		if err != nil {
			return Token{}, fmt.Errorf("%s: %w", file, err)
		}
		if secret, err = token.fill(fields); err != nil {
			return Token{}, fmt.Errorf("%s: %w", file, err)
		}
	} else if strings.ContainsRune(text, ':') {
		return Token{}, fmt.Errorf("%s: a bare token has no colon: write the document 'token: \"…\"'", file)
	}
	if err := validSecret(secret, MinLength); err != nil {
		return Token{}, fmt.Errorf("%s: %w", file, err)
	}
	if !poolName.MatchString(token.Pool) {
		return Token{}, fmt.Errorf("%s: its pool is no name: use letters, digits, dots, hyphens and underscores", file)
	}
	token.hash = sha256.Sum256([]byte(secret))
	return token, nil
}

// Bare is a token that was given by other means than a file. Its length is the giver's business: weak says that it is
// shorter than a file's may be.
func Bare(pool, secret string, rules policy.Rules) (token Token, weak bool, err error) {
	if err := validSecret(secret, 1); err != nil {
		return Token{}, false, err
	}
	return Token{File: pool, Pool: pool, Rules: rules, hash: sha256.Sum256([]byte(secret))}, len(secret) < MinLength, nil
}

// validSecret holds a token to what a header can carry unchanged.
func validSecret(secret string, least int) error {
	switch {
	case secret == "":
		return errors.New("token is missing")
	case len(secret) < least:
		return fmt.Errorf("token has %d characters: use at least %d, such as those that 'talosctl gen secrets' makes", len(secret), least)
	case len(secret) > maxLength:
		return fmt.Errorf("token has %d characters: use at most %d", len(secret), maxLength)
	case strings.ContainsFunc(secret, func(c rune) bool { return c <= ' ' || c > '~' }):
		return errors.New("token has blanks or characters that are not ASCII: no machine could send it")
	}
	return nil
}

// poolName is what can stand in a label of a metric and in a line of a log without a second thought.
var poolName = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]{0,251}[A-Za-z0-9])?$`)

// poolOf is the pool of a file that does not name one.
func poolOf(file string) string {
	for _, ending := range []string{".yaml", ".yml", ".json"} {
		if name, ok := strings.CutSuffix(file, ending); ok {
			return name
		}
	}
	return file
}

// fields are what a document may say.
var fields = []string{"token", "pool", "notBefore", "expires", "networks", "names", "requireSource"}

// word is a field's name that is plainly not a token, and can be repeated in an error.
var word = regexp.MustCompile(`^[A-Za-z]{1,32}$`)

// line finds the only part of a YAML error that is safe to repeat: the rest may quote the file.
var line = regexp.MustCompile(`line \d+`)

// mapping reads one document into its fields.
func mapping(content []byte) (map[string]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("is neither a bare token nor YAML (%s)", line.FindString(err.Error()+" line 1"))
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one document: write one file for each token")
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("is neither a bare token nor a YAML document with the field token")
	}
	found := map[string]*yaml.Node{}
	for pair := range slices.Chunk(root.Content, 2) {
		name, value := pair[0], pair[1]
		switch {
		case !slices.Contains(fields, name.Value) && word.MatchString(name.Value):
			return nil, fmt.Errorf("line %d: there is no field %q: use %s", name.Line, name.Value, strings.Join(fields, ", "))
		case !slices.Contains(fields, name.Value):
			return nil, fmt.Errorf("line %d: there is no such field: use %s", name.Line, strings.Join(fields, ", "))
		case found[name.Value] != nil:
			return nil, fmt.Errorf("line %d: field %s is there twice", name.Line, name.Value)
		}
		found[name.Value] = value
	}
	return found, nil
}

// fill takes over what the document says, and returns the token itself.
func (t *Token) fill(fields map[string]*yaml.Node) (secret string, err error) {
	read := reader{fields: fields}
	secret = read.text("token")
	if fields["pool"] != nil {
		t.Pool = read.text("pool")
	}
	t.NotBefore, t.Expires = read.time("notBefore"), read.time("expires")
	if fields["networks"] != nil {
		t.Rules.Networks = list(&read, "networks", "networks such as 10.0.0.0/8 or fd00::/8", policy.ParseNetwork)
	}
	if fields["names"] != nil {
		t.Rules.Names = list(&read, "names", "patterns such as worker-* or *.example.com", policy.ParsePattern)
	}
	if fields["requireSource"] != nil {
		t.Rules.RequireSource = read.bool("requireSource")
	}
	if read.err == nil && !t.Expires.IsZero() && !t.Expires.After(t.NotBefore) {
		read.fail("expires", "is not after notBefore")
	}
	return secret, read.err
}

// A reader reads fields and remembers the first thing that was wrong.
type reader struct {
	fields map[string]*yaml.Node
	err    error
}

func (r *reader) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("line %d: %s "+format, append([]any{r.fields[field].Line, field}, args...)...)
	}
}

// text reads a scalar as it is written: a token that looks like a number is still that token.
func (r *reader) text(field string) string {
	node := r.fields[field]
	if node == nil {
		return ""
	}
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		r.fail(field, "is not a text")
		return ""
	}
	return node.Value
}

func (r *reader) time(field string) time.Time {
	if r.fields[field] == nil {
		return time.Time{}
	}
	moment, err := time.Parse(time.RFC3339, r.text(field))
	if err != nil {
		r.fail(field, "is no time: write it as 2027-01-31T12:00:00Z")
	}
	return moment
}

func (r *reader) bool(field string) bool {
	switch r.text(field) {
	case "true":
		return true
	case "false":
	default:
		r.fail(field, "is neither true nor false")
	}
	return false
}

// list reads a list that says something: an empty one could be meant as all or as nothing.
func list[T any](r *reader, field, want string, parse func(string) (T, error)) []T {
	node := r.fields[field]
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		r.fail(field, "is no list with entries: leave the field out to allow all")
		return nil
	}
	var found []T
	for _, entry := range node.Content {
		one, err := parse(entry.Value)
		if entry.Kind != yaml.ScalarNode || err != nil {
			r.fail(field, "has an entry on line %d that is not one: write %s", entry.Line, want)
			return nil
		}
		found = append(found, one)
	}
	return found
}
