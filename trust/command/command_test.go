// SPDX-License-Identifier: Apache-2.0

package command

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/limit"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/state"
)

var compared = cmp.Options{cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}, policy.Pattern{}), cmpopts.EquateEmpty()}

func nowhere(string) bool { return false }

func pattern(t *testing.T, text string) policy.Pattern {
	t.Helper()
	pattern, err := policy.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return pattern
}

func TestParse(t *testing.T) {
	with := func(change func(*trust.Config)) trust.Config {
		config := trust.Default()
		change(&config)
		return config
	}
	everything := trust.Config{
		Listen: "10.0.0.5:50001", HTTP: "",
		Sources: state.Sources{
			CACert: "a", CAKey: "b", Accepted: []string{"c", "d", "e"}, Tokens: "f",
			TLSCert: "/etc/minos-signer/tls/tls.crt", TLSKey: "/etc/minos-signer/tls/tls.key",
			Serving: issue.Names{CommonName: "api", Names: []string{"api"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("fd00::5")}},
			Own:     []string{"k8s", "10.0.0.0/24"},
			Rules: policy.Rules{
				Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}, Names: []policy.Pattern{pattern(t, "w-*")}, RequireSource: true,
			},
		},
		ReloadEvery: time.Second, OwnNames: policy.Drop, Validity: 48 * time.Hour,
		Room: limit.Room{Connections: 100, PerSource: 10, Handshakes: 20}, SourceRate: 7.5, FailedTokens: 0,
		HandshakeTimeout: time.Second, RequestTimeout: 2 * time.Second, StopTimeout: 3 * time.Second, MinTLS: tls.VersionTLS13,
	}
	tests := map[string]struct {
		args, environ []string
		want          task
	}{
		"nothing":  {want: task{verb: "serve", config: trust.Default()}},
		"a verb":   {args: []string{"check"}, want: task{verb: "check", config: trust.Default()}},
		"one dash": {args: []string{"-validity=48h"}, want: task{verb: "serve", config: with(func(c *trust.Config) { c.Validity = 48 * time.Hour })}},
		"a flag wins over a variable": {
			args: []string{"serve", "--ca-cert", "flag"}, environ: []string{"MINOS_SIGNER_CA_CERT=variable", "MINOS_SIGNER_CA_KEY=key", "MINOS_SIGNER_VALIDITY="},
			want: task{verb: "serve", config: with(func(c *trust.Config) { c.Sources.CACert, c.Sources.CAKey = "flag", "key" })},
		},
		"everything": {
			args: strings.Fields("--listen 10.0.0.5:50001 --http off --ca-cert a --ca-key b --accepted-cas c,d --accepted-cas e --tokens f --serving-names api,10.0.0.5,fd00::5 " +
				"--refuse k8s,10.0.0.0/24 --networks 10.1.0.0/16,fd00::/8 --names w-* --require-source --reload-every 1s --own-names drop --validity 48h --max-connections 100 " +
				"--max-connections-per-source 10 --max-handshakes 20 --source-rate 7.5 --failed-tokens 0 --handshake-timeout 1s --request-timeout 2s --stop-timeout 3s --tls-min 1.3"),
			want: task{verb: "serve", config: everything},
		},
		"what Kubernetes puts there": {
			environ: []string{
				"MINOS_SIGNER_SERVICE_HOST=10.96.0.7", "MINOS_SIGNER_SERVICE_PORT=50001", "MINOS_SIGNER_SERVICE_PORT_TRUSTD=50001", "MINOS_SIGNER_PORT=tcp://10.96.0.7:50001",
				"MINOS_SIGNER_PORT_50001_TCP=tcp://10.96.0.7:50001", "MINOS_SIGNER_PORT_50001_TCP_PROTO=tcp", "MINOS_SIGNER_METRICS_SERVICE_HOST=10.96.0.8", "PORT=9",
			},
			want: task{verb: "serve", config: trust.Default()},
		},
		"a variable of nobody": {
			environ: []string{"MINOS_SIGNER_TOKEN=secret"},
			want:    task{verb: "serve", config: trust.Default(), warnings: []string{"MINOS_SIGNER_TOKEN means nothing: see 'minos-signer --help'"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(test.args, test.environ, nowhere)
			if diff := cmp.Diff(test.want, got, compared, cmp.AllowUnexported(task{})); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		args, environ []string
		want          string
	}{
		"a verb of nobody":      {args: []string{"run"}, want: `there is no command "run": use one of serve, check, version, help`},
		"a flag of nobody":      {args: []string{"--ca", "x"}, want: "there is no flag --ca: see 'minos-signer --help'"},
		"no value":              {args: []string{"--ca-cert"}, want: "there is no value for --ca-cert: see 'minos-signer --help'"},
		"too many":              {args: []string{"check", "x"}, want: `"x" is one argument too many: see 'minos-signer --help'`},
		"empty":                 {args: []string{"--ca-cert", ""}, want: "--ca-cert is empty"},
		"a short life":          {args: []string{"--validity", "12h"}, want: `--validity "12h": is no time between 13h0m0s and 168h0m0s`},
		"a long life":           {environ: []string{"MINOS_SIGNER_VALIDITY=8760h"}, want: `MINOS_SIGNER_VALIDITY "8760h": is no time between 13h0m0s and 168h0m0s`},
		"no port":               {args: []string{"--listen", "10.0.0.5"}, want: `--listen "10.0.0.5": is no address: write :50001 or 10.0.0.5:50001`},
		"no mode":               {args: []string{"--own-names", "sign"}, want: `--own-names "sign": "sign" is not one of refuse, drop, allow`},
		"no network":            {args: []string{"--networks", "10.0.0.0/8,10.0.0.1/8"}, want: `--networks "10.0.0.0/8,10.0.0.1/8": "10.0.0.1/8" is no network but an address in one: write 10.0.0.0/8`},
		"an empty entry":        {args: []string{"--names", "a,,b"}, want: `--names "a,,b": has an empty entry`},
		"no number":             {args: []string{"--max-handshakes", "0"}, want: `--max-handshakes "0": is no number from 1 on`},
		"no rate":               {args: []string{"--source-rate", "NaN"}, want: `--source-rate "NaN": is neither 0 nor a number from 1 on`},
		"no version":            {args: []string{"--tls-min", "1.1"}, want: `--tls-min "1.1": is neither 1.2 nor 1.3`},
		"maybe":                 {environ: []string{"MINOS_SIGNER_REQUIRE_SOURCE=maybe"}, want: `MINOS_SIGNER_REQUIRE_SOURCE "maybe": is neither true nor false`},
		"a wildcard":            {args: []string{"--serving-names", "*.example.com"}, want: `--serving-names "*.example.com": "*.example.com" is neither a name, an address nor a network`},
		"a network to serve":    {args: []string{"--serving-names", "10.0.0.0/8"}, want: `--serving-names "10.0.0.0/8": "10.0.0.0/8" is neither a name nor an address`},
		"both certificates":     {args: []string{"--serving-names", "api", "--tls-cert", "x"}, want: "--serving-names and --tls-cert exclude each other: let the signer make its certificate, or give it one"},
		"no room":               {args: []string{"--max-connections", "100"}, want: "--max-connections 100 is less than --max-connections-per-source 128 or --max-handshakes 128"},
		"half of the old":       {args: []string{"--port", "50001"}, want: "--port is one of talos-csr-signer's and goes with TALOS_TOKEN, which is not set"},
		"a bad old port":        {environ: []string{"TALOS_TOKEN=x", "PORT=tcp://10.0.0.1:1"}, want: `PORT "tcp://10.0.0.1:1" is no port`},
		"what is to be refused": {args: []string{"--refuse", "https://api"}, want: `--refuse "https://api": "https://api" is neither a name, an address nor a network`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.args, test.environ, nowhere)
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInThePlaceOfTalosCSRSigner(t *testing.T) {
	with := func(change func(*trust.Config)) trust.Config {
		config := trust.Default()
		config.Sources = state.Sources{
			Token: "secret", CACert: "/etc/talos-ca/tls.crt", CAKey: "/etc/talos-ca/tls.key",
			TLSCert: "/etc/talos-server-crt/tls.crt", TLSKey: "/etc/talos-server-crt/tls.key",
		}
		config.OwnNames = policy.Allow
		change(&config)
		return config
	}
	tests := map[string]struct {
		args, environ []string
		exists        []string
		want          trust.Config
		wantWarnings  int
	}{
		"its defaults": {environ: []string{"TALOS_TOKEN=secret"}, want: with(func(*trust.Config) {}), wantWarnings: 1},
		"its older defaults": {environ: []string{"TALOS_TOKEN=secret"}, exists: []string{"/etc/talos-ca/ca.crt"}, want: with(func(c *trust.Config) {
			c.Sources.CACert, c.Sources.CAKey = "/etc/talos-ca/ca.crt", "/etc/talos-ca/ca.key"
		}), wantWarnings: 1},
		"its variables": {
			environ: []string{"TALOS_TOKEN=secret", "PORT=5", "CA_CERT_PATH=a", "CA_KEY_PATH=b", "TLS_CERT_PATH=c", "TLS_KEY_PATH=d"},
			want: with(func(c *trust.Config) {
				c.Listen, c.Sources.CACert, c.Sources.CAKey, c.Sources.TLSCert, c.Sources.TLSKey = ":5", "a", "b", "c", "d"
			}), wantWarnings: 1,
		},
		"its flags": {
			args: strings.Fields("--talos-token secret --port 5 --ca-cert-path a --ca-key-path b --tls-cert-path c --tls-key-path d"), environ: []string{"PORT=6", "CA_CERT_PATH=x"},
			want: with(func(c *trust.Config) {
				c.Listen, c.Sources.CACert, c.Sources.CAKey, c.Sources.TLSCert, c.Sources.TLSKey = ":5", "a", "b", "c", "d"
			}), wantWarnings: 2,
		},
		"ours win, and a folder is read beside": {
			environ: []string{"TALOS_TOKEN=secret", "MINOS_SIGNER_TOKENS=folder", "MINOS_SIGNER_OWN_NAMES=refuse", "MINOS_SIGNER_CA_CERT=mine", "CA_CERT_PATH=theirs"},
			want: with(func(c *trust.Config) {
				c.Sources.Tokens, c.OwnNames, c.Sources.CACert = "folder", policy.Refuse, "mine"
			}), wantWarnings: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(test.args, test.environ, func(path string) bool { return strings.Contains(strings.Join(test.exists, " "), path) })
			if diff := cmp.Diff(test.want, got.config, compared); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if len(got.warnings) != test.wantWarnings {
				t.Errorf("warnings: %q", got.warnings)
			}
		})
	}
}

// TestHelp holds the help to what is true: its defaults are the defaults, and it fits a terminal.
func TestHelp(t *testing.T) {
	defaults := trust.Default()
	for _, group := range groups() {
		for _, option := range group.options {
			if linked.MatchString(variableOf(option.name)) {
				t.Errorf("--%s: Kubernetes sets %s beside a Service of our name", option.name, variableOf(option.name))
			}
			if strings.HasSuffix(option.usage, ".") || option.usage == "" {
				t.Errorf("--%s: usage is words without a full stop", option.name)
			}
			if option.shown == "" || option.shown == "anywhere" || option.shown == "anything" {
				continue
			}
			config := defaults
			if err := option.set(&config, option.shown); err != nil {
				t.Errorf("--%s: its default %q is refused: %v", option.name, option.shown, err)
			}
			if diff := cmp.Diff(defaults, config, compared); diff != "" {
				t.Errorf("--%s: the default is not %q:\n%s", option.name, option.shown, diff)
			}
		}
	}
	for line := range strings.Lines(help()) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > width || strings.TrimRight(line, " ") != line {
			t.Errorf("too wide, or blanks at its end: %q", line)
		}
	}
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"check", "--help"}} {
		var out, words strings.Builder
		if code := Main(Process{Args: args, Out: &out, Err: &words}); code != 0 || out.String() != help() || words.String() != "" {
			t.Errorf("%v: %d, %s", args, code, words.String())
		}
	}
}
