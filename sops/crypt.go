// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"crypto/sha512"
	"fmt"
	"hash"
	"strings"

	"go.yaml.in/yaml/v3"
)

// macOnlyEncryptedStart is what the checksum starts with if it is over encrypted values alone: the SHA-256 of the word
// "sops". So neither kind of checksum can pass for the other.
const macOnlyEncryptedStart = "\x8a\x3f\xd2\xad\x54\xce\x66\x52\x7b\x10\x34\xf3\xd1\x47\xbe\x0b" +
	"\x0b\x97\x5b\x3b\xf4\x4f\x72\xc6\xfd\xad\xec\x81\x76\xf2\x7d\x69"

// A pass goes once over all documents and encrypts or decrypts what the rule covers.
type pass struct {
	*sealer
	rule *matcher
	sum  hash.Hash
}

func newPass(sealer *sealer, rule *matcher) *pass {
	p := &pass{sealer: sealer, rule: rule, sum: sha512.New()}
	if rule.macOnlyEncrypted {
		p.add(macOnlyEncryptedStart)
	}
	return p
}

// add adds a value to the checksum.
func (p *pass) add(text string) { _, _ = p.sum.Write([]byte(text)) } // a hash never fails

// checksum is that of all values that were added.
func (p *pass) checksum() string { return fmt.Sprintf("%X", p.sum.Sum(nil)) }

// bound is what a value is bound to: the keys that lead to it.
func bound(path []string) string { return strings.Join(path, ":") + ":" }

// encrypt encrypts documents in place and returns the checksum.
func (p *pass) encrypt(documents []*yaml.Node) (string, error) {
	w := &walker{scalar: p.encryptScalar, comment: p.encryptComment}
	if err := w.documents(documents); err != nil {
		return "", err
	}
	return p.checksum(), nil
}

func (p *pass) encryptScalar(path []string, node *yaml.Node) error {
	value, err := plainOf(node)
	if err != nil {
		return err
	}
	covered := p.rule.covers(path)
	if covered || !p.rule.macOnlyEncrypted {
		p.add(value.text)
	}
	if !covered {
		return nil
	}
	sealed := ""
	if value.text != "" {
		if sealed, err = p.seal(value, bound(path)); err != nil {
			return err
		}
	}
	setText(node, sealed)
	return nil
}

// encryptComment encrypts a line of a comment. SOPS makes an empty value of one that is empty, between the elements of a
// list, so that it gets a blank.
func (p *pass) encryptComment(path []string, line string) (string, error) {
	if !p.rule.covers(path) {
		return line, nil
	}
	if line == "" {
		line = " "
	}
	return p.seal(plain{kindComment, line}, bound(path))
}

// decrypt decrypts documents in place and returns the checksum.
func (p *pass) decrypt(documents []*yaml.Node) (string, error) {
	w := &walker{scalar: p.decryptScalar, item: p.decryptItem, comment: p.decryptComment}
	if err := w.documents(documents); err != nil {
		return "", err
	}
	return p.checksum(), nil
}

func (p *pass) decryptScalar(path []string, node *yaml.Node) error {
	_, isComment, err := p.decryptItem(path, node)
	if err == nil && isComment {
		return tampered(path, "is a comment where a value belongs")
	}
	return err
}

// decryptItem decrypts a scalar. SOPS writes a comment between the elements of a list as an element.
func (p *pass) decryptItem(path []string, node *yaml.Node) (comment string, isComment bool, err error) {
	if !p.rule.covers(path) {
		return "", false, p.readPlain(node)
	}
	if node.ShortTag() != "!!str" {
		return "", false, tampered(path, "is not encrypted, and should be")
	}
	if node.Value == "" {
		return "", false, nil
	}
	opened, err := p.open(node.Value, bound(path))
	if err != nil {
		return "", false, tampered(path, "%v", err)
	}
	if opened.kind == kindComment {
		return opened.text, true, nil
	}
	text, err := opened.set(node)
	if err != nil {
		return "", false, tampered(path, "%v", err)
	}
	p.add(text)
	return "", false, nil
}

// readPlain adds a value that is not encrypted to the checksum.
func (p *pass) readPlain(node *yaml.Node) error {
	if p.rule.macOnlyEncrypted {
		return nil
	}
	value, err := plainOf(node)
	p.add(value.text)
	return err
}

// decryptComment decrypts a line of a comment. One that cannot be decrypted stays as it is, as in SOPS: it may be one that
// somebody added, and no value depends on it. A comment below a list may have been read as one of something deeper in it,
// so the keys above are tried too.
func (p *pass) decryptComment(path []string, line string) (string, error) {
	if !strings.HasPrefix(line, prefix) {
		return line, nil
	}
	for i := len(path); i >= 0; i-- {
		if opened, err := p.open(line, bound(path[:i])); err == nil && opened.kind == kindComment {
			return opened.text, nil
		}
	}
	return line, nil
}
