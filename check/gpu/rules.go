// SPDX-License-Identifier: Apache-2.0

// Package gpu has the rules about machines with graphics processors.
package gpu

import (
	"embed"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule { return rule.Set(examples, slices.Concat(nvidia(), others())...) }

// nvidia are the rules about NVIDIA's processors.
func nvidia() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "GPU-001", Title: "a machine with NVIDIA's extensions loads the four modules",
			Question: "Is the driver loaded? The extension brings the modules and keeps them from loading by themselves: without the list its service waits, and the machine reboots after 70 minutes, again and again.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "load nvidia, nvidia_uvm, nvidia_drm and nvidia_modeset",
			Sources: []string{"T"}, Judge: modules,
		},
		{
			ID: "GPU-002", Title: "the setting for NVIDIA's toolkit is there while it is needed",
			Question: "Can containers get the processor? Up to Talos 1.12 the toolkit needs net.core.bpf_jit_harden=1, which weakens the kernel; from 1.13 it does not.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "set the sysctl up to 1.12, and remove it from 1.13 on",
			Sources: []string{"T"}, Judge: hardening,
		},
		{
			ID: "GPU-003", Title: "from Talos 1.13 the operator of NVIDIA is told what Talos does, and the old ways are gone",
			Question: "Do two things hand out the same processor? From 1.13 the GPU operator does it, with the driver and the toolkit of Talos; the old device plugin and its RuntimeClass are in its way.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "set driver.enabled and toolkit.enabled to false and hostPaths.driverInstallDir to /usr/local; remove the device plugin and the RuntimeClass nvidia",
			Sources: []string{"T"}, Judge: operator,
		},
		{
			ID: "GPU-004", Title: "up to Talos 1.12 there is a RuntimeClass for NVIDIA, and the device plugin uses it",
			Question: "Does the device plugin see the processor? It must run with the runtime that passes it on.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "add a RuntimeClass nvidia with the handler nvidia, and runtimeClassName: nvidia to the device plugin",
			Sources: []string{"T"}, Judge: plugin,
		},
		{
			ID: "GPU-005", Title: "the driver is one that the processor works with",
			Question: "Does the driver know the processor? The open modules begin with the Turing generation; older ones, and the GB10, need the proprietary.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "use nonfree-kmod-nvidia of the same line; for a GB10 add the kernel argument arm64.nobti as well",
			Sources: []string{"T"}, Judge: generation,
		},
	}
}

// others are the rules about other vendors, and about all.
func others() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "GPU-006", Title: "a machine with AMD's graphics has the driver and the microcode",
			Question: "Is the processor usable? The driver comes with the extension amdgpu; a Strix Halo needs kernel arguments to lend it the memory.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "add amdgpu and amd-ucode; for a Strix Halo add amd_iommu=off, amdgpu.gttsize and ttm.pages_limit to the kernel arguments",
			Sources: []string{"T"}, Judge: amd,
		},
		{
			ID: "GPU-007", Title: "a machine with Intel's graphics has the driver of its generation",
			Question: "Is the processor usable? Older generations want i915, from Battlemage and Lunar Lake on it is xe, and a discrete Arc wants mei as well.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "add i915 or xe by generation, and mei for a discrete Arc",
			Sources: []string{"T"}, Judge: intel,
		},
		{
			ID: "GPU-008", Title: "machines with graphics processors are kept for work that wants them",
			Question: "Does ordinary work fill the machines with the expensive processors, and does work that wants one find it? A taint keeps the others out, a label by vendor leads there.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "put a taint and a label by vendor on the machines, and tolerations on the workloads",
			Sources: []string{"ADR-0005"}, Judge: dedicated,
		},
		{
			ID: "GPU-009", Title: "an image has the drivers of one vendor",
			Question: "Is the image larger than it must be, and does it boot everywhere? Drivers of several vendors in one image are all upgraded for each, and NVIDIA's service waits where there is no such processor.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic}, Remedy: "make a role for each vendor",
			Sources: []string{"T"}, Judge: oneVendor,
		},
	}
}
