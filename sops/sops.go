// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"filippo.io/age"
	"go.yaml.in/yaml/v3"
)

// Encrypted says whether a text has SOPS metadata, whatever its file is called. It looks at the first document alone, as SOPS
// does, and at no more than it must: a text that cannot be decrypted here may be encrypted all the same.
func Encrypted(text []byte) bool {
	if !bytes.Contains(text, []byte(metadataKey)) { // most files, without reading them as YAML
		return false
	}
	var document yaml.Node
	if yaml.NewDecoder(bytes.NewReader(text)).Decode(&document) != nil || len(document.Content) == 0 {
		return false
	}
	block := field(document.Content[0], metadataKey)
	return field(block, "mac") != nil || field(block, "lastmodified") != nil
}

// Recipients returns the age recipients that a text is encrypted for.
func Recipients(text []byte) ([]string, error) {
	documents, err := parse(text)
	if err != nil {
		return nil, err
	}
	found, _, err := takeMetadata(documents)
	if err != nil {
		return nil, err
	}
	return found.recipients(), found.supported()
}

// Decrypt returns what was encrypted, in its order and with its comments. Nothing is returned that was changed since.
func Decrypt(text []byte, identities ...age.Identity) ([]byte, error) {
	file, err := Open(text, identities...)
	if err != nil {
		return nil, err
	}
	return file.Plain(), nil
}

// Encrypt encrypts a text by a rule. Entropy makes the data key and nonces; the entries for recipients are made by age
// with randomness of its own. What is returned has been read back and compared.
func Encrypt(text []byte, rule Rule, entropy io.Reader, now time.Time) ([]byte, error) {
	documents, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := encryptable(documents, text); err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	if _, err := io.ReadFull(entropy, key); err != nil {
		return nil, fmt.Errorf("read entropy: %w", err)
	}
	started, err := rule.metadata(key)
	if err != nil {
		return nil, err
	}
	block, err := started.node()
	if err != nil {
		return nil, err
	}
	file := &File{block: block, indent: rule.Indent}
	if file.indent == 0 {
		file.indent = defaultIndent
	}
	if file.rule, err = rule.matcher(); err != nil {
		return nil, err
	}
	if file.sealer, err = newSealer(key, nil); err != nil {
		return nil, err
	}
	return file.encrypt(documents, entropy, now)
}

// encryptable says why documents cannot be encrypted.
func encryptable(documents []*yaml.Node, text []byte) error {
	if len(documents) == 0 {
		return errors.New("there is nothing in it to encrypt")
	}
	for _, document := range documents {
		for i := 0; i < len(document.Content[0].Content); i += 2 {
			key := document.Content[0].Content[i]
			switch {
			case key.Value != metadataKey:
			case Encrypted(text):
				return ErrEncrypted
			default:
				return fmt.Errorf("line %d: the key %q is where SOPS has its metadata: rename it", key.Line, metadataKey)
			}
		}
	}
	return nil
}

// A File is a file that was decrypted, and can be encrypted again with another content.
type File struct {
	old    []byte
	plain  []byte
	block  *yaml.Node // the metadata
	rule   *matcher
	sealer *sealer
	indent int
}

// Open decrypts a text and keeps what is needed to encrypt it again.
func Open(text []byte, identities ...age.Identity) (*File, error) {
	documents, err := parse(text)
	if err != nil {
		return nil, err
	}
	found, block, err := takeMetadata(documents)
	if err != nil {
		return nil, err
	}
	key, err := found.dataKey(identities)
	if err != nil {
		return nil, err
	}
	file := &File{old: text, block: block, indent: indentOf(text)}
	if file.rule, err = found.rule(); err != nil {
		return nil, fmt.Errorf("the SOPS metadata: %w", err)
	}
	if file.sealer, err = newSealer(key, nil); err != nil {
		return nil, err
	}
	if err := file.decrypt(documents, found); err != nil {
		return nil, err
	}
	file.plain, err = writeSame(documents, file.indent)
	return file, err
}

// decrypt decrypts documents in place and holds them to their checksum.
func (f *File) decrypt(documents []*yaml.Node, found *metadata) error {
	modified, err := found.modified()
	if err != nil {
		return err
	}
	computed, err := newPass(f.sealer, f.rule).decrypt(documents)
	if err != nil {
		return err
	}
	stored, err := f.sealer.open(found.MAC, modified)
	if err != nil {
		return &TamperedError{Reason: "its checksum cannot be read"}
	}
	if stored.text != computed {
		return &TamperedError{Reason: "its values do not fit their checksum"}
	}
	return nil
}

// Plain is what was encrypted.
func (f *File) Plain() []byte { return f.plain }

// Replace encrypts another content for the same recipients, by the same rule and with the same data key. Values that did
// not change are written as they were, and if none did the file is returned as it is.
func (f *File) Replace(text []byte, entropy io.Reader, now time.Time) ([]byte, error) {
	documents, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := encryptable(documents, text); err != nil {
		return nil, err
	}
	return f.encrypt(documents, entropy, now)
}

// encrypt encrypts documents, adds the metadata, and reads the result back.
func (f *File) encrypt(documents []*yaml.Node, entropy io.Reader, now time.Time) ([]byte, error) {
	want, err := fingerprint(documents)
	if err != nil {
		return nil, err
	}
	sealer := &sealer{block: f.sealer.block, entropy: entropy, known: maps.Clone(f.sealer.known)}
	sum, err := newPass(sealer, f.rule).encrypt(documents)
	if err != nil {
		return nil, err
	}
	if f.isOld(documents) {
		return f.old, nil
	}
	modified := now.UTC().Format(time.RFC3339)
	mac, err := sealer.seal(plain{kindText, sum}, modified)
	if err != nil {
		return nil, err
	}
	setField(f.block, "lastmodified", modified)
	setField(f.block, "mac", mac)
	setField(f.block, "version", formatVersion)
	attach(documents, f.block)
	text, err := write(documents, f.indent)
	if err != nil {
		return nil, err
	}
	if err := f.readsBack(text, want); err != nil {
		return nil, err
	}
	return text, nil
}

// isOld says whether encrypted documents are those that the file had.
func (f *File) isOld(documents []*yaml.Node) bool {
	if f.old == nil {
		return false
	}
	old, err := parse(f.old)
	if err != nil {
		return false
	}
	_, _, err = takeMetadata(old)
	if err != nil {
		return false
	}
	before, err := write(old, f.indent)
	after, err2 := write(documents, f.indent)
	return err == nil && err2 == nil && bytes.Equal(before, after)
}

// readsBack says whether a file that is about to be written can be read, and holds what it should.
func (f *File) readsBack(text []byte, want string) error {
	documents, err := parse(text)
	if err != nil {
		return fmt.Errorf("what was encrypted cannot be read back: %w", err)
	}
	found, _, err := takeMetadata(documents)
	if err != nil {
		return fmt.Errorf("what was encrypted cannot be read back: %w", err)
	}
	again := &File{rule: f.rule, sealer: &sealer{block: f.sealer.block, known: map[string][]string{}}}
	if err := again.decrypt(documents, found); err != nil {
		return fmt.Errorf("what was encrypted cannot be read back: %w", err)
	}
	got, err := fingerprint(documents)
	if err != nil || got != want {
		return errors.New("what was encrypted would come back as something else: write its YAML in a simpler way")
	}
	return nil
}
