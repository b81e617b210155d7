// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/image-factory/pkg/schematic"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

// role returns a resolved role with extensions.
func role(extensions ...string) *api.NodeRole {
	return &api.NodeRole{ObjectMeta: metav1.ObjectMeta{Name: "edge"}, Spec: api.NodeRoleSpec{Extensions: extensions}}
}

// withArguments returns a resolved role with kernel arguments.
func withArguments(arguments ...string) *api.NodeRole {
	r := role()
	r.Spec.KernelArgs = arguments
	return r
}

// builtin returns a built-in role, resolved.
func builtin(t *testing.T, name api.Name) *api.NodeRole {
	t.Helper()
	roles, err := talos.NewRoles()
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := roles.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// message is an error as text; empty if there is none.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestPublishedIdentities reproduces the identities that the factory's own tests and Talos's documentation publish.
func TestPublishedIdentities(t *testing.T) {
	and := func(r *api.NodeRole, arguments ...string) *api.NodeRole {
		r.Spec.KernelArgs = arguments
		return r
	}
	custom := func(c schematic.Customization) schematic.Schematic { return schematic.Schematic{Customization: c} }
	tests := map[string]struct {
		role *api.NodeRole
		base schematic.Schematic
		want string
	}{
		"nothing": {role(), schematic.Schematic{}, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"},
		"kernel arguments": {
			withArguments("noapic", "nolapic"), schematic.Schematic{},
			"9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c",
		},
		"META": {
			role(), custom(schematic.Customization{Meta: []schematic.MetaValue{{Key: 10, Value: "foo"}}}),
			"d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f",
		},
		"SecureBoot with well-known certificates": {
			role(), custom(schematic.Customization{SecureBoot: schematic.SecureBootCustomization{IncludeWellKnownCertificates: true}}),
			"fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
		},
		"large sectors": {
			role(), custom(schematic.Customization{DiskImage: schematic.DiskImageCustomization{SectorSize: 4096}}),
			"92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea",
		},
		"an overlay": {
			role(), schematic.Schematic{Overlay: schematic.Overlay{Name: "rpi_generic", Image: "siderolabs/sbc-raspberrypi"}},
			"ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
		},
		"one extension": {role("gvisor"), schematic.Schematic{}, "d9ff89777e246792e7642abd3220a616afb4e49822382e4213a2e528ab826fe5"},
		"two extensions and an argument": {
			and(role("gvisor", "intel-ucode"), "net.ifnames=0"), schematic.Schematic{},
			"b8e8fbbe1b520989e6c52c8dc8303070cb42095997e76e812fa8892393e1d176",
		},
		"what Longhorn wants": {
			role("iscsi-tools", "util-linux-tools"), schematic.Schematic{},
			"613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
		},
		"what Cozystack calls vanilla": {
			role("qemu-guest-agent"), schematic.Schematic{},
			"ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
		},
		"in any order, with and without prefix, and twice": {
			role("zfs", "siderolabs/drbd", "spin", "drbd", "zfs"), schematic.Schematic{},
			"5b3bba0ae2e83349e7ce3892db4dd1f6447e38fd4da3c428516616f9866a7f86",
		},
		"NVIDIA, the long-term line": {
			role("nvidia-open-gpu-kernel-modules-lts", "nvidia-container-toolkit-lts"), schematic.Schematic{},
			"86a5d7c9beb23b4aea2777e44ca06c8c2ceea8a874ccd2b9a6743c4f734329e0",
		},
		"Intel Arc": {role("intel-ucode", "mei", "xe"), schematic.Schematic{}, "9af96a9f08c57db8ac2d17a46e02c0bec464809ff843758a83ec3818522021fa"},
		"partly in the base": {
			role("intel-ucode"),
			custom(schematic.Customization{
				ExtraKernelArgs:  []string{"net.ifnames=0"},
				SystemExtensions: schematic.SystemExtensions{OfficialExtensions: []string{"siderolabs/gvisor"}},
			}),
			"b8e8fbbe1b520989e6c52c8dc8303070cb42095997e76e812fa8892393e1d176",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := image.Schematic(test.role, test.base)
			if err != nil {
				t.Fatal(err)
			}
			if id, err := got.ID(); id != test.want || err != nil {
				t.Errorf("got %s (%v), want %s", id, err, test.want)
			}
		})
	}
}

// TestBuiltinRoles holds the roles that we ship to their identities: one that changes gives every user another image.
func TestBuiltinRoles(t *testing.T) {
	vanilla := "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	want := map[api.Name]string{
		"compute":       "5b3bba0ae2e83349e7ce3892db4dd1f6447e38fd4da3c428516616f9866a7f86",
		"control-plane": vanilla,
		"gateway":       "18bf9e47e8c9ebc2f71aace6d5aa120a0e804fc232d660c9c0c34ff2e0c8d845",
		"gpu-amd":       "9c1d1b442d73f96dcd04e81463eb20000ab014062d22e1b083e1773336bc1dd5",
		"gpu-intel":     "4b3cd373a192c8469e859b7a0cfbed3ecc3577c4a2d346a37b0aeff9cd17cdb0",
		"gpu-nvidia":    "6698d6f136c5bb37ca8bb8482c9084305084da0a5ead1f4dcae760796f8ab3a2",
		"plain":         vanilla,
		"storage":       "613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
	}
	got := map[api.Name]string{}
	for _, name := range talos.BuiltinRoleNames() {
		whole, err := image.Schematic(builtin(t, api.Name(name)), schematic.Schematic{})
		if err != nil {
			t.Fatal(err)
		}
		if got[api.Name(name)], err = whole.ID(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestKernelArgumentsKeepTheirOrder(t *testing.T) {
	got, err := image.Schematic(withArguments("console=ttyS1", "-console", "console=ttyS0", "-console"), schematic.Schematic{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"console=ttyS1", "-console", "console=ttyS0"}, got.Customization.ExtraKernelArgs); diff != "" {
		t.Error(diff)
	}
}

func TestSchematicLeavesItsInputAlone(t *testing.T) {
	declared := role("zfs", "drbd")
	if _, err := image.Schematic(declared, schematic.Schematic{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"zfs", "drbd"}, declared.Spec.Extensions); diff != "" {
		t.Error(diff)
	}
}

func TestARoleMustBeResolved(t *testing.T) {
	r := role("tailscale")
	r.Spec.Extends = "compute"
	_, err := image.Schematic(r, schematic.Schematic{})
	want := `role "edge" extends "compute": resolve it first, or the image would lack what that brings`
	if message(err) != want {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreRefused(t *testing.T) {
	tests := map[string]struct{ argument, want string }{
		"a harmless one":              {"talos.config=https://boot.example.com/config?uuid=${uuid}", ""},
		"a driver's setting":          {"amdgpu.gttsize=131072", ""},
		"one with a long name":        {"module.sixteencharacter=1", ""},
		"a certificate":               {"ca=-----BEGIN CERTIFICATE-----", ""},
		"a key of Tailscale":          {"ts=tskey-auth-kXYZ", `kernel argument "ts" seems to hold a Tailscale key`},
		"a token by name":             {"join_token=abc", `kernel argument "join_token" seems to hold a secret, by its name`},
		"a token in an address":       {"siderolink.api=https://omni.example.com?jointoken=abc", `kernel argument "siderolink.api" seems to hold a secret, by its name`},
		"a password":                  {"rd.password=hunter2", `kernel argument "rd.password" seems to hold a secret, by its name`},
		"a password in an address":    {"talos.config=https://me:hunter2@boot.example.com", `kernel argument "talos.config" seems to hold a password in an address`},
		"a key in PEM":                {"key=-----BEGIN EC PRIVATE KEY-----", `kernel argument "key" seems to hold a key in PEM`},
		"a bootstrap token":           {"x=abcdef.0123456789abcdef", `kernel argument "x" seems to hold a bootstrap token`},
		"a key of age without a name": {"AGE-SECRET-KEY-1QQQQ", `kernel argument "…" seems to hold a key of age`},
		"a token of GitHub":           {"x=ghp_0123456789abcdefABCDEF", `kernel argument "x" seems to hold a token of GitHub or GitLab`},
		"a signed token":              {"x=eyJhbGciOiJIUzI1NiJ9.e30.abc", `kernel argument "x" seems to hold a signed token`},
		"a key of AWS":                {"x=AKIAIOSFODNN7EXAMPLE", `kernel argument "x" seems to hold a key of AWS`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := image.Schematic(withArguments("quiet", test.argument), schematic.Schematic{})
			want := ""
			if test.want != "" {
				want = `role "edge": ` + test.want + `: an image and its schematic are public, so give it by the machine configuration`
			}
			if message(err) != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if _, value, _ := strings.Cut(test.argument, "="); err != nil && value != "" && strings.Contains(err.Error(), value) {
				t.Error("the error shows the secret")
			}
		})
	}
	for name, part := range map[string]schematic.Customization{
		"META value 10":                      {Meta: []schematic.MetaValue{{Key: 10, Value: "tskey-1"}}},
		"the embedded machine configuration": {EmbeddedMachineConfiguration: "machine:\n  token: abc\n"},
	} {
		_, err := image.Schematic(role(), schematic.Schematic{Customization: part})
		if !strings.Contains(message(err), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
