// SPDX-License-Identifier: Apache-2.0

package image

import (
	"github.com/siderolabs/talos/pkg/machinery/platforms"
)

// A Kind is a kind of file that an image can be had as.
type Kind string

// The kinds of files.
const (
	Disk      Kind = "disk"      // Disk is a disk with Talos on it.
	ISO       Kind = "iso"       // ISO boots from a medium and installs.
	PXE       Kind = "pxe"       // PXE is a script that boots from the network.
	Kernel    Kind = "kernel"    // Kernel is the kernel alone.
	Initramfs Kind = "initramfs" // Initramfs is what the kernel unpacks, the extensions among it.
	Cmdline   Kind = "cmdline"   // Cmdline is the kernel's command line.
	UKI       Kind = "uki"       // UKI is kernel, initramfs and command line in one file.
	Installer Kind = "installer" // Installer is the container image that installs and upgrades.
)

// Kinds returns the kinds that have an address.
func Kinds() []Kind { return []Kind{Disk, ISO, PXE, Kernel, Initramfs, Cmdline, UKI} }

// An asset is how Talos's own table of platforms names a kind of file.
type asset struct {
	name     string // what people call it
	method   string // how a platform must boot for the file to be of use; empty if that does not matter
	unsigned bool   // a machine with SecureBoot does not start it
	path     func(p platforms.Platform, architecture string, secureBoot bool) string
}

var assets = map[Kind]asset{
	Disk: {
		name: "disk image", method: platforms.BootMethodDiskImage,
		path: either(platforms.Platform.DiskImageDefaultPath, platforms.Platform.SecureBootDiskImageDefaultPath),
	},
	ISO: {
		name: "ISO image", method: platforms.BootMethodISO,
		path: either(platforms.Platform.ISOPath, platforms.Platform.SecureBootISOPath),
	},
	PXE: {
		name: "PXE script", method: platforms.BootMethodPXE,
		path: either(platforms.Platform.PXEScriptPath, platforms.Platform.SecureBootPXEScriptPath),
	},
	Kernel: {
		name: "kernel", unsigned: true,
		path: either(platforms.Platform.KernelPath, platforms.Platform.KernelPath),
	},
	Initramfs: {
		name: "initramfs", unsigned: true,
		path: either(platforms.Platform.InitramfsPath, platforms.Platform.InitramfsPath),
	},
	Cmdline: {
		name: "command line",
		path: either(platforms.Platform.CmdlinePath, func(p platforms.Platform, architecture string) string {
			return p.CmdlinePath(architecture) + "-secureboot" // the table has no name for it; the factory has
		}),
	},
	UKI: {
		name: "UKI",
		path: either(platforms.Platform.UKIPath, platforms.Platform.SecureBootUKIPath),
	},
}

// either chooses between two names of a file.
func either(plain, secure func(platforms.Platform, string) string) func(platforms.Platform, string, bool) string {
	return func(p platforms.Platform, architecture string, secureBoot bool) string {
		if secureBoot {
			return secure(p, architecture)
		}
		return plain(p, architecture)
	}
}

// bootKinds are the kinds of files from which machines of a platform boot.
func bootKinds(platform platforms.Platform) []Kind {
	var kinds []Kind
	for _, kind := range Kinds() {
		for _, method := range platform.BootMethods {
			if assets[kind].method == method {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}
