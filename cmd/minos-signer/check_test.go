// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/trust/trusttest"
)

// changing is what differs from run to run.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d|[0-9a-f]{64}`)

// checked runs check in a folder and returns what it says on both streams, and its exit code.
func checked(t *testing.T, path string, environ []string, args ...string) (out, words string, code int) {
	t.Helper()
	cmd := exec.Command(built(t), append([]string{"check"}, args...)...)
	cmd.Dir, cmd.Env = path, append(os.Environ(), environ...)
	var outText, errText strings.Builder
	cmd.Stdout, cmd.Stderr = &outText, &errText
	_ = cmd.Run() // the exit code says it
	mask := func(text string) string {
		return changing.ReplaceAllString(text, "…")
	}
	return mask(outText.String()), mask(errText.String()), cmd.ProcessState.ExitCode()
}

func TestCheck(t *testing.T) {
	path, ca := folder(t)
	more := trusttest.NewCA(t, trusttest.ECDSA, time.Now())
	trusttest.Write(t, path, map[string]string{"old.crt": string(more.CrtPEM), "broken.crt": string(ca.KeyPEM)})
	trusttest.Write(t, filepath.Join(path, "tokens"), map[string]string{
		// minos:not-secret: made for this test
		"db.yaml": "token: abcdef.1111111111111111\npool: data\nexpires: 2999-01-01T00:00:00Z\nnetworks: [10.0.0.0/8, fd00::/8]\nnames: [db-*]\nrequireSource: true\n",
		"old":     "{token: abcdef.2222222222222222, expires: 2020-01-01T00:00:00Z}",
	})
	files := []string{"--ca-cert", "ca.crt", "--ca-key", "ca.key", "--tls-cert", "tls.crt", "--tls-key", "tls.key", "--tokens", "tokens"}
	tests := map[string]struct {
		environ, args []string
		out, words    string
		code          int
	}{
		"all is well": {
			args: append(files, "--accepted-cas", "old.crt"),
			out: `issuing CA  "O=talos", Ed25519, until …, SHA-256 …
accepted CA "O=talos", ECDSA, until …, SHA-256 …
accepted CA "O=talos", Ed25519, until …, SHA-256 …
serving     api.example.com, 127.0.0.1; until …, from tls.crt
token       db.yaml: pool data, valid, until …, networks 10.0.0.0/8 fd00::/8, names db-*, from its own address
token       old: pool old, expired, until …, networks any, names any
token       web.yaml: pool web, valid, networks any, names any
certificate 24h0m0s; names of the control plane and the signer: refuse
`,
			words: "warning: these tokens have expired, remove them: old\nminos-signer: all of it can be used\n",
		},
		"it makes its own certificate": {
			environ: []string{"MINOS_SIGNER_TOKNES=tokens"},
			args:    []string{"--ca-cert", "ca.crt", "--ca-key", "ca.key", "--serving-names", "api.example.com,10.0.0.5", "--tokens", "tokens", "--own-names", "allow"},
			out: `issuing CA  "O=talos", Ed25519, until …, SHA-256 …
accepted CA "O=talos", Ed25519, until …, SHA-256 …
serving     api.example.com, 10.0.0.5; until …, made by the signer itself, and renewed
token       db.yaml: pool data, valid, until …, networks 10.0.0.0/8 fd00::/8, names db-*, from its own address
token       old: pool old, expired, until …, networks any, names any
token       web.yaml: pool web, valid, networks any, names any
certificate 24h0m0s; names of the control plane and the signer: allow
`,
			words: `warning: MINOS_SIGNER_TOKNES means nothing: see 'minos-signer --help'
warning: these tokens have expired, remove them: old
warning: --own-names allow: whoever has a token can answer in the signer's place
minos-signer: all of it can be used
`,
		},
		"both parts are broken": {
			args: append(files, "--accepted-cas", "broken.crt", "--tokens", "nowhere"),
			out:  "certificate 24h0m0s; names of the control plane and the signer: refuse\n",
			words: `minos-signer: accepted-cas: broken.crt has a block "ED25519 PRIVATE KEY": only certificates belong there
minos-signer: tokens: nowhere does not exist: mount it there, or set --tokens
`,
			code: 1,
		},
		"it makes no sense": {
			args:  []string{"--validty", "24h"},
			words: "minos-signer: there is no flag --validty: see 'minos-signer --help'\n",
			code:  2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out, words, code := checked(t, path, test.environ, test.args...)
			if diff := cmp.Diff([]any{test.out, test.words, test.code}, []any{out, words, code}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(out+words, "abcdef") {
				t.Error("a token is in what it says")
			}
		})
	}
}

// freePort is a port that nobody has at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}
