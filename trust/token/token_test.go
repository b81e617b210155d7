// SPDX-License-Identifier: Apache-2.0

package token

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"minos.dev/minos/trust/policy"
)

const secret = "abcdef.0123456789abcdef"

var moment = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// compared is how tokens are compared: what they say, not what they are.
var compared = cmp.Options{cmpopts.IgnoreUnexported(Token{}), cmpopts.EquateComparable(netip.Prefix{}, policy.Pattern{})}

func pattern(t *testing.T, text string) policy.Pattern {
	t.Helper()
	pattern, err := policy.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return pattern
}

func TestParse(t *testing.T) {
	defaults := policy.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, RequireSource: true}
	tests := map[string]struct {
		file, content string
		want          Token
	}{
		"bare":            {"web", secret, Token{Pool: "web", Rules: defaults}},
		"bare, with ends": {"web.yaml", "\n" + secret + "\r\n", Token{Pool: "web", Rules: defaults}},
		"a document":      {"web.yml", "token: " + secret, Token{Pool: "web", Rules: defaults}},
		"JSON":            {"web.json", `{"token":"` + secret + `","pool":"db"}`, Token{Pool: "db", Rules: defaults}},
		"everything": {
			"web-2.yaml", `# of November
token: "` + secret + `"
pool: web
notBefore: 2026-11-01T00:00:00Z
expires: "2026-12-01T00:00:00+01:00"
networks: [192.168.0.0/16, "fd00::/8"]
names:
  - web-*
requireSource: false
`, Token{
				Pool: "web", NotBefore: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Expires: time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC),
				Rules: policy.Rules{
					Networks: []netip.Prefix{netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("fd00::/8")},
					Names:    []policy.Pattern{pattern(t, "web-*")},
				},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(test.file, []byte(test.content), defaults)
			test.want.File = test.file
			if diff := cmp.Diff(test.want, got, compared); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
			set, err := NewSet([]Token{got})
			if err != nil {
				t.Fatal(err)
			}
			if _, standing := set.Find(secret, moment); standing != Valid {
				t.Errorf("the token is %s", standing)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ file, content, want string }{
		"nothing":             {"web", "\n", "web: token is missing"},
		"a short token":       {"web", "abcdef.0123", "web: token has 11 characters: use at least 16, such as those that 'talosctl gen secrets' makes"},
		"a long token":        {"web", strings.Repeat("a", 2000), "web: token has 2000 characters: use at most 1024"},
		"a colon":             {"web", "token:" + secret, "web: a bare token has no colon: write the document 'token: \"…\"'"},
		"two words":           {"web", "token " + secret, "web: is neither a bare token nor a YAML document with the field token"},
		"two tokens":          {"web", secret + "\n" + secret, "web: is neither a bare token nor a YAML document with the field token"},
		"not ASCII":           {"web", "abcdef.0123456789abcdéf", "web: token has blanks or characters that are not ASCII: no machine could send it"},
		"a zero byte":         {"web", "abcdef.0123456789abcd\x00f", "web: token has blanks or characters that are not ASCII: no machine could send it"},
		"no YAML":             {"web", "token: [\n" + secret, "web: is neither a bare token nor YAML (line 2)"},
		"an anchor of nobody": {"web", "token: *" + strings.ReplaceAll(secret, ".", ""), "web: is neither a bare token nor YAML (line 1)"},
		"two documents":       {"web", "token: " + secret + "\n---\ntoken: " + secret, "web: holds more than one document: write one file for each token"},
		"an unknown field":    {"web", "token: " + secret + "\nexpire: never", `web: line 2: there is no field "expire": use token, pool, notBefore, expires, networks, names, requireSource`},
		"a token for a field": {"web", secret + ": web", "web: line 1: there is no such field: use token, pool, notBefore, expires, networks, names, requireSource"},
		"a field twice":       {"web", "pool: a\npool: b\ntoken: " + secret, "web: line 2: field pool is there twice"},
		"no token":            {"web", "pool: web", "web: token is missing"},
		"a token of nothing":  {"web", "token: ~", "web: line 1: token is not a text"},
		"a list of tokens":    {"web", "token: [" + secret + "]", "web: line 1: token is not a text"},
		"blanks in it":        {"web", "token: " + secret + " x", "web: token has blanks or characters that are not ASCII: no machine could send it"},
		"a day":               {"web", "expires: 2026-12-01\ntoken: " + secret, "web: line 1: expires is no time: write it as 2027-01-31T12:00:00Z"},
		"no time":             {"web", "expires: \"\"\ntoken: " + secret, "web: line 1: expires is no time: write it as 2027-01-31T12:00:00Z"},
		"a life backwards":    {"web", "token: " + secret + "\nnotBefore: 2026-12-01T00:00:00Z\nexpires: 2026-11-01T00:00:00Z", "web: line 3: expires is not after notBefore"},
		"no networks":         {"web", "networks: []\ntoken: " + secret, "web: line 1: networks is no list with entries: leave the field out to allow all"},
		"one network":         {"web", "networks: 10.0.0.0/8\ntoken: " + secret, "web: line 1: networks is no list with entries: leave the field out to allow all"},
		"a bad network":       {"web", "networks:\n- 10.0.0.0/8\n- 10.0.0.1/8\ntoken: " + secret, "web: line 2: networks has an entry on line 3 that is not one: write networks such as 10.0.0.0/8 or fd00::/8"},
		"a bad name":          {"web", "names: ['a b']\ntoken: " + secret, "web: line 1: names has an entry on line 1 that is not one: write patterns such as worker-* or *.example.com"},
		"perhaps":             {"web", "requireSource: yes\ntoken: " + secret, "web: line 1: requireSource is neither true nor false"},
		"a bad pool":          {"web", "pool: a b\ntoken: " + secret, "web: its pool is no name: use letters, digits, dots, hyphens and underscores"},
		"a bad file name":     {"-", secret, "-: its pool is no name: use letters, digits, dots, hyphens and underscores"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(test.file, []byte(test.content), policy.Rules{})
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	var tokens []Token
	for i, life := range [][2]time.Time{{}, {moment.Add(time.Hour)}, {{}, moment}, {moment, moment.Add(time.Second)}} {
		token, err := Parse(fmt.Sprint("pool-", i), fmt.Appendf(nil, "abcdef.%016d", i), policy.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		token.NotBefore, token.Expires = life[0], life[1]
		tokens = append(tokens, token)
	}
	set, err := NewSet(tokens)
	if err != nil {
		t.Fatal(err)
	}
	for presented, want := range map[string]struct {
		pool     string
		standing Standing
	}{
		"abcdef.0000000000000000":  {"pool-0", Valid},
		"abcdef.0000000000000001":  {"pool-1", Early},
		"abcdef.0000000000000002":  {"pool-2", Expired},
		"abcdef.0000000000000003":  {"pool-3", Valid},
		"abcdef.0000000000000004":  {"", Unknown},
		"abcdef.000000000000000":   {"", Unknown},
		"abcdef.00000000000000000": {"", Unknown},
		"":                         {"", Unknown},
	} {
		token, standing := set.Find(presented, moment)
		if token.Pool != want.pool || standing != want.standing {
			t.Errorf("%q: %q, %s", presented, token.Pool, standing)
		}
	}
}

func TestNewSetRefuses(t *testing.T) {
	token, err := Parse("web", []byte(secret), policy.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	again := token
	again.File = "db"
	if _, err := NewSet([]Token{token, again}); fmt.Sprint(err) != "web and db hold the same token: give each pool its own" {
		t.Error(err)
	}
	if _, err := NewSet(make([]Token, MaxTokens+1)); fmt.Sprint(err) != "4097 tokens are more than 4096: remove those that have expired" {
		t.Error(err)
	}
}

func TestBare(t *testing.T) {
	for text, want := range map[string]struct{ weak, fails bool }{
		secret: {}, "short": {weak: true}, "": {fails: true}, "a b": {fails: true},
	} {
		_, weak, err := Bare("legacy", text, policy.Rules{})
		if weak != want.weak || (err != nil) != want.fails {
			t.Errorf("%q: weak %v, %v", text, weak, err)
		}
	}
}

// FuzzParse looks for a file that breaks the parser, or makes it say a part of the secret.
func FuzzParse(f *testing.F) {
	for _, content := range []string{secret, "token: " + secret, "token: [" + secret + "]", secret + ": x", "&a [*a]", "{", "- " + secret, "names: [" + secret + "/x]\ntoken: x y"} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		token, err := Parse("web", []byte(content), policy.Rules{})
		if err != nil {
			if strings.Contains(err.Error(), "0123456789") {
				t.Errorf("it says the secret: %v", err)
			}
			return
		}
		if token.Pool == "" || strings.Contains(fmt.Sprint(token.Pool, token.File), "\n") {
			t.Errorf("pool %q", token.Pool)
		}
	})
}
