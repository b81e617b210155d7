// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// surroundings are the rules about what stands beside configurations.
func surroundings() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-015", Title: "nothing handles machines as an ordinary Linux",
			Question: "Does something expect SSH, packages or files to edit? Talos has none of them on purpose: such a script fails, or it changes what is gone after the next boot.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree, facts.Config, facts.Manifests}, Remedy: "use the machine configuration and talosctl, or an extension for what the system itself lacks",
			Sources: []string{"A1", "X", "X Kubernetes", "X infrastructure"}, Judge: habits,
		},
		{
			ID: "CFG-020", Title: "every object has one owner: Talos, or Argo CD and Flux",
			Question: "Who decides what an object looks like? Talos applies its inline manifests again with every change of Kubernetes; an object that Argo CD or Flux owns too changes back and forth. And machine configurations are no objects of the cluster that they make.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Manifests, facts.Config}, Remedy: "leave to Talos what the cluster needs to start, and give the rest to one owner",
			Sources: []string{"X", "X ArgoCD", "P1"}, Judge: separate,
		},
	}
}

// installers are the rules about how machines are installed.
func installers() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-016", Title: "configurations are kept on the machine, and debug is off in production",
			Question: "Does the machine still have its configuration after a reboot, and is its console readable? Without persist it waits to be configured again; with debug every service writes all it does to the console.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "set persist to true, or leave it out; set debug to false",
			Sources: []string{"T"}, Judge: switches,
		},
		{
			ID: "CFG-017", Title: "the image that machines are installed with is fixed, and of the declared version",
			Question: "Does a machine that is installed tomorrow get the same Talos? A tag such as latest moves; another version than the declared one is found by the next upgrade. In production somebody could move even the tag of a version: a digest, or a schematic of a factory, cannot be moved.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "name an image of a factory with its version, or add the digest to the tag",
			Sources: []string{"P3"}, Judge: fixed,
		},
		{
			ID: "CFG-018", Title: "extensions and kernel arguments come from the image",
			Question: "Will the machine have them after the next upgrade? Extensions in the configuration are given up by Talos; kernel arguments in it are not seen by machines that boot a unified kernel image, and dropped with GRUB by upgrades from 1.13.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "put them in the schematic: customization.systemExtensions and customization.extraKernelArgs",
			Sources: []string{"T"}, Judge: unpatched,
		},
	}
}

// contents are the rules about single values.
func contents() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "CFG-019", Title: "every secret of a configuration is there, and is one",
			Question: "Did somebody fill in all secrets? A machine with an empty token cannot join; one with the token of the documentation joins whoever knows it.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "make the configuration with the secrets of the cluster, and commit it encrypted",
			Sources: []string{"T"}, Judge: filled,
		},
		{
			ID: "CFG-021", Title: "manifests that Talos brings are fixed by a version or a digest",
			Question: "Is what a new cluster gets at its start the same tomorrow? An address that ends in main, or an image without a tag, is something else without anybody changing anything.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Config}, Remedy: "name a release or a commit in the address, and a version or a digest with every image",
			Sources: []string{"P3"}, Judge: fixedManifests,
		},
		{
			ID: "CFG-022", Title: "machines have names of their own that stay, and labels that they may have",
			Question: "Is every machine one Node, and always the same? Two machines of one name fight for one Node; a name that follows from the address leaves a dead Node behind. And a label that a worker may not set keeps all of its labels away.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Spec}, Remedy: "give each machine a hostname of its own, and labels names of your own, such as example.com/zone",
			Sources: []string{"T"}, Judge: distinct,
		},
	}
}
