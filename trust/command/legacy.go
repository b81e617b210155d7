// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strconv"

	"minos.dev/minos/trust/policy"
)

// legacyFlags are those of talos-csr-signer; each is also a variable, in capitals.
var legacyFlags = []string{"port", "ca-cert-path", "ca-key-path", "tls-cert-path", "tls-key-path", "talos-token"}

// legacy takes the place of talos-csr-signer, with its settings. They count only where a token is given as that one wants
// it: a PORT in the environment is anybody's. Settings of ours still win, and a folder of tokens is read beside.
func (t *task) legacy(flags, variables map[string]string, exists func(string) bool) error {
	setting := func(flag, variable, otherwise string) string {
		for _, text := range []string{flags[flag], variables[variable], otherwise} {
			if text != "" {
				return text
			}
		}
		return ""
	}
	token := setting("talos-token", "TALOS_TOKEN", "")
	if token == "" {
		return orphaned(flags)
	}
	port := setting("port", "PORT", "50001")
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("PORT %q is no port", port)
	}
	// Its authority is called tls.crt in newer versions and ca.crt in older ones.
	authority := "/etc/talos-ca/tls"
	if exists("/etc/talos-ca/ca.crt") && !exists("/etc/talos-ca/tls.crt") {
		authority = "/etc/talos-ca/ca"
	}
	c := &t.config
	c.Listen = ":" + port
	c.Sources.Token = token
	c.Sources.Tokens = ""
	c.Sources.CACert = setting("ca-cert-path", "CA_CERT_PATH", authority+".crt")
	c.Sources.CAKey = setting("ca-key-path", "CA_KEY_PATH", authority+".key")
	c.Sources.TLSCert = setting("tls-cert-path", "TLS_CERT_PATH", "/etc/talos-server-crt/tls.crt")
	c.Sources.TLSKey = setting("tls-key-path", "TLS_KEY_PATH", "/etc/talos-server-crt/tls.key")
	// Its serving certificate may name the workers themselves, as its instructions can be read: to refuse those names
	// would stop a cluster that runs.
	c.OwnNames = policy.Allow
	t.warnings = append(t.warnings,
		"running in the place of talos-csr-signer: its one token may ask for every name, that of the control plane too; "+
			"look for 'own' in the log, then set MINOS_SIGNER_OWN_NAMES=refuse, and move the token to a folder (MINOS_SIGNER_TOKENS)")
	if flags["talos-token"] != "" {
		t.warnings = append(t.warnings, "--talos-token can be read by everybody on this machine: use TALOS_TOKEN, or a folder of tokens")
	}
	return nil
}

// orphaned refuses flags of talos-csr-signer without its token.
func orphaned(flags map[string]string) error {
	for _, name := range legacyFlags {
		if _, ok := flags[name]; ok {
			return fmt.Errorf("--%s is one of talos-csr-signer's and goes with TALOS_TOKEN, which is not set", name)
		}
	}
	return nil
}
