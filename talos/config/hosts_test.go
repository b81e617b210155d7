// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// TestHostRefusal names the patch of a host by its place among all patches of the host.
func TestHostRefusal(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/control-plane.txtar")
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, archive.Files[0].Data, "v1.13.9")
	in.Pool.Spec.Machine.Metal.Hosts[0].Config = &api.Layer{Patches: []api.Patch{
		{Raw: []byte(`{"machine":{"sysctls":{"a":"1"}}}`)},
		{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"eno1","mtuu":1}`)},
	}}
	want := "host shelf-1 layer: patches[1]: "
	if _, err := render(in); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s…", err, want)
	}
	in.Pool.Spec.Machine.Metal.Hosts[0].Config.Patches = []api.Patch{
		{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"eno1","mtu":9000}`)},
		{Raw: []byte(`{"machine":{"token":"x"}}`)},
	}
	want = "host shelf-1 layer: patches[1].machine.token: "
	if _, err := render(in); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s…", err, want)
	}
}

// TestHostsOfAPool renders hosts that share some of their layers, alone and after each other: what is kept from one must
// not show in another.
func TestHostsOfAPool(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/control-plane.txtar")
	if err != nil {
		t.Fatal(err)
	}
	patch := func(text string) *api.Layer { return &api.Layer{Patches: []api.Patch{{Raw: []byte(text)}}} }
	hosts := []api.MetalHost{
		{Name: "one", Address: "192.0.2.1", Disk: api.InstallDisk{Path: "/dev/sda"}},
		{Name: "two", Address: "192.0.2.2", Disk: api.InstallDisk{Path: "/dev/sda"}},
		{Name: "three", Address: "192.0.2.3", Disk: api.InstallDisk{Path: "/dev/sdb"}, Config: patch(`{"machine":{"sysctls":{"a":"1"}}}`)},
		{Name: "four", Address: "192.0.2.4", Disk: api.InstallDisk{Path: "/dev/sdb"}, Config: patch(`{"apiVersion":"v1alpha1","kind":"HostnameConfig","$patch":"delete"}`)},
		{Name: "new", Address: "192.0.2.6", Disk: api.InstallDisk{Path: "/dev/sdb"}, Config: &api.Layer{Patches: []api.Patch{
			{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"eno1","mtu":9000}`)},
			{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"LinkConfig","name":"eno2","mtu":9000}`)},
			{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"VLANConfig","name":"eno1.2","vlanID":2,"parent":"eno1"}`)},
			{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"BridgeConfig","name":"br0"}`)},
			{Raw: []byte(`{"apiVersion":"v1alpha1","kind":"DummyLinkConfig","name":"dummy0"}`)},
		}}},
		{Name: "five", Address: "192.0.2.5", Disk: api.InstallDisk{Path: "/dev/sdb"}},
	}
	for _, version := range versions {
		in := input(t, archive.Files[0].Data, version)
		together, err := config.NewPool(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			alone, err := config.NewPool(in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.Host(host)
			if err != nil {
				t.Fatal(err)
			}
			got, err := together.Host(host)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s: %s after others:\n%s", version, host.Name, diff)
			}
			if host.Config == nil && !strings.Contains(string(got), "hostname: "+string(host.Name)+"\n") {
				t.Errorf("%s: %s does not have its name", version, host.Name)
			}
		}
	}
}

// BenchmarkHosts measures what one more host costs beside what all of a pool share.
func BenchmarkHosts(b *testing.B) {
	archive, err := txtar.ParseFile("testdata/metal.txtar")
	if err != nil {
		b.Fatal(err)
	}
	in := input(b, archive.Files[0].Data, "v1.14.1")
	pool, err := config.NewPool(in)
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		host := api.MetalHost{Name: api.Name(fmt.Sprintf("host-%d", i)), Disk: api.InstallDisk{Path: "/dev/sda"}}
		if _, err := pool.Host(host); err != nil {
			b.Fatal(err)
		}
	}
}
