// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// mostNamespaces is how many namespaces may reach the Talos API before that is no choice any more. It is our own judgement.
const mostNamespaces = 3

// roles wants the Talos API to give out no more than is needed.
func roles(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		fine := true
		if raw := machine.Config.RawV1Alpha1(); raw != nil && raw.MachineConfig != nil && raw.MachineConfig.MachineFeatures != nil {
			if rbac := raw.MachineConfig.MachineFeatures.RBAC; rbac != nil && !*rbac {
				fine = false
				sheet.Fail(machine.At("machine.features.rbac"), "%s has RBAC off: every credential of the Talos API may do everything", machine.Name)
			}
		}
		place := machine.At("machine.features.kubernetesTalosAPIAccess")
		if access := machine.Config.K8sTalosAPIAccessConfig(); access != nil {
			switch namespaces := access.AllowedKubernetesNamespaces(); {
			case slices.Contains(access.AllowedRoles(), "os:admin"):
				fine = false
				sheet.Fail(place, "%s gives pods of %s the role os:admin", machine.Name, strings.Join(namespaces, ", "))
			case slices.Contains(namespaces, "default") || len(namespaces) > mostNamespaces:
				fine = false
				sheet.Fail(place, "%s lets pods of %s reach the Talos API: whoever starts a pod there has it too", machine.Name, strings.Join(namespaces, ", "))
			}
		}
		if fine {
			sheet.Pass(place)
		}
	})
}

// registries wants connections to registries to be verified.
func registries(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		place := machine.At("machine.registries")
		tls, mirrors := machine.Config.RegistryTLSConfigs(), machine.Config.RegistryMirrorConfigs()
		if len(tls)+len(mirrors) == 0 {
			return
		}
		fine := true
		for _, registry := range slices.Sorted(maps.Keys(tls)) {
			if tls[registry].InsecureSkipVerify() {
				fine = false
				sheet.Fail(place, "%s does not verify who answers for registry %s", machine.Name, registry)
			}
		}
		// That it is about production holds for this half of the rule alone.
		severity := rule.Info
		if machine.Cluster.Production() {
			severity = rule.Warning
		}
		for _, registry := range slices.Sorted(maps.Keys(mirrors)) {
			for _, endpoint := range mirrors[registry].Endpoints() {
				if isPlain(endpoint.Endpoint()) {
					fine = false
					sheet.FailAs(severity, place, "%s takes images of %s from %s, which is not encrypted", machine.Name, registry, endpoint.Endpoint())
				}
			}
		}
		if fine {
			sheet.Pass(place)
		}
	})
}

// isPlain says whether an address is reached over the network without TLS. What is on the machine itself is not.
func isPlain(endpoint string) bool {
	address, err := url.Parse(endpoint)
	return err == nil && address.Scheme == "http" && address.Hostname() != "localhost" && !strings.HasPrefix(address.Hostname(), "127.") && address.Hostname() != "::1"
}

// kubernetesImages is where the images of Kubernetes come from.
const kubernetesImages = "registry.k8s.io"

// verified wants images to be verified by signature, where the version can.
func verified(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		place := machine.DocumentAt("ImageVerificationConfig", "", "rules")
		var missing []string
		for _, registry := range append([]string{kubernetesImages}, slices.Sorted(maps.Keys(machine.Config.RegistryAuthConfigs()))...) {
			if !verifies(machine, registry+"/any/image:v1") {
				missing = append(missing, registry)
			}
		}
		switch {
		case machine.TalosVersion == "":
			sheet.Unknown(place, "which Talos %s has is not known, and images are verified from 1.13", machine.Name)
		case machine.Before("1.13"):
		case len(missing) > 0:
			sheet.Fail(place, "%s runs images of %s without a look at their signatures", machine.Name, strings.Join(missing, " and "))
		default:
			sheet.Pass(place)
		}
	})
}

// verifies says whether a machine has a rule for an image: one that says whom to trust, or that it is skipped or denied knowingly.
func verifies(machine *facts.Machine, image string) bool {
	config := machine.Config.ImageVerificationConfig()
	if config == nil {
		return false
	}
	for _, one := range config.Rules() {
		pattern := one.ImagePattern()
		if matched, err := path.Match(pattern, image); err == nil && matched || strings.HasSuffix(pattern, "*") && strings.HasPrefix(image, strings.TrimRight(pattern, "*")) {
			return true
		}
	}
	return false
}
