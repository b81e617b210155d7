// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// Questions are all questions, in the order in which they are asked: what the cluster is, then the ten lines of the
// checklist, then who decided.
func Questions() []Question {
	return slices.Concat(identity, machines, parts, care)
}

// identity is what the cluster is called and what it runs.
var identity = []Question{
	{
		Name: "profile", Options: Profiles(), hosted: true,
		Ask:    "What is the cluster for?",
		Help:   "homelab: a few machines at home; production: a rack that others depend on; edge: one machine far away; hosted: virtual machines of a management cluster",
		Usage:  "`profile` that answers what flags do not: homelab, production, edge or hosted",
		preset: func(*Answers) string { return string(Homelab) },
		set:    func(a *Answers, text string) error { a.Profile = Profile(text); return nil },
	},
	{
		Name: "name", hosted: true,
		Ask:    "What is the cluster called?",
		Help:   "lower-case letters, digits and '-'; names of pools and machines begin with it",
		Usage:  "`name` of the cluster (default: that of the folder)",
		preset: presetName,
		set:    setName,
	},
	{
		Name: "talos", hosted: true,
		Ask:    "Which version of Talos?",
		Help:   "one for all machines: a full version, or a line such as v1.13 for the newest of it that is known here",
		Usage:  "Talos `version`, or a line such as v1.13 (default: the newest)",
		preset: func(*Answers) string { return newestTalos() },
		set: func(a *Answers, text string) (err error) {
			if a.Talos, err = talosVersion(text); err != nil {
				err = wrong("talos", "%w", err)
			}
			return err
		},
	},
	{
		Name: "kubernetes", hosted: true,
		Ask:   "Which version of Kubernetes?",
		Help:  "the Talos version must support it",
		Usage: "Kubernetes `version` (default: the newest that Talos runs)",
		preset: func(a *Answers) string {
			version, _ := newestKubernetes(a.Talos) // it has one, or it would not have been taken
			return string(version)
		},
		set: func(a *Answers, text string) error { a.Kubernetes = api.KubernetesVersion(text); return nil },
	},
	{
		Name: "arch", Type: "arch", Quiet: true, hosted: true,
		Options: []string{string(api.AMD64), string(api.ARM64)},
		Usage:   "architecture of the machines: amd64 or arm64",
		preset:  func(*Answers) string { return string(api.AMD64) },
		set:     func(a *Answers, text string) error { a.Architecture = api.Architecture(text); return nil },
	},
}

// machines is where the machines are, how many they are and how they are managed: the first three lines.
var machines = []Question{
	{
		Name: "platform", Options: []string{Metal, Virtual, Cloud, AtEdge}, fixed: Virtual,
		Ask:    "Where do the machines run?",
		Help:   "metal: machines of your own; virtual: machines of a hypervisor; cloud: rented ones; edge: a place without much room or many hands",
		Usage:  "`platform` of the machines: metal, virtual, cloud or edge",
		preset: func(a *Answers) string { return a.preset().platform },
		set:    func(a *Answers, text string) error { a.Platform = text; return nil },
	},
	{
		Name: "topology", Options: []string{single, three, five},
		Ask:   "How many machines run the control plane?",
		Help:  "three survive the loss of one, five of two; one is a single point of failure and needs a backup",
		Usage: "`number` of control planes: single, three or five",
		preset: func(a *Answers) string {
			if len(a.Planes) > 0 {
				return topologyOf(len(a.Planes))
			}
			return a.preset().topology
		},
		set: func(a *Answers, text string) error { a.ControlPlanes = topologies[text]; return nil },
	},
	{
		Name: "workloads", Options: []string{"true", "false"}, Switch: true,
		Ask:    "May ordinary workloads run on the control planes?",
		Help:   "false keeps them apart, as production wants it; true makes use of few machines",
		Usage:  "let ordinary workloads run on the control planes",
		preset: func(a *Answers) string { return boolWord(a.preset().workloads) },
		set:    func(a *Answers, text string) error { a.Workloads = text == "true"; return nil },
	},
	{
		Name: "control-plane", Many: true, Place: true,
		Ask:    "Which machines run the control plane?",
		Help:   "NAME=ADDRESS of each, with blanks between; Enter alone writes made-up ones for you to change",
		Usage:  "`name=address` of a control plane, repeated for each",
		preset: func(*Answers) string { return "" },
		set:    setPlanes,
	},
	{
		Name: "worker", Many: true, Place: true,
		Ask:    "Which machines are workers?",
		Help:   "as before; 'none' is right if the control planes take the work",
		Usage:  "`name=address` of a worker, repeated for each; none for no workers",
		preset: func(*Answers) string { return "" },
		set: func(a *Answers, text string) (err error) {
			if a.WithoutWorkers = text == None; !a.WithoutWorkers {
				a.Workers, err = hosts("worker", text)
			}
			return err
		},
	},
	{
		Name: "disk", Place: true,
		Ask:    "Which disk is Talos installed on?",
		Help:   "'talosctl get disks --insecure -n ADDRESS' lists those of a machine; a name of /dev/disk/by-id stays the same",
		Usage:  "`path` of the disk for Talos (default: /dev/sda)",
		preset: func(*Answers) string { return "/dev/sda" },
		set:    setDisk,
	},
	{
		Name: "management", Options: []string{ByGit, ByCI, ByOperator}, fixed: ByOperator,
		Ask:    "How do configurations reach the machines?",
		Help:   "git: you apply what Minos renders from this folder; ci: a pipeline does, after a review; operator: only with the profile hosted",
		Usage:  "`way` in which configurations are applied: git (by hand), ci or operator (hosted)",
		preset: func(a *Answers) string { return a.preset().management },
		set:    setManagement,
	},
}

// boolWord is a switch as a word.
func boolWord(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// presetName is the name of the folder, where a cluster can be called so.
func presetName(a *Answers) string {
	if name := strings.ToLower(a.facts.Folder); label(name) {
		return name
	}
	return ""
}

// setName takes the name of the cluster.
func setName(a *Answers, text string) error {
	switch {
	case text == "":
		return wrong("name", "none can be made from the name of the folder: give one, such as home")
	case !label(text):
		return wrong("name", "%q is not made of lower-case letters, digits and '-', from a letter or digit to a letter or digit", text)
	case len(text) > longestName:
		return wrong("name", "%q has %d characters, and %d are allowed: names of pools are made from it", text, len(text), longestName)
	}
	a.Name = text
	return nil
}

// setPlanes takes the control planes. etcd decides by majority, so that an even number only adds what can fail.
func setPlanes(a *Answers, text string) (err error) {
	if a.Planes, err = hosts("control-plane", text); err != nil {
		return err
	}
	if count := len(a.Planes); count > 0 && topologyOf(count) == "" {
		return wrong("control-plane", "there are %d, and etcd wants one, three or five", count)
	}
	return nil
}

// setManagement takes who applies configurations.
func setManagement(a *Answers, text string) error {
	a.Management = text
	if a.Profile == "" {
		return nil // it is asked for later, and looked at then
	}
	return a.checkManagement()
}

// setDisk takes the disk.
func setDisk(a *Answers, text string) error {
	if !strings.HasPrefix(text, "/dev/") || len(text) == len("/dev/") {
		return wrong("disk", "%q is not a device: give a path such as /dev/sda or one of /dev/disk/by-id", text)
	}
	a.Disk = text
	return nil
}
