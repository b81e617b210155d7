// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// introduced says with which minor release of Talos a kind of document came. The library knows the newest release only, and
// would let a document through that an older machine refuses to boot with. Read from the schemas of machinery v1.11.6,
// v1.12.7, v1.13.9 and v1.14.1; those of 1.11 may be older.
var introduced = since(map[int]string{
	11: `EthernetConfig EventSinkConfig ExistingVolumeConfig ExtensionServiceConfig KmsgLogConfig KubeSpanEndpointsConfig
		NetworkDefaultActionConfig NetworkRuleConfig PCIDriverRebindConfig RawVolumeConfig SideroLinkConfig SwapVolumeConfig
		TrustedRootsConfig UserVolumeConfig VolumeConfig WatchdogTimerConfig ZswapConfig`,
	12: `BondConfig BridgeConfig DHCPv4Config DHCPv6Config DummyLinkConfig HCloudVIPConfig HostnameConfig Layer2VIPConfig
		LinkAliasConfig LinkConfig OOMConfig RegistryAuthConfig RegistryMirrorConfig RegistryTLSConfig ResolverConfig
		StaticHostConfig TimeSyncConfig VLANConfig WireguardConfig`,
	13: `BlackholeRouteConfig EnvironmentConfig ExternalVolumeConfig ImageVerificationConfig KubeSpanConfig RoutingRuleConfig
		TCPProbeConfig VRFConfig`,
	14: `BGPInstanceConfig CRIBaseRuntimeSpecConfig CRICustomizationConfig ContainerConfig DiscoveryIdentityConfig
		DiscoveryServiceConfig EtcFileConfig FilesystemScrubConfig FilesystemTrimConfig HTTPProbeConfig ImageCacheConfig
		KernelModuleConfig KubeAPIServerCAConfig KubeAPIServerConfig KubeAdmissionControlConfig KubeAggregatorCAConfig
		KubeAuditPolicyConfig KubeAuthenticationConfig KubeAuthorizerConfig KubeClusterConfig KubeControllerManagerConfig
		KubeCoreDNSConfig KubeCredentialProviderConfig KubeEtcdEncryptionConfig KubeExternalManifestConfig KubeFlannelCNIConfig
		KubeInlineManifestConfig KubeNetworkConfig KubeNodeConfig KubePrismConfig KubeProxyConfig KubeSchedulerConfig
		KubeServiceAccountConfig KubeStaticPodConfig KubeTalosAPIAccessConfig KubeletConfig LVMLogicalVolumeConfig
		LVMVolumeGroupConfig RAIDArrayConfig SecurityProfileConfig SysctlConfig SysfsConfig UdevRulesConfig
		UnattendedInstallConfig VethConfig`,
})

// since turns the table around.
func since(byMinor map[int]string) map[string]int {
	kinds := map[string]int{}
	for minor, names := range byMinor {
		for _, name := range strings.Fields(names) {
			kinds[name] = minor
		}
	}
	return kinds
}

// Known returns the first document of a layer that the Talos version does not know, or nil.
func Known(layer string, patches []api.Patch, contract *config.VersionContract) error {
	for i, patch := range patches {
		var document struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(patch.Raw, &document); err != nil {
			return fmt.Errorf("%s layer: patches[%d]: %w", layer, i, err)
		}
		minor, known := introduced[document.Kind]
		switch {
		case document.Kind == "" || known && contract.Major == 1 && contract.Minor >= minor:
		case known:
			return &NewerKindError{fmt.Sprintf("%s layer: patches[%d]", layer, i), document.Kind, minor, contract.Minor}
		default:
			return fmt.Errorf("%s layer: patches[%d].kind: Talos has no document %q%s", layer, i, document.Kind,
				nearest.Hint(document.Kind, slices.Sorted(maps.Keys(introduced))))
		}
	}
	return nil
}
