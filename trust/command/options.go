// SPDX-License-Identifier: Apache-2.0

package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"minos.dev/minos/trust"
	"minos.dev/minos/trust/issue"
	"minos.dev/minos/trust/policy"
)

// An option is one flag, and the variable of the same name.
type option struct {
	name  string
	value string // what stands for its value in the help
	usage string
	set   func(*trust.Config, string) error
	// shown is the default, if it is not plain from the usage.
	shown string
}

// A group is options that belong together.
type group struct {
	title   string
	options []option
}

// switches are options without a value.
const requireSource = "require-source"

// groups are all options, in the order of the help. The table is the documentation: docs/signer.md is held to it.
func groups() []group {
	return []group{
		{"Files, read again when they change", fileOptions()},
		{"What machines may be called", nameOptions()},
		{"Serving", servingOptions()},
		{"Under attack", attackOptions()},
	}
}

func fileOptions() []option {
	return []option{
		{"ca-cert", "FILE", "the issuing CA (machine.ca of the cluster)", file(func(c *trust.Config) *string { return &c.Sources.CACert }), "/etc/minos-signer/ca/tls.crt"},
		{"ca-key", "FILE", "its key", file(func(c *trust.Config) *string { return &c.Sources.CAKey }), "/etc/minos-signer/ca/tls.key"},
		{"accepted-cas", "LIST", "files or folders: further CAs that machines accept", func(c *trust.Config, text string) (err error) {
			c.Sources.Accepted, err = list(text, func(path string) (string, error) { return path, nil })
			return err
		}, ""},
		{"tls-cert", "FILE", "the serving certificate", file(func(c *trust.Config) *string { return &c.Sources.TLSCert }), "/etc/minos-signer/tls/tls.crt"},
		{"tls-key", "FILE", "its key", file(func(c *trust.Config) *string { return &c.Sources.TLSKey }), "/etc/minos-signer/tls/tls.key"},
		{"serving-names", "LIST", "instead: make the serving certificate from the CA, for these names and addresses", servingNames, ""},
		{"tokens", "DIR", "one file for each token", file(func(c *trust.Config) *string { return &c.Sources.Tokens }), "/etc/minos-signer/tokens"},
		{"reload-every", "TIME", "how often files are looked at", duration(100*time.Millisecond, 10*time.Minute, func(c *trust.Config) *time.Duration { return &c.ReloadEvery }), "2s"},
	}
}

func nameOptions() []option {
	return []option{
		{"refuse", "LIST", "names, addresses and networks that no machine may have, beside those of the serving certificate", func(c *trust.Config, text string) (err error) {
			if c.Sources.Own, err = list(text, func(entry string) (string, error) { return entry, nil }); err == nil {
				_, err = policy.NewOwn(c.Sources.Own)
			}
			return err
		}, ""},
		{"own-names", "MODE", "a request for such a name: refuse it, drop the name, or allow it", func(c *trust.Config, text string) (err error) {
			c.OwnNames, err = policy.ParseMode(text)
			return err
		}, "refuse"},
		{"networks", "LIST", "where addresses of machines must be, for tokens that do not say", func(c *trust.Config, text string) (err error) {
			c.Sources.Rules.Networks, err = list(text, policy.ParseNetwork)
			return err
		}, "anywhere"},
		{"names", "LIST", "patterns that names of machines must match, for tokens that do not say", func(c *trust.Config, text string) (err error) {
			c.Sources.Rules.Names, err = list(text, policy.ParsePattern)
			return err
		}, "anything"},
		{requireSource, "", "a request must come from one of its addresses, for tokens that do not say (not behind NAT)", func(c *trust.Config, text string) (err error) {
			if c.Sources.Rules.RequireSource, err = strconv.ParseBool(text); err != nil {
				return errors.New("is neither true nor false")
			}
			return nil
		}, ""},
		// A worker renews after twelve hours, whatever it got.
		{"validity", "TIME", "life of a certificate, 13h to 168h", duration(13*time.Hour, 168*time.Hour, func(c *trust.Config) *time.Duration { return &c.Validity }), "24h"},
	}
}

