// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// noDisk is the path of a host whose disk is chosen by a selector that our kinds have no word for. There is no such
// device: should the selector get lost, Talos stops instead of installing to the wrong disk.
const noDisk = "/dev/disk/by-selector"

// hostnameOf is the host name in a configuration, or else what the other tool calls the machine.
func hostnameOf(machine *Machine) string {
	return cmp.Or(
		text(machine.Config.Document("HostnameConfig"), "hostname"),
		text(machine.Config.Document(""), "machine", "network", "hostname"),
		machine.Name,
	)
}

// firstLabel is a host name without its domain.
func firstLabel(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}

// ownFields are paths of a machine's configuration that our host says by fields of its own, by the kind of document. They
// are taken out of patches.
var ownFields = map[string][][]string{
	"":                        {{"machine", "install", "disk"}, {"machine", "install", "image"}, {"machine", "network", "hostname"}},
	"HostnameConfig":          {{"hostname"}, {"auto"}},
	"UnattendedInstallConfig": {{"installer", "image"}, {"provisioning", "diskSelector"}},
}

// A diskNote is why our kinds cannot say which disk a machine is installed to, in short and in full.
type diskNote struct{ short, full string }

// diskOf is the disk that a machine is installed to.
func diskOf(machine *Machine) (api.InstallDisk, diskNote) {
	install := machine.Config.Document("UnattendedInstallConfig")
	if match := text(install, "provisioning", "diskSelector", "match"); match != "" {
		if path := ourPath(match); path != "" {
			return api.InstallDisk{Path: path}, diskNote{}
		}
		return api.InstallDisk{Match: match}, diskNote{}
	}
	old := machine.Config.Document("")
	path, selector := text(old, "machine", "install", "disk"), patch.Get(old, "machine", "install", "diskSelector")
	switch {
	case selector == nil && strings.HasPrefix(path, "/dev/"):
		return api.InstallDisk{Path: path}, diskNote{}
	case selector != nil:
		return api.InstallDisk{Path: noDisk}, diskNote{
			short: "a patch chooses the disk by a selector; disk.path names no device",
			full:  "the disk is chosen by machine.install.diskSelector, for which a MetalHost has no word before Talos 1.14: disk.path stands for it and names no device; with 1.14, write disk.match and remove the patch",
		}
	}
	return api.InstallDisk{Path: noDisk}, diskNote{
		short: "no disk to install to is named: set disk.path",
		full:  fmt.Sprintf("no disk to install to is named (machine.install.disk is %q): set disk.path", path),
	}
}

// ourPath is the path that the expression of our own renderer is made from, if it is one.
func ourPath(match string) string {
	quoted, _, _ := strings.Cut(strings.TrimPrefix(match, "disk.dev_path == "), " || ")
	path, err := strconv.Unquote(quoted)
	if err != nil || match != fmt.Sprintf("disk.dev_path == %q || %q in disk.symlinks", path, path) {
		return ""
	}
	return path
}
