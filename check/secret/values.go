// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// isBootstrapToken says whether a value has the form of the tokens by which machines and nodes join.
func isBootstrapToken(value []byte) bool {
	if len(value) != 23 || value[6] != '.' {
		return false
	}
	for at, char := range value {
		if at != 6 && !(char >= 'a' && char <= 'z' || char >= '0' && char <= '9') {
			return false
		}
	}
	return true
}

// isKey32 says whether a value is 32 bytes behind base64.
func isKey32(value []byte) bool {
	decoded, err := base64.StdEncoding.DecodeString(string(value))
	return err == nil && len(decoded) == 32
}

// isRegistryAuth says whether a value is a name and a password behind base64, with a colon between.
func isRegistryAuth(value []byte) bool {
	decoded, err := base64.StdEncoding.DecodeString(string(value))
	return err == nil && isText(decoded) && bytes.IndexByte(decoded, ':') > 0
}

// passwords are names that end so have passwords, which people choose.
var passwords = []string{"password", "passwd", "passphrase"}

// keys are names that end so have keys and tokens, which machines make.
var keys = []string{
	"token", "authkey", "apikey", "secretkey", "secretaccesskey", "clientsecret", "appsecret", "sharedsecret", "privatekey", "presharedkey", "encryptionkey", "masterkey", "accountkey",
	"storagekey", "signingkey", "joinkey", "tokensecret", "webhooksecret", "secret",
}

// namedKind knows a secret by the name of its field and by how its value looks.
func namedKind(name string, value []byte) string {
	for _, end := range passwords {
		if strings.HasSuffix(name, end) && len(value) >= 8 && !bytes.ContainsAny(value, "/\\") {
			return "a password"
		}
	}
	for _, end := range keys {
		if strings.HasSuffix(name, end) && isRandom(value) && !hasForm(value) {
			return "a key or a token"
		}
	}
	return ""
}

// hasForm says whether a value gives itself away by its form, which says more than its name.
func hasForm(value []byte) bool {
	return slices.ContainsFunc(known, func(form form) bool {
		return form.kind != "" && bytes.HasPrefix(value, form.begins) && len(value)-len(form.begins) >= form.least
	})
}

// isRandom says whether a value looks as if a machine had made it: long, of one piece, of letters and digits, and not words with
// lines between them, as names have.
func isRandom(value []byte) bool {
	if len(value) < 16 || len(token(value)) != len(value) || isPath(value) {
		return false
	}
	digits, capitals, small := letters(value)
	switch {
	case digits < 2 || capitals+small < 2:
		return false
	case isUUID(value), capitals > 0 && small > 0 && longestWord(value) <= 10 && !isImage(value):
		return true
	}
	return !bytes.ContainsAny(value, "-./_@") && digits >= 3
}

// isPath says whether a value leads somewhere rather than being something.
func isPath(value []byte) bool {
	return value[0] == '/' || value[0] == '.' || bytes.Contains(value, []byte("://"))
}

// letters counts the digits, the capitals and the small letters of a value.
func letters(value []byte) (digits, capitals, small int) {
	for _, char := range value {
		switch {
		case char >= '0' && char <= '9':
			digits++
		case char >= 'A' && char <= 'Z':
			capitals++
		case char >= 'a' && char <= 'z':
			small++
		}
	}
	return digits, capitals, small
}

// isImage says whether a value is the name of a file or an image rather than a key.
func isImage(value []byte) bool {
	return bytes.Count(value, []byte("/")) > 0 && bytes.Contains(value, []byte("."))
}

// isUUID says whether a value has the form of a UUID, as tokens of Proxmox have.
func isUUID(value []byte) bool {
	return len(value) == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-' && bytes.Count(value, []byte("-")) == 4
}

// longestWord is the longest run of small letters.
func longestWord(value []byte) int {
	longest, run := 0, 0
	for _, char := range value {
		if run++; char < 'a' || char > 'z' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
