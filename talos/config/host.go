// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"

	api "minos.dev/minos/api/v1alpha1"
)

// host sets what one machine of metal has of its own: its name and the disk that Talos is installed on.
func (s *setter) host(host api.MetalHost, installer string) error {
	if s.contract.MultidocNetworkConfigSupported() {
		s.add("HostnameConfig", document{"auto": "off", "hostname": string(host.Name)})
	} else {
		s.field(string(host.Name), "machine", "network", "hostname")
	}
	if s.contract.UnattendedInstallConfig() {
		s.add("UnattendedInstallConfig", document{
			"installer":    document{"image": installer},
			"provisioning": document{"diskSelector": document{"match": diskExpression(host.Disk)}},
		})
		return nil
	}
	if host.Disk.Path == "" {
		return errors.New("disk.match needs Talos 1.14 or newer: give disk.path")
	}
	s.field(host.Disk.Path, "machine", "install", "disk")
	return nil
}

// diskExpression says which disk is meant, as Talos 1.14 wants it.
func diskExpression(disk api.InstallDisk) string {
	if disk.Match != "" {
		return disk.Match
	}
	// A path may be one of the links that udev makes, which stay the same between boots.
	return fmt.Sprintf("disk.dev_path == %q || %q in disk.symlinks", disk.Path, disk.Path)
}
