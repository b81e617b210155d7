// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func addresses(texts ...string) (found []netip.Addr) {
	for _, text := range texts {
		found = append(found, netip.MustParseAddr(text))
	}
	return found
}

func rules(t *testing.T, networks, names []string) Rules {
	t.Helper()
	var rules Rules
	for _, text := range networks {
		network, err := ParseNetwork(text)
		if err != nil {
			t.Fatal(err)
		}
		rules.Networks = append(rules.Networks, network)
	}
	for _, text := range names {
		pattern, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		rules.Names = append(rules.Names, pattern)
	}
	return rules
}

// own is a control plane with a name, two addresses and a network of them.
func own(t *testing.T) Own {
	t.Helper()
	own, err := NewOwn([]string{"api.shop.example.com", "10.0.0.5", "fd00::5", "192.168.9.0/24", "127.0.0.1", "::1", "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func TestJudge(t *testing.T) {
	worker := Asked{
		CommonName: "w1.shop.example.com", Names: []string{"w1", "w1.shop.example.com"},
		Addresses: addresses("10.0.1.7", "fd00:1::7", "127.0.0.1"), Source: netip.MustParseAddr("10.0.1.7"),
	}
	with := func(change func(*Asked)) Asked {
		asked := worker
		change(&asked)
		return asked
	}
	narrow := rules(t, []string{"10.0.1.0/24", "fd00:1::/64"}, []string{"w*", "w*.shop.example.com"})
	tests := map[string]struct {
		rules      Rules
		mode       Mode
		asked      Asked
		wantReason Reason
		wantOwn    []string
	}{
		"a worker":                            {asked: worker},
		"a worker within narrow rules":        {rules: narrow, asked: worker},
		"localhost is of no use to others":    {rules: narrow, asked: with(func(a *Asked) { a.Names = []string{"LocalHost", "w1"}; a.Addresses = addresses("::1", "10.0.1.7") })},
		"nothing at all":                      {rules: narrow, asked: Asked{}},
		"no common name":                      {rules: narrow, asked: with(func(a *Asked) { a.CommonName = "" })},
		"the endpoint's name":                 {asked: with(func(a *Asked) { a.Names = []string{"api.shop.example.com"} }), wantReason: ReasonOwn},
		"the endpoint's name, shouted":        {asked: with(func(a *Asked) { a.Names = []string{"API.Shop.example.COM"} }), wantReason: ReasonOwn},
		"the endpoint's name with a dot":      {asked: with(func(a *Asked) { a.Names = []string{"api.shop.example.com."} }), wantReason: ReasonOwn},
		"the endpoint as common name":         {asked: with(func(a *Asked) { a.CommonName = "api.shop.example.com" }), wantReason: ReasonOwn},
		"the endpoint as common name, drop":   {mode: Drop, asked: with(func(a *Asked) { a.CommonName = "api.shop.example.com" }), wantReason: ReasonOwn},
		"a wildcard over the endpoint":        {asked: with(func(a *Asked) { a.Names = []string{"*.shop.example.com"} }), wantReason: ReasonMalformed},
		"a wildcard, even where it fits":      {rules: narrow, asked: with(func(a *Asked) { a.Names = []string{"w*.shop.example.com"} }), wantReason: ReasonMalformed},
		"the endpoint's address":              {asked: with(func(a *Asked) { a.Addresses = addresses("10.0.0.5") }), wantReason: ReasonOwn},
		"the same, mapped":                    {asked: with(func(a *Asked) { a.Addresses = addresses("::ffff:10.0.0.5") }), wantReason: ReasonOwn},
		"the same, as a name":                 {asked: with(func(a *Asked) { a.Names = []string{"10.0.0.5"} }), wantReason: ReasonOwn},
		"the same, as common name":            {asked: with(func(a *Asked) { a.CommonName = "10.0.0.5" }), wantReason: ReasonOwn},
		"the other address":                   {asked: with(func(a *Asked) { a.Addresses = addresses("fd00::5") }), wantReason: ReasonOwn},
		"an address of the own network":       {asked: with(func(a *Asked) { a.Addresses = addresses("192.168.9.200") }), wantReason: ReasonOwn},
		"an address outside":                  {rules: narrow, asked: with(func(a *Asked) { a.Addresses = addresses("10.0.2.1") }), wantReason: ReasonNetwork},
		"an address outside, as a name":       {rules: narrow, asked: with(func(a *Asked) { a.Names = []string{"10.0.2.1"} }), wantReason: ReasonNetwork},
		"a name outside":                      {rules: narrow, asked: with(func(a *Asked) { a.Names = []string{"x1"} }), wantReason: ReasonName},
		"a common name outside":               {rules: narrow, asked: with(func(a *Asked) { a.CommonName = "x1" }), wantReason: ReasonName},
		"a star does not span labels":         {rules: narrow, asked: with(func(a *Asked) { a.Names = []string{"w1.evil.shop.example.com"} }), wantReason: ReasonName},
		"no address of a machine":             {asked: with(func(a *Asked) { a.Addresses = addresses("0.0.0.0") }), wantReason: ReasonMalformed},
		"no address of a machine either":      {asked: with(func(a *Asked) { a.Addresses = addresses("ff02::1") }), wantReason: ReasonMalformed},
		"no address":                          {asked: with(func(a *Asked) { a.Addresses = []netip.Addr{{}} }), wantReason: ReasonMalformed},
		"no name: empty":                      {asked: with(func(a *Asked) { a.Names = []string{""} }), wantReason: ReasonMalformed},
		"no name: a zero byte":                {asked: with(func(a *Asked) { a.Names = []string{"api.shop.example.com\x00.evil"} }), wantReason: ReasonMalformed},
		"no name: a blank":                    {asked: with(func(a *Asked) { a.Names = []string{"api.shop.example.com "} }), wantReason: ReasonMalformed},
		"no name: two dots":                   {asked: with(func(a *Asked) { a.Names = []string{"api.shop.example.com.."} }), wantReason: ReasonMalformed},
		"no name: letters that look the same": {asked: with(func(a *Asked) { a.Names = []string{"аpi.shop.example.com"} }), wantReason: ReasonMalformed},
		"no name: a long label":               {asked: with(func(a *Asked) { a.Names = []string{strings.Repeat("a", 64)} }), wantReason: ReasonMalformed},
		"too many":                            {asked: with(func(a *Asked) { a.Names = make([]string, 300) }), wantReason: ReasonMalformed},
		"from its own address":                {rules: Rules{RequireSource: true}, asked: worker},
		"from its own address, mapped":        {rules: Rules{RequireSource: true}, asked: with(func(a *Asked) { a.Source = netip.MustParseAddr("::ffff:10.0.1.7") })},
		"from another address":                {rules: Rules{RequireSource: true}, asked: with(func(a *Asked) { a.Source = netip.MustParseAddr("10.0.1.8") }), wantReason: ReasonSource},
		"from another address, not asked for": {asked: with(func(a *Asked) { a.Source = netip.MustParseAddr("10.0.1.8") })},
		"loopback proves nothing":             {rules: Rules{RequireSource: true}, asked: with(func(a *Asked) { a.Source = netip.MustParseAddr("127.0.0.1") }), wantReason: ReasonSource},
		"a source that was dropped": {
			mode: Drop, rules: Rules{RequireSource: true}, wantReason: ReasonSource,
			asked: with(func(a *Asked) { a.Source = netip.MustParseAddr("10.0.0.5"); a.Addresses = addresses("10.0.0.5") }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			granted, refusal := Judge(own(t), test.mode, test.rules, test.asked)
			var reason Reason
			if refusal != nil {
				reason = refusal.Reason
			}
			if reason != test.wantReason {
				t.Fatalf("reason %q, want %q: %v", reason, test.wantReason, refusal)
			}
			if refusal == nil {
				want := Granted{CommonName: test.asked.CommonName, Names: test.asked.Names, Addresses: test.asked.Addresses}
				if diff := cmp.Diff(want, granted, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestModes(t *testing.T) {
	asked := Asked{
		CommonName: "w1", Names: []string{"w1", "api.shop.example.com", "API.shop.example.com"},
		Addresses: addresses("10.0.1.7", "10.0.0.5", "::ffff:10.0.0.5"),
	}
	found := []string{"api.shop.example.com", "API.shop.example.com", "10.0.0.5", "::ffff:10.0.0.5"}
	tests := map[Mode]Granted{
		Drop:  {CommonName: "w1", Names: []string{"w1"}, Addresses: addresses("10.0.1.7"), Own: found},
		Allow: {CommonName: "w1", Names: asked.Names, Addresses: asked.Addresses, Own: found},
	}
	for mode, want := range tests {
		granted, refusal := Judge(own(t), mode, Rules{}, asked)
		if diff := cmp.Diff(want, granted, cmpopts.EquateComparable(netip.Addr{})); refusal != nil || diff != "" {
			t.Errorf("%s: %v\n%s", mode, refusal, diff)
		}
	}
	for _, mode := range []Mode{Refuse, "", "anything"} {
		if _, refusal := Judge(own(t), mode, Rules{}, asked); refusal == nil || refusal.Reason != ReasonOwn {
			t.Errorf("%q: %v", mode, refusal)
		}
	}
	if _, refusal := Judge(own(t), Allow, Rules{}, Asked{CommonName: "api.shop.example.com"}); refusal != nil {
		t.Error(refusal)
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"w-*", "w-1", true},
		{"w-*", "w-", true},
		{"w-*", "w", false},
		{"w-*", "w-1.example.com", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", false},
		{"*.example.com", "example.com", false},
		{"*.*", "a.b", true},
		{"W1.Example.com.", "w1.example.com", true},
		{"w*1*", "w-1-2", true},
	} {
		pattern, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.Matches(test.name); got != test.want {
			t.Errorf("%s matches %s: %v", test.pattern, test.name, got)
		}
	}
	for _, bad := range []string{"", ".", "a..b", "[ab]", "a?", `a\b`, "a b", "ä", strings.Repeat("a.", 200)} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

func TestParseNetworkAndOwn(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.0.0.1": "10.0.0.1/32", "fd00::/8": "fd00::/8", "fd00::1": "fd00::1/128", "::ffff:10.0.0.1": "10.0.0.1/32",
	} {
		if got, err := ParseNetwork(text); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "10.0.0.1/8", "10.0.0.0/33", "fe80::1%eth0", "::ffff:10.0.0.0/104", "host"} {
		if got, err := ParseNetwork(bad); err == nil {
			t.Errorf("%q is the network %s", bad, got)
		}
	}
	for _, bad := range []string{"", "10.0.0.1/8", "*.example.com", "a b", "https://host"} {
		if _, err := NewOwn([]string{bad}); err == nil {
			t.Errorf("%q is own", bad)
		}
	}
	for _, good := range []Mode{Refuse, Drop, Allow} {
		if mode, err := ParseMode(string(good)); err != nil || mode != good {
			t.Errorf("%s: %v", good, err)
		}
	}
	if _, err := ParseMode("ignore"); err == nil {
		t.Error("ignore is a mode")
	}
}

// FuzzJudge looks for a spelling of an own name that gets through.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{"api.shop.example.com", "API.SHOP.EXAMPLE.COM.", "10.0.0.5", "::ffff:10.0.0.5", "w1", "*.shop.example.com", "0xa.0.0.5"} {
		f.Add(name)
	}
	own, err := NewOwn([]string{"api.shop.example.com", "10.0.0.5"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		granted, refusal := Judge(own, Refuse, Rules{}, Asked{CommonName: name, Names: []string{name}})
		if refusal != nil {
			return
		}
		for _, got := range append(granted.Names, granted.CommonName) {
			if strings.EqualFold(strings.TrimRight(got, ". \x00"), "api.shop.example.com") || fmt.Sprint(got) == "10.0.0.5" {
				t.Errorf("%q got through", got)
			}
		}
	})
}
