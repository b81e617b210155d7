// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// keySize is the size of a data key: AES-256.
const keySize = 32

// wrap encrypts a data key for a recipient. The randomness is age's own: it takes none from outside.
func wrap(key []byte, recipient string) (string, error) {
	to, err := parseRecipient(recipient)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	armored := armor.NewWriter(&text)
	writer, err := age.Encrypt(armored, to)
	if err != nil {
		return "", fmt.Errorf("encrypt for %s: %w", recipient, err)
	}
	_, err = writer.Write(key)
	if err := errors.Join(err, writer.Close(), armored.Close()); err != nil {
		return "", fmt.Errorf("encrypt for %s: %w", recipient, err)
	}
	return text.String(), nil
}

// parseRecipient reads a recipient. What is no recipient is not repeated: it may be a secret key by mistake.
func parseRecipient(text string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(text, "AGE-SECRET-KEY-"):
		return nil, errors.New("a secret key is no recipient: give the public one, which starts with age1")
	case strings.HasPrefix(text, "ssh-"):
		return nil, &UnsupportedError{What: "the SSH recipient " + text}
	}
	found, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil || len(found) != 1 {
		return nil, errors.New("an age recipient must start with age1 and be whole")
	}
	return found[0], nil
}

// CheckRecipient says what is wrong with an age recipient, or nothing.
func CheckRecipient(text string) error {
	_, err := parseRecipient(text)
	return err
}

// dataKey decrypts the data key of a file. That no identity fits is a NoKeyError, and differs from an entry that is broken.
func (m *metadata) dataKey(identities []age.Identity) ([]byte, error) {
	if err := m.supported(); err != nil {
		return nil, err
	}
	var broken error
	for _, entry := range m.Age {
		if len(identities) == 0 {
			break
		}
		key, err := unwrap(entry.Enc, identities)
		if err == nil {
			return key, nil
		}
		if _, another := errors.AsType[*age.NoIdentityMatchError](err); !another && broken == nil {
			broken = &TamperedError{Reason: fmt.Sprintf("the data key for %s is broken: %v", entry.Recipient, err)}
		}
	}
	if broken != nil {
		return nil, broken
	}
	return nil, &NoKeyError{Recipients: m.recipients(), Others: m.others()}
}

// unwrap decrypts one entry.
func unwrap(armored string, identities []age.Identity) ([]byte, error) {
	reader, err := age.Decrypt(armor.NewReader(strings.NewReader(armored)), identities...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, 2*keySize)) // one that is too long is noticed, and not read to its end
}
