// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// nonceSize is what SOPS writes, which is more than the usual twelve bytes.
const nonceSize = 32

// The kinds of values, as SOPS names them.
const (
	kindText    = "str"
	kindInt     = "int"
	kindFloat   = "float"
	kindBool    = "bool"
	kindTime    = "time"
	kindBytes   = "bytes"
	kindComment = "comment"
)

// A plain value is a scalar as SOPS sees it: its kind, and the bytes that are encrypted and that the checksum is over.
type plain struct{ kind, text string }

// plainOf reads a scalar.
func plainOf(node *yaml.Node) (plain, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return plain{}, fmt.Errorf("line %d: %w", node.Line, err)
	}
	read, err := plainValue(value)
	if err != nil {
		return plain{}, fmt.Errorf("line %d: %w", node.Line, err)
	}
	return read, nil
}

// plainValue is how SOPS writes a value of Go.
func plainValue(value any) (plain, error) {
	switch value := value.(type) {
	case string:
		return plain{kindText, value}, nil
	case int:
		return plain{kindInt, strconv.Itoa(value)}, nil
	case float64:
		return plain{kindFloat, strconv.FormatFloat(value, 'f', -1, 64)}, nil
	case bool:
		if value {
			return plain{kindBool, "True"}, nil
		}
		return plain{kindBool, "False"}, nil
	case time.Time:
		text, err := value.MarshalText()
		return plain{kindTime, string(text)}, err
	}
	return plain{}, errors.New("a number that is too large for SOPS: quote it")
}

// value reads a plain value back into one of Go.
func (p plain) value() (any, error) {
	switch p.kind {
	case kindText, kindBytes, kindComment:
		return p.text, nil
	case kindInt:
		return strconv.Atoi(p.text)
	case kindFloat:
		return strconv.ParseFloat(p.text, 64)
	case kindBool:
		return strconv.ParseBool(p.text)
	case kindTime:
		var moment time.Time
		err := moment.UnmarshalText([]byte(p.text))
		return moment, err
	}
	return nil, fmt.Errorf("a value of the unknown kind %q", p.kind)
}

// set puts a plain value into a scalar, and leaves its comments. It returns the bytes that the checksum is over, which
// are those of the value and not of how it was written.
func (p plain) set(node *yaml.Node) (string, error) {
	value, err := p.value()
	if err != nil {
		return "", errors.New("is not of the kind " + p.kind) // the error would show the value
	}
	if needsQuotes(value) {
		node.Tag, node.Value, node.Style = "!!str", p.text, yaml.DoubleQuotedStyle
		return p.text, nil
	}
	var written yaml.Node
	if err := written.Encode(value); err != nil {
		return "", err
	}
	node.Tag, node.Value, node.Style = written.Tag, written.Value, written.Style
	if p.kind == kindFloat && node.ShortTag() == "!!int" {
		node.Tag, node.Value = "!!float", node.Value+".0" // or it would be read as a whole number
	}
	canonical, err := plainValue(value)
	return canonical.text, err
}

// needsQuotes says whether a value is a text of several lines that the library would write as a block, and could not read
// again: one that starts with a blank, or has other characters than those of text in it.
func needsQuotes(value any) bool {
	text, ok := value.(string)
	if !ok || !strings.Contains(text, "\n") || !utf8.ValidString(text) {
		return false
	}
	return strings.ContainsAny(text[:1], " \t\n") || strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsGraphic(r)
	})
}

// setText puts a text that needs no quotes into a scalar: a value that is encrypted.
func setText(node *yaml.Node, text string) {
	node.Tag, node.Value, node.Style = "!!str", text, 0
}

// A sealer encrypts and decrypts values with the data key of a file.
type sealer struct {
	block   cipher.Block
	entropy io.Reader           // for nonces
	known   map[string][]string // what was decrypted, to be written again as it was
	written int                 // how many bytes were sealed so far
}

func newSealer(key []byte, entropy io.Reader) (*sealer, error) {
	if len(key) != keySize {
		return nil, &TamperedError{Reason: fmt.Sprintf("the data key has %d bytes instead of %d", len(key), keySize)}
	}
	block, err := aes.NewCipher(key)
	return &sealer{block: block, entropy: entropy, known: map[string][]string{}}, err
}

// identity tells values apart that must not share a nonce.
func (p plain) identity(bound string) string { return bound + "\x00" + p.kind + "\x00" + p.text }

// seal encrypts a value and binds it to a text, or returns what the same value was in this place before: then a file
// differs from its older self only where it changed. Each is used once, so that equal values do not look equal.
func (s *sealer) seal(p plain, bound string) (string, error) {
	if before := s.known[p.identity(bound)]; len(before) > 0 {
		s.known[p.identity(bound)] = before[1:]
		return before[0], nil
	}
	if s.written > maxSize { // a value of one byte becomes more than a hundred
		return "", fmt.Errorf("encrypted it would have more than %d MiB, and nobody could read it", maxSize>>20)
	}
	nonce := make([]byte, nonceSize)
	if _, err := io.ReadFull(s.entropy, nonce); err != nil {
		return "", fmt.Errorf("read entropy: %w", err)
	}
	gcm, err := cipher.NewGCMWithNonceSize(s.block, nonceSize)
	if err != nil {
		return "", err
	}
	sealed := gcm.Seal(nil, nonce, []byte(p.text), []byte(bound))
	data, tag := sealed[:len(sealed)-gcm.Overhead()], sealed[len(sealed)-gcm.Overhead():]
	encode := base64.StdEncoding.EncodeToString
	text := fmt.Sprintf("%s%s,iv:%s,tag:%s,type:%s]", prefix, encode(data), encode(nonce), encode(tag), p.kind)
	s.written += len(text)
	return text, nil
}

// prefix is how every encrypted value starts.
const prefix = "ENC[AES256_GCM,data:"

// open decrypts a value that is bound to a text.
func (s *sealer) open(text, bound string) (plain, error) {
	parts, err := split(text)
	if err != nil {
		return plain{}, err
	}
	gcm, err := cipher.NewGCMWithNonceSize(s.block, len(parts.nonce))
	if err != nil {
		return plain{}, err
	}
	opened, err := gcm.Open(nil, parts.nonce, append(parts.data, parts.tag...), []byte(bound))
	if err != nil {
		return plain{}, errors.New("does not fit its key or its place")
	}
	p := plain{parts.kind, string(opened)}
	s.known[p.identity(bound)] = append(s.known[p.identity(bound)], text)
	return p, nil
}

// parts are what an encrypted value is made of.
type parts struct {
	data, nonce, tag []byte
	kind             string
}

// split takes an encrypted value apart.
func split(text string) (parts, error) {
	var p parts
	rest, ok := strings.CutPrefix(text, prefix)
	rest, closed := strings.CutSuffix(rest, "]")
	fields := strings.Split(rest, ",")
	if !ok || !closed || len(fields) != 4 {
		return p, errors.New("is not encrypted, and should be")
	}
	for i, field := range []struct {
		name string
		into *[]byte
	}{{"", &p.data}, {"iv:", &p.nonce}, {"tag:", &p.tag}} {
		encoded, named := strings.CutPrefix(fields[i], field.name)
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if !named || err != nil || len(decoded) == 0 {
			return p, errors.New("is encrypted in a form that is not known")
		}
		*field.into = decoded
	}
	kind, named := strings.CutPrefix(fields[3], "type:")
	if !named {
		return p, errors.New("is encrypted in a form that is not known")
	}
	p.kind = kind
	return p, nil
}
