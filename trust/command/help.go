// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
)

// width is how wide the help is.
const width = 80

const head = `minos-signer signs the certificates of Talos workers, in the place of trustd,
for control planes that do not run on Talos.

Usage:
  minos-signer [serve] [flags]  sign until SIGTERM; SIGHUP reads all files again
  minos-signer check [flags]    read everything as serve would, and say what is
                                wrong or worth a look; it changes nothing
  minos-signer version

Example:
  minos-signer check --ca-cert ca.crt --ca-key ca.key --tokens tokens \
    --serving-names api.example.com,10.0.0.5
`

const foot = `
A LIST is divided by commas. Every flag is also a variable: --ca-cert is
MINOS_SIGNER_CA_CERT. A flag wins over a variable.

A token's file holds the token alone, or YAML with the fields token, pool,
notBefore, expires, networks, names and requireSource.

With TALOS_TOKEN set it takes the place of talos-csr-signer and reads that one's
PORT, CA_CERT_PATH, CA_KEY_PATH, TLS_CERT_PATH and TLS_KEY_PATH, or the flags of
those names.
`

// help is all that --help says.
func help() string {
	var text strings.Builder
	text.WriteString(head)
	for _, group := range groups() {
		fmt.Fprintf(&text, "\n%s:\n", group.title)
		for _, option := range group.options {
			usage := option.usage
			if option.shown != "" {
				usage += " [" + option.shown + "]"
			}
			left := strings.TrimSpace("--" + option.name + " " + option.value)
			const column = 26
			if len(left) >= column-2 {
				fmt.Fprintf(&text, "  %s\n", left)
				left = ""
			}
			for i, line := range wrap(usage, width-column-2) {
				if i > 0 {
					left = ""
				}
				fmt.Fprintf(&text, "  %-*s%s\n", column, left, line)
			}
		}
	}
	text.WriteString(foot)
	return text.String()
}

// wrap breaks a text into lines.
func wrap(text string, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
