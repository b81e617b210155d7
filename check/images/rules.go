// SPDX-License-Identifier: Apache-2.0

// Package images has the rules about images: what they are made from, how they are named, and who builds them.
package images

import (
	"embed"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples, slices.Concat(schematics(), installers(), profiles(), releases(), builds())...)
}

// schematics are the rules about schematics.
func schematics() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "IMG-001", Title: "a factory would take the schematic",
			Question: "Can an image be made from the schematic? A factory refuses fields that it does not know; fields that the version of Talos does not know are left out of the image, or fail only when it is built.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "correct the field, or use a version of Talos that has it",
			Sources: []string{"T"}, Judge: readable,
		},
		{
			ID: "IMG-002", Title: "the extensions of a schematic are sorted, and each is there once",
			Question: "Has one set of extensions one identity? The ID of a schematic is the sum of its text: the same extensions in another order are another image, which nobody has tested and which a web page of the factory never shows.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic}, Remedy: "sort the list and use the ID that it has then",
			Sources: []string{"T"}, Judge: sorted,
		},
		{
			ID: "IMG-003", Title: "the ID of a schematic is the one that its text has",
			Question: "Does the machine get the image that the schematic in this folder describes? An ID that was copied before the last change of the schematic stands for the image of before.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "write the ID that belongs to the schematic: 'minos image id' prints that of a role",
			Sources: []string{"P3"}, Judge: identified,
		},
		{
			ID: "IMG-011", Title: "what is called vanilla is the image without anything in it",
			Question: "Does the name say the truth? An ID that goes from one page to another as the plain image, and has an extension in it, brings the extension's services to every machine.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Schematic, facts.Tree, facts.Spec}, Remedy: "call it by what is in it, or use 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
			Sources: []string{"T"}, Judge: plain,
		},
	}
}

// installers are the rules about what machines are installed with.
func installers() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "IMG-004", Title: "machines start with the image that they are installed with",
			Question: "Is what a machine starts with what it has afterwards? A machine that starts from one schematic and is installed from another has drivers in one of them only: the disk or the network card may be missing when it is needed.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "use one schematic for both, or note the other one as check.minos.dev/boot-asset",
			Sources: []string{"A3"}, Judge: sameAsset,
		},
		{
			ID: "IMG-005", Title: "the installer image has the form that factories use today",
			Question: "Would the installer be found? Its name holds the platform, the schematic and the version. The old form without a platform means metal, whatever the machine is.",
			Severity: rule.Info, Inputs: []facts.Input{facts.Config}, Remedy: "write factory.talos.dev/metal-installer/<schematic>:<version>, with the platform of the machine",
			Sources: []string{"T"}, Judge: formed,
		},
		{
			ID: "IMG-006", Title: "the installer is of the platform of the machine",
			Question: "Does the machine find its configuration after the next upgrade? From Talos 1.10 on the installer brings the kernel's arguments, which name the platform: with those of another one the machine looks for its configuration in the wrong place.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Spec}, Remedy: "use <platform>-installer with the platform of the machine",
			Sources: []string{"T"}, Judge: samePlatform,
		},
		{
			ID: "IMG-007", Title: "nothing from Talos 1.14 on uses ghcr.io/siderolabs/installer",
			Question: "Can the image be pulled? Talos 1.14 no longer publishes it: an installation or a build with it finds nothing.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Schematic, facts.Tree}, Remedy: "use an installer of a factory; to build an image use ghcr.io/siderolabs/installer-base",
			Sources: []string{"T"}, Judge: published,
		},
	}
}

// profiles are the rules about what the imager builds.
func profiles() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "IMG-008", Title: "the imager would take the profile",
			Question: "Can the image be built? The imager wants an architecture and a kind that it knows, a size for a disk, no META in an installer, and no arguments in a bare kernel.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "correct the field, or make the profile with 'minos image profile'",
			Sources: []string{"T"}, Judge: buildable,
		},
		{
			ID: "IMG-009", Title: "extensions of a profile are pinned, and those with kernel modules are of its version",
			Question: "Is the image the same tomorrow, and does it load its modules? A tag can move; and kernel modules are signed for one build of the kernel: those of another version, even of the next patch, are refused at boot.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "make the profile again with the digests of its version: 'minos image profile --digests'",
			Sources: []string{"F5"}, Judge: pinned,
		},
	}
}

// releases are the rules about versions.
func releases() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "IMG-010", Title: "the version of Talos is one that was released",
			Question: "Is there an image of this version? A factory makes images of released versions only, and holds back those that are known to be broken.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Spec, facts.Config}, Remedy: "choose a release that exists, the latest patch of its line if possible",
			Sources: []string{"T"}, Judge: released,
		},
	}
}

// builds are the rules about building images.
func builds() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "IMG-012", Title: "the pipeline builds an image of every role and processor, each under a name of its own",
			Question: "Does every machine get an image that was built for it? A role that the matrix leaves out runs an old image; and where two roles share a name, the job that ends last decides what both run.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Workflows}, Remedy: "make the workflow again: 'minos image matrix -o workflow'",
			Sources: []string{"ADR"}, Judge: covered,
		},
		{
			ID: "IMG-013", Title: "a patch of Cozystack's image build makes a role variables, and changes nothing else",
			Question: "Does the patch fit, and only do what it should? One that writes a set of extensions into the script is needed once for every role, and each has to be mended with every release; and one that changes what comes out without it changes everybody's image.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "make it again from the script of the release: 'minos image patch'",
			Sources: []string{"ADR", "ADR test 04"}, Judge: patches,
		},
	}
}
