// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// needy are namespaces whose software needs privileges. The list is ours: what is known of charts that run on Talos.
var needy = []string{
	"longhorn-system", "rook-ceph", "gpu-operator", "mayastor", "openebs", "piraeus-datastore", "piraeus-system", "linstor", "metallb-system", "intel-device-plugins", "amd-gpu-operator",
	"kube-amd-gpu", "node-feature-discovery", "democratic-csi", "calico-system", "tigera-operator", "multus", "falco", "tetragon", "spegel", "nvidia-device-plugin",
}

// podSecurity wants pods to be held to the baseline.
func podSecurity(all *facts.Facts, sheet *rule.Sheet) {
	planes(all, sheet, func(machine *facts.Machine) {
		place := machine.At("cluster.apiServer.admissionControl")
		for _, plugin := range machine.Config.K8sAdmissionControlPluginConfigs() {
			if plugin.Name() == "PodSecurity" {
				if where := machine.DocumentAt("KubeAdmissionControlConfig", "PodSecurity", "configuration"); where.Path != "" {
					place = where
				}
				judgePodSecurity(sheet, place, machine.Name, plugin.Configuration())
				return
			}
		}
		sheet.Fail(place, "the API server of %s holds pods to nothing: PodSecurity is not configured", machine.Name)
	})
}

// judgePodSecurity judges one configuration of PodSecurity.
func judgePodSecurity(sheet *rule.Sheet, place facts.Place, name string, configuration map[string]any) {
	if level := facts.Text(facts.Get(configuration, "defaults.enforce")); level != "baseline" && level != "restricted" {
		sheet.Fail(place, "the API server of %s enforces %q for pods, which is weaker than baseline", name, level)
		return
	}
	namespaces, _ := facts.Get(configuration, "exemptions.namespaces").([]any)
	var others []string
	for _, namespace := range namespaces {
		if text := facts.Text(namespace); text != "kube-system" && !slices.Contains(needy, text) {
			others = append(others, text)
		}
	}
	if len(others) > 0 {
		sheet.Fail(place, "the API server of %s holds pods of %s to nothing, and no software is known there that needs it", name, strings.Join(others, ", "))
		return
	}
	sheet.Pass(place)
}

// enforce is the label by which a namespace says what its pods may do.
const enforce = "pod-security.kubernetes.io/enforce"

// privileged wants namespaces of needy software to say so.
func privileged(all *facts.Facts, sheet *rule.Sheet) {
	declared, used := map[string]bool{}, map[string]*facts.Document{}
	for _, manifest := range all.Manifests {
		switch name, namespace := manifest.Name(), manifest.Namespace(); {
		case manifest.Kind() == "Namespace" && slices.Contains(needy, name):
			declared[name] = true
			labels := manifest.Map("metadata.labels")
			if facts.Text(labels[enforce]) == "privileged" {
				sheet.Pass(all.InDocument(manifest, "metadata.labels"))
				continue
			}
			sheet.Fail(all.InDocument(manifest, "metadata"), "namespace %s is not labelled %s: privileged, and the pods of its software will be refused", name, enforce)
		case slices.Contains(needy, namespace):
			used[namespace] = manifest
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(used)) {
		if !declared[namespace] {
			sheet.Unknown(all.InDocument(used[namespace], "metadata.namespace"), "namespace %s is not in the files, and so is not known to be labelled", namespace)
		}
	}
}

// isolated wants workloads to be kept apart, where the version can.
func isolated(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		place := machine.DocumentAt("SecurityProfileConfig", "", "workloadIsolation")
		switch profile := machine.Config.SecurityProfileConfig(); {
		case profile != nil && profile.WorkloadIsolation(), machine.Notes[facts.NoteWorkloadIsolation] != "" && !machine.Before("1.14"):
			sheet.Pass(place)
		case machine.TalosVersion == "":
			sheet.Unknown(place, "which Talos %s has is not known, and workloads are isolated from 1.14", machine.Name)
		case machine.Since("1.14"):
			sheet.Fail(place, "the containers of %s are not isolated from the system", machine.Name)
		}
	})
}