func servingOptions() []option {
	return []option{
		{"listen", "ADDRESS", "where workers ask; they know no other port than 50001", address(func(c *trust.Config) *string { return &c.Listen }), ":50001"},
		{"http", "ADDRESS", "where /metrics, /healthz and /readyz are; off is nowhere", func(c *trust.Config, text string) error {
			if text == "off" {
				c.HTTP = ""
				return nil
			}
			return address(func(c *trust.Config) *string { return &c.HTTP })(c, text)
		}, "127.0.0.1:50080"},
		{"tls-min", "VERSION", "lowest version of TLS: 1.2 or 1.3", func(c *trust.Config, text string) error {
			version, ok := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[text]
			if !ok {
				return errors.New("is neither 1.2 nor 1.3")
			}
			c.MinTLS = version
			return nil
		}, "1.2"},
		{"stop-timeout", "TIME", "for requests to end after SIGTERM", duration(0, time.Minute, func(c *trust.Config) *time.Duration { return &c.StopTimeout }), "5s"},
	}
}

func attackOptions() []option {
	return []option{
		{"max-connections", "NUMBER", "at once", count(func(c *trust.Config) *int { return &c.Room.Connections }), "512"},
		{"max-connections-per-source", "NUMBER", "at once, from one address or IPv6 /64", count(func(c *trust.Config) *int { return &c.Room.PerSource }), "128"},
		{"max-handshakes", "NUMBER", "that are not done, at once", count(func(c *trust.Config) *int { return &c.Room.Handshakes }), "128"},
		{"source-rate", "NUMBER", "connections, and requests, a second from one source; 0 is any", rate(func(c *trust.Config) *float64 { return &c.SourceRate }), "100"},
		{"failed-tokens", "NUMBER", "wrong tokens a minute from one source; 0 is any", rate(func(c *trust.Config) *float64 { return &c.FailedTokens }), "60"},
		{"handshake-timeout", "TIME", "for a handshake", duration(100*time.Millisecond, time.Minute, func(c *trust.Config) *time.Duration { return &c.HandshakeTimeout }), "5s"},
		{"request-timeout", "TIME", "for the message of a request", duration(100*time.Millisecond, time.Minute, func(c *trust.Config) *time.Duration { return &c.RequestTimeout }), "5s"},
	}
}

func file(of func(*trust.Config) *string) func(*trust.Config, string) error {
	return func(c *trust.Config, text string) error {
		*of(c) = text
		return nil
	}
}

func address(of func(*trust.Config) *string) func(*trust.Config, string) error {
	return func(c *trust.Config, text string) error {
		if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
			return errors.New("is no address: write :50001 or 10.0.0.5:50001")
		}
		*of(c) = text
		return nil
	}
}

func duration(least, most time.Duration, of func(*trust.Config) *time.Duration) func(*trust.Config, string) error {
	return func(c *trust.Config, text string) error {
		value, err := time.ParseDuration(text)
		if err != nil || value < least || value > most {
			return fmt.Errorf("is no time between %s and %s", least, most)
		}
		*of(c) = value
		return nil
	}
}

func count(of func(*trust.Config) *int) func(*trust.Config, string) error {
	return func(c *trust.Config, text string) error {
		value, err := strconv.Atoi(text)
		if err != nil || value < 1 || value > 1<<20 {
			return errors.New("is no number from 1 on")
		}
		*of(c) = value
		return nil
	}
}

func rate(of func(*trust.Config) *float64) func(*trust.Config, string) error {
	return func(c *trust.Config, text string) error {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !(value == 0 || value >= 1 && value <= 1e6) {
			return errors.New("is neither 0 nor a number from 1 on")
		}
		*of(c) = value
		return nil
	}
}

// list reads what commas divide.
func list[T any](text string, parse func(string) (T, error)) ([]T, error) {
	var found []T
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			return nil, errors.New("has an empty entry")
		}
		one, err := parse(entry)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// servingNames reads names and addresses. A wildcard is not one: which of its names workers dial could not be refused.
func servingNames(c *trust.Config, text string) error {
	entries, err := list(text, func(entry string) (string, error) {
		_, err := policy.NewOwn([]string{entry})
		if strings.Contains(entry, "/") {
			err = fmt.Errorf("%q is neither a name nor an address", entry)
		}
		return entry, err
	})
	var names issue.Names
	for _, entry := range entries {
		if address, err := netip.ParseAddr(entry); err == nil {
			names.Addresses = append(names.Addresses, address)
		} else {
			names.Names = append(names.Names, entry)
		}
	}
	if len(names.Names) > 0 {
		names.CommonName = names.Names[0]
	}
	c.Sources.Serving = names
	return err
}
