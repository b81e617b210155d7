// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// nvidiaModules are the extensions that hold kernel modules of NVIDIA.
var nvidiaModules = []string{
	"nvidia-open-gpu-kernel-modules-lts", "nvidia-open-gpu-kernel-modules-production", "nonfree-kmod-nvidia-lts", "nonfree-kmod-nvidia-production",
}

// devices are the words for hardware and what needs tools on the machine, each with the extensions of which one is enough.
var devices = map[string][]string{
	"nvidia": nvidiaModules, "nvidia-gpu": nvidiaModules, "amd-gpu": {"amdgpu"}, "intel-gpu": {"i915", "xe"}, "intel-arc": {"xe", "i915"}, "intel-npu": {"intel-npu"},
	"intel-e800": {"intel-ice-firmware"}, "broadcom-bnx2": {"bnx2-bnx2x"}, "realtek": {"realtek-firmware"}, "qlogic": {"qlogic-firmware"},
	"chelsio": {"chelsio-drivers", "chelsio-firmware"}, "amazon-ena": {"amazon-ena"}, "coral": {"gasket-driver"}, "hailo": {"hailort"}, "tenstorrent": {"tenstorrent"},
	"iscsi": {"iscsi-tools", "trident-iscsi-tools"}, "nfs": {"nfs-utils"}, "nfs-server": {"nfsd"}, "multipath": {"multipath-tools"}, "thunderbolt": {"thunderbolt"},
	"usb-modem": {"usb-modem-drivers"}, "webcam": {"v4l-uvc-drivers"}, "usb-audio": {"usb-audio-drivers"}, "ups": {"nut-client"},
}

// hardware wants extensions for hardware that is declared.
func hardware(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		words := needed(machine)
		if len(words) == 0 {
			continue
		}
		if !machine.ExtensionsKnown {
			sheet.Unknown(machine.At(""), "which extensions are in the image of %s is not known", machine.Name)
			continue
		}
		for _, word := range words {
			wanted, known := devices[word]
			switch {
			case !known:
				sheet.Unknown(machine.At(""), "%s is noted to have %q, which is none of %s", machine.Name, word, strings.Join(slices.Sorted(maps.Keys(devices)), ", "))
			case !slices.ContainsFunc(wanted, machine.HasExtension):
				sheet.Fail(machine.At(""), "%s has %s, and its image lacks %s", machine.Name, word, strings.Join(wanted, " or "))
			default:
				sheet.Pass(machine.At(""))
			}
		}
	}
}

// needed are the words for what a machine has: noted, or declared of its role.
func needed(machine *facts.Machine) []string {
	words := slices.DeleteFunc(machine.Hardware(), func(word string) bool { return word == "none" })
	for _, maker := range []string{"amd", "intel"} { // a maker alone means its graphics processor
		if at := slices.Index(words, maker); at >= 0 {
			words[at] = maker + "-gpu"
		}
	}
	if gpu, known := machine.GPU(); known && gpu != "" && !slices.Contains(words, gpu) && !slices.Contains(words, gpu+"-gpu") {
		words = append(words, gpu+"-gpu")
	}
	return words
}

// brought are kernel modules that are not in Talos's kernel, with the extensions that bring them.
var brought = map[string][]string{
	"drbd": {"drbd"}, "drbd_transport_tcp": {"drbd"}, "zfs": {"zfs"}, "spl": {"zfs"}, "btrfs": {"btrfs"}, "nfsd": {"nfsd"}, "gasket": {"gasket-driver"}, "apex": {"gasket-driver"},
	"nvidia": nvidiaModules, "nvidia_uvm": nvidiaModules, "nvidia_drm": nvidiaModules, "nvidia_modeset": nvidiaModules,
	"amdgpu": {"amdgpu"}, "i915": {"i915"}, "xe": {"xe"}, "mei": {"mei"}, "mei_me": {"mei"}, "intel_vpu": {"intel-npu"}, "thunderbolt": {"thunderbolt"},
	"uinput": {"uinput"}, "uhid": {"uhid"}, "joydev": {"joydev"}, "vc4": {"vc4"}, "panfrost": {"panfrost"}, "binfmt_misc": {"binfmt-misc"},
	"uvcvideo": {"v4l-uvc-drivers"}, "snd_usb_audio": {"usb-audio-drivers"}, "xdma": {"xdma-driver"}, "px": {"px-fuse"}, "hailo_pci": {"hailort"}, "tenstorrent": {"tenstorrent"},
}

// base are modules of Talos's own kernel that configurations load. It has many more.
var base = []string{
	"nvme_tcp", "nvme_fabrics", "vfio_pci", "vfio_iommu_type1", "uio_pci_generic", "dm_multipath", "dm_round_robin", "dm_queue_length", "dm_thin_pool", "dm_snapshot",
	"dm_crypt", "dm_raid", "dm_mirror", "br_netfilter", "ip_vs", "ip_vs_rr", "nbd", "rbd", "ceph", "iscsi_tcp", "wireguard", "tun", "overlay", "nf_conntrack", "tcp_bbr",
	"vhost_net", "vhost_vsock", "kvm", "kvm_intel", "kvm_amd", "nfs", "nfsv4", "bonding", "8021q", "xfs", "fuse", "raid1", "raid10", "target_core_mod", "dm_cache",
}

// modules wants kernel modules that exist.
func modules(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		for _, name := range slices.Sorted(maps.Keys(machine.Modules())) {
			module := strings.ReplaceAll(name, "-", "_") // the kernel takes one for the other
			from, extra := brought[module]
			switch place := machine.At("machine.kernel.modules"); {
			case slices.Contains(base, module):
				sheet.Pass(place)
			case !extra:
				sheet.Unknown(place, "%s loads %s, and whether Talos's kernel has that is not known", machine.Name, name)
			case !machine.ExtensionsKnown:
				sheet.Unknown(place, "%s loads %s, and which extensions are in its image is not known", machine.Name, name)
			case !slices.ContainsFunc(from, machine.HasExtension):
				sheet.Fail(place, "%s loads %s, and its image has no extension that brings it: %s", machine.Name, name, strings.Join(from, " or "))
			default:
				sheet.Pass(place)
			}
		}
	}
}

// settings wants the kernel settings that extensions need.
func settings(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		for _, name := range machine.Extensions {
			found, _ := catalogue().Find(name)
			for _, key := range slices.Sorted(maps.Keys(found.Sysctls)) {
				wanted, place := found.Sysctls[key], machine.At("machine.sysctls")
				switch own := machine.Sysctls()[key]; {
				case machine.Config == nil:
					sheet.Unknown(place, "%s has %s, and its configuration cannot be read", machine.Name, name)
				case !enough(own, wanted):
					sheet.Fail(place, "%s has %s, which needs %s=%s, and it is %q", machine.Name, name, key, wanted, own)
				default:
					sheet.Pass(place)
				}
			}
		}
	}
}

// enough says whether a setting is what is wanted, or a larger number.
func enough(own, wanted string) bool {
	a, errA := strconv.Atoi(own)
	b, errB := strconv.Atoi(wanted)
	return own == wanted || errA == nil && errB == nil && a >= b
}