// A hardening is a setting of the kernel that Talos hardens, with the least value that is as hard, or the most.
type hardening struct {
	least, most int
	// needs are the extensions that need it weaker.
	needs []string
}

// hardenings are by the name of the setting, as Talos sets them.
var hardenings = map[string]hardening{
	"net.core.bpf_jit_harden": {2, 2, []string{
		"nvidia-container-toolkit-lts", "nvidia-container-toolkit-production", "nvidia-container-toolkit", "nvidia-open-gpu-kernel-modules-lts", "nvidia-open-gpu-kernel-modules-production",
		"nonfree-kmod-nvidia-lts", "nonfree-kmod-nvidia-production",
	}},
	"user.max_user_namespaces":         {0, 0, []string{"gvisor", "gvisor-debug", "youki"}},
	"kernel.kptr_restrict":             {1, 2, nil},
	"kernel.dmesg_restrict":            {1, 1, nil},
	"kernel.perf_event_paranoid":       {2, 4, nil},
	"kernel.randomize_va_space":        {2, 2, nil},
	"kernel.yama.ptrace_scope":         {1, 3, nil},
	"kernel.unprivileged_bpf_disabled": {1, 2, nil},
	"fs.protected_symlinks":            {1, 1, nil},
	"fs.protected_hardlinks":           {1, 1, nil},
	"fs.suid_dumpable":                 {0, 0, nil},
}

// hardened wants the kernel to be as hard as Talos makes it.
func hardened(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		for name, value := range machine.Sysctls() {
			name = strings.ReplaceAll(name, "/", ".")
			wanted, known := hardenings[name]
			number, err := strconv.Atoi(strings.TrimSpace(value))
			if !known || err != nil {
				continue
			}
			has := slices.ContainsFunc(wanted.needs, machine.HasExtension)
			switch place := machine.At("machine.sysctls"); {
			case number >= wanted.least && number <= wanted.most || has:
				sheet.Pass(place)
			case len(wanted.needs) > 0 && !machine.ExtensionsKnown:
				sheet.Unknown(place, "%s sets %s to %d, and which extensions its image has is not known", machine.Name, name, number)
			default:
				sheet.Fail(place, "%s weakens the kernel by %s = %d, and has no extension that needs it", machine.Name, name, number)
			}
		}
	})
}

// thunderbolt wants the extension to be declared.
func thunderbolt(all *facts.Facts, sheet *rule.Sheet) {
	for _, schematic := range all.Schematics {
		if !slices.Contains(schematic.Extensions(), "thunderbolt") {
			continue
		}
		if meant(all, schematic) {
			sheet.Pass(schematic.Place)
			continue
		}
		sheet.Fail(schematic.Place, "the image has the thunderbolt extension, and nobody says what for: it lets in every device that is plugged in")
	}
}

// meant says whether somebody declared that machines of a schematic have Thunderbolt devices.
func meant(all *facts.Facts, schematic *facts.SchematicFact) bool {
	if all.Settings.Notes[facts.NoteThunderbolt] != "" {
		return true
	}
	for _, pool := range all.Pools {
		if pool.Schematic == schematic && (pool.Notes[facts.NoteThunderbolt] != "" || pool.Cluster.Decided(api.DecisionExtensions, "thunderbolt")) {
			return true
		}
	}
	return false
}

// audited wants the API server to keep a log.
func audited(all *facts.Facts, sheet *rule.Sheet) {
	planes(all, sheet, func(machine *facts.Machine) {
		place := machine.At("cluster.apiServer.auditPolicy")
		policy := machine.Config.K8sAuditPolicyConfig()
		if policy == nil {
			sheet.Fail(place, "the API server of %s has no audit policy", machine.Name)
			return
		}
		rules, _ := facts.Get(policy.Configuration(), "rules").([]any)
		if !slices.ContainsFunc(rules, func(one any) bool { return facts.Text(facts.Get(one, "level")) != "None" }) {
			sheet.Fail(place, "the audit policy of %s writes nothing down", machine.Name)
			return
		}
		sheet.Pass(place)
	})
}
