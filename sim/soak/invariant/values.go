// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secretKeys are what fields are called that hold something secret, in small letters: in Talos's secrets and configurations, in
// kubeconfigs and in Secrets.
var secretKeys = map[string]bool{
	"token": true, "secret": true, "key": true, "bootstraptoken": true, "bootstrap-token": true, "authkey": true, "password": true,
	"client-key-data": true, "aescbcencryptionsecret": true, "secretboxencryptionsecret": true, "token-secret": true, "ca.key": true, "tls.key": true,
}

// Learn adds what a field of a Secret holds that nobody may write down: what stands under a name that says so, in it or in what it
// holds as YAML.
func (k Known) Learn(name, key string, value []byte) {
	if secretKeys[strings.ToLower(key)] {
		k.learn(name, string(value))
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(value))
	for {
		var document any
		if decoder.Decode(&document) != nil {
			return // it ends, or is no YAML, which has no fields
		}
		k.walk(name+" "+key, document)
	}
}

// walk looks into a document.
func (k Known) walk(name string, document any) {
	switch value := document.(type) {
	case map[string]any:
		for key, inner := range value {
			if text, ok := inner.(string); ok && secretKeys[strings.ToLower(key)] {
				k.learn(name+" "+key, text)
				continue
			}
			k.walk(name, inner)
		}
	case []any:
		for _, inner := range value {
			k.walk(name, inner)
		}
	}
}

// learn adds a value in the forms in which it could be written: as it is, without the part of a token that is its name, in base64,
// and the lines of a key.
func (k Known) learn(name, value string) {
	if value == "" || strings.HasPrefix(value, "bootstrap-token-") {
		return
	}
	if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && bytes.Contains(decoded, []byte(keyWords)) {
		k.learn(name, string(decoded))
	}
	if strings.Contains(value, keyWords) {
		for at, line := range strings.Split(strings.TrimSpace(value), "\n") {
			if !strings.Contains(line, "-----") {
				k[fmt.Sprintf("%s, line %d", name, at)] = line
			}
		}
		return
	}
	k[name] = value
	k[name+" in base64"] = base64.StdEncoding.EncodeToString([]byte(value))
	if _, secret, ok := strings.Cut(value, "."); ok && !strings.Contains(secret, ".") {
		k[name+" without its name"] = secret
	}
}
