// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"reflect"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// multidoc is the version from which every old field that is in the table below has a document.
const multidoc = "1.14"

// replaced are the old fields that are on their way out, each with what replaces it: read from the marks of machinery v1.14.1.
// Where a part of a field has a document of its own, the parts stand here; persist does not, since Talos's own generator still writes it.
var replaced = []struct{ field, by string }{
	{"machine.controlPlane.controllerManager", "KubeControllerManagerConfig"},
	{"machine.controlPlane.scheduler", "KubeSchedulerConfig"},
	{"machine.kubelet", "KubeletConfig"},
	{"machine.pods", "KubeStaticPodConfig"},
	{"machine.network.hostname", "HostnameConfig"},
	{"machine.network.interfaces", "LinkConfig and its kin"},
	{"machine.network.nameservers", "ResolverConfig"},
	{"machine.network.searchDomains", "ResolverConfig"},
	{"machine.network.disableSearchDomain", "ResolverConfig"},
	{"machine.network.extraHostEntries", "StaticHostConfig"},
	{"machine.network.kubespan", "KubeSpanConfig"},
	{"machine.disks", "UserVolumeConfig"},
	{"machine.install", "UnattendedInstallConfig"},
	{"machine.files", "EtcFileConfig or CRICustomizationConfig"},
	{"machine.env", "EnvironmentConfig"},
	{"machine.time", "TimeSyncConfig"},
	{"machine.sysctls", "SysctlConfig"},
	{"machine.sysfs", "SysfsConfig"},
	{"machine.registries", "RegistryMirrorConfig, RegistryAuthConfig and RegistryTLSConfig"},
	{"machine.systemDiskEncryption", "VolumeConfig"},
	{"machine.udev", "UdevRulesConfig"},
	{"machine.kernel", "KernelModuleConfig"},
	{"machine.baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig"},
	{"machine.nodeLabels", "KubeNodeConfig"},
	{"machine.nodeAnnotations", "KubeNodeConfig"},
	{"machine.nodeTaints", "KubeNodeConfig"},
	{"machine.features.stableHostname", "HostnameConfig"},
	{"machine.features.kubernetesTalosAPIAccess", "KubeTalosAPIAccessConfig"},
	{"machine.features.kubePrism", "KubePrismConfig"},
	{"machine.features.hostDNS", "ResolverConfig"},
	{"machine.features.imageCache", "ImageCacheConfig"},
	{"cluster.id", "DiscoveryIdentityConfig"},
	{"cluster.secret", "DiscoveryIdentityConfig"},
	{"cluster.controlPlane", "KubeClusterConfig and KubeAPIServerConfig"},
	{"cluster.clusterName", "KubeClusterConfig"},
	{"cluster.network", "KubeNetworkConfig and KubeFlannelCNIConfig"},
	{"cluster.aescbcEncryptionSecret", "KubeEtcdEncryptionConfig"},
	{"cluster.secretboxEncryptionSecret", "KubeEtcdEncryptionConfig"},
	{"cluster.ca", "KubeAPIServerCAConfig"},
	{"cluster.acceptedCAs", "KubeAPIServerCAConfig"},
	{"cluster.aggregatorCA", "KubeAggregatorCAConfig"},
	{"cluster.serviceAccount", "KubeServiceAccountConfig"},
	{"cluster.apiServer", "KubeAPIServerConfig"},
	{"cluster.controllerManager", "KubeControllerManagerConfig"},
	{"cluster.proxy", "KubeProxyConfig"},
	{"cluster.scheduler", "KubeSchedulerConfig"},
	{"cluster.discovery", "DiscoveryServiceConfig"},
	{"cluster.coreDNS", "KubeCoreDNSConfig"},
	{"cluster.etcd.subnet", "cluster.etcd.advertisedSubnets"},
	{"cluster.extraManifests", "KubeExternalManifestConfig"},
	{"cluster.extraManifestHeaders", "KubeExternalManifestConfig"},
	{"cluster.inlineManifests", "KubeInlineManifestConfig"},
	{"cluster.allowSchedulingOnMasters", "KubeNodeConfig"},
	{"cluster.allowSchedulingOnControlPlanes", "KubeNodeConfig"},
}

// current lists the old fields that machines use and that have documents.
func current(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || machine.Before(multidoc) {
			continue
		}
		old := outdated(machine)
		switch {
		case len(old) == 0:
			sheet.Pass(machine.At(""))
		case machine.TalosVersion == "":
			sheet.Unknown(machine.At(old[0].field), "%s uses old fields, and whether its Talos has the documents for them is not known", machine.Name)
		default:
			var texts []string
			for _, one := range old {
				texts = append(texts, fmt.Sprintf("%s (%s)", one.field, one.by))
			}
			sheet.Fail(machine.At(old[0].field), "%s uses %d fields that Talos %s replaced by documents", machine.Name, len(old), multidoc).Evidence = strings.Join(texts, ", ")
		}
	}
}

// outdated are the entries of the table that a machine's configuration sets.
func outdated(machine *facts.Machine) []struct{ field, by string } {
	var found []struct{ field, by string }
	for _, one := range replaced {
		if sets(machine, one.field) {
			found = append(found, one)
		}
	}
	return found
}

// sets says whether a machine's configuration sets a field of the old document. A list or a map without anything in it is not set.
func sets(machine *facts.Machine, path string) bool {
	value := field(machine, path)
	switch value.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map:
		return value.Len() > 0
	}
	return !value.IsZero()
}

// isOff says whether a machine's configuration sets a switch of the old document to false, and not only leaves it out.
func isOff(machine *facts.Machine, path string) bool {
	value := field(machine, path)
	return value.Kind() == reflect.Pointer && value.Elem().Kind() == reflect.Bool && !value.Elem().Bool()
}

// field is a field of a machine's old document, by the names that it has in YAML; invalid if there is none. That Talos wants to be rid
// of it in Go as well is no reason not to look at it.
func field(machine *facts.Machine, path string) reflect.Value {
	if machine.Config == nil || machine.Config.RawV1Alpha1() == nil {
		return reflect.Value{}
	}
	value := reflect.ValueOf(machine.Config.RawV1Alpha1())
	for step := range strings.SplitSeq(path, ".") {
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if value.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		value = member(value, step)
	}
	return value
}

// member is a field of a structure by its name in YAML; invalid if there is none.
func member(value reflect.Value, wanted string) reflect.Value {
	for at := range value.NumField() {
		if name, _, _ := strings.Cut(value.Type().Field(at).Tag.Get("yaml"), ","); name == wanted {
			return value.Field(at)
		}
	}
	return reflect.Value{}
}
