// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"minos.dev/minos/kube/box"
)

func TestParse(t *testing.T) {
	here, err := filepath.Abs("here")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args    []string
		want    Options
		wantErr string
	}{
		"only a directory": {
			args: []string{"--dir", "here"},
			want: Options{Dir: here, Address: box.Loopback, Port: 16443, Services: netip.MustParsePrefix("10.0.0.0/24"), UnsafeNoFsync: true},
		},
		"everything": {
			args: []string{
				"--dir=/d", "--address=127.16.1.1", "--port=0", "--service-cluster-ip-range=10.96.0.9/16", "--san", "a.example", "--san=192.0.2.1",
				"--unsafe-no-fsync=false", "--stop-with-stdin",
			},
			want: Options{
				Dir: "/d", Address: netip.MustParseAddr("127.16.1.1"), Services: netip.MustParsePrefix("10.96.0.0/16"),
				SANs: []string{"a.example", "192.0.2.1"}, StopWithStdin: true,
			},
		},
		"no directory":        {wantErr: "--dir is needed"},
		"an unknown flag":     {args: []string{"--dri", "x"}, wantErr: "unknown flag: --dri (minos-kube dev --help explains the flags)"},
		"a stray word":        {args: []string{"--dir", "x", "y"}, wantErr: `"y" is not a flag`},
		"a port out of range": {args: []string{"--dir", "x", "--port", "65536"}, wantErr: "--port 65536 is not a port"},
		"a port that is none": {args: []string{"--dir", "x", "--port", "http"}, wantErr: "--port"},
		"an address that others reach": {
			args: []string{"--dir", "x", "--address", "192.0.2.1"}, wantErr: `--address "192.0.2.1" is not an address of 127.0.0.0/8`,
		},
		"an address of the other family": {args: []string{"--dir", "x", "--address", "::1"}, wantErr: `--address "::1"`},
		"an address that is none":        {args: []string{"--dir", "x", "--address", "localhost"}, wantErr: `--address "localhost"`},
		"a range that is none": {
			args: []string{"--dir", "x", "--service-cluster-ip-range", "10.0.0.0"}, wantErr: `"10.0.0.0" is not a range`,
		},
		"a range without room": {
			args: []string{"--dir", "x", "--service-cluster-ip-range", "10.0.0.0/31"}, wantErr: "too small",
		},
		"a name that is none": {args: []string{"--dir", "x", "--san", "two words"}, wantErr: `--san "two words"`},
		"an empty name":       {args: []string{"--dir", "x", "--san", ""}, wantErr: `--san ""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(test.args)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("got error %v, want %q in it", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	for _, word := range []string{
		"Example:", "--dir", "--address", "--port", "--service-cluster-ip-range", "--san", "--unsafe-no-fsync", "--stop-with-stdin",
	} {
		if !strings.Contains(help(), word) {
			t.Errorf("help does not mention %s", word)
		}
	}
}
