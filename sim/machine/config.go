// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/siderolabs/crypto/x509"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// A setting is how a machine reads its configuration: its release, its platform, and whether it is installed.
type setting struct {
	version   string
	platform  string
	installed bool
}

// String is the name of the mode in which Talos validates.
func (s setting) String() string {
	if s.platform == platformMetal {
		return platformMetal
	}
	return "cloud"
}

// RequiresInstall says whether Talos has to be installed to a disk first.
func (s setting) RequiresInstall() bool { return s.platform == platformMetal && !s.installed }

// InContainer is never so here.
func (s setting) InContainer() bool { return false }

// platformMetal is the platform of which a machine is installed from a configuration.
const platformMetal = "metal"

// read loads a configuration as a machine of this setting does, and refuses what it would refuse. The warnings are Talos's.
func (s setting) read(text []byte) (talosconfig.Provider, []string, error) {
	provider, err := configloader.NewFromBytes(text)
	if err != nil {
		return nil, nil, err
	}
	if err := s.knows(provider); err != nil {
		return nil, nil, err
	}
	warnings, err := provider.ValidateAsClient(s)
	if err != nil {
		return nil, nil, oneLine(err)
	}
	if provider.Machine() == nil || provider.Cluster() == nil {
		return provider, warnings, nil // not complete: the machine stays in maintenance mode
	}
	return provider, warnings, s.supports(provider)
}

// knows refuses documents that came after the machine's release: the library knows those of the newest.
func (s setting) knows(provider talosconfig.Provider) error {
	contract, err := config.Contract(api.TalosVersion(s.version))
	if err != nil {
		return err
	}
	for _, document := range provider.Documents() {
		if document.Kind() == "v1alpha1" {
			continue
		}
		text, _ := json.Marshal(map[string]string{"kind": document.Kind()}) // words always can be
		var patch api.Patch
		patch.Raw = text
		if config.Known("", []api.Patch{patch}, contract) != nil {
			return fmt.Errorf("document %q is not registered: Talos %s does not have it", document.Kind(), s.version)
		}
	}
	return nil
}

// supports refuses a kubelet that is too new or too old for the machine's release.
func (s setting) supports(provider talosconfig.Provider) error {
	kubelet := provider.K8sKubeletConfig()
	if kubelet == nil {
		return nil
	}
	kubernetes, err := compatibility.KubernetesVersionFromImageRef(kubelet.Image())
	if err != nil {
		return fmt.Errorf("kubelet image %q: %w", kubelet.Image(), err)
	}
	talos, err := compatibility.ParseTalosVersion(&machineapi.VersionInfo{Tag: s.version})
	if err != nil {
		return err
	}
	return kubernetes.SupportedWith(talos)
}

// oneLine puts the list of Talos's validation into one line.
func oneLine(err error) error {
	return errors.New(strings.Join(causes(err), "; "))
}

// causes are the errors that Talos has put into one, which prints them as a list.
func causes(err error) []string {
	var found []string
	for line := range strings.Lines(err.Error()) {
		if text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "*")); text != "" && !strings.HasSuffix(text, "occurred:") {
			found = append(found, text)
		}
	}
	return found
}

// complete says whether a configuration is enough to boot with.
func complete(provider talosconfig.Provider) bool {
	return provider != nil && provider.Machine() != nil && provider.Cluster() != nil && provider.RawV1Alpha1() != nil
}

// endpoint is where the control plane is.
func endpoint(provider talosconfig.Provider) (*url.URL, error) {
	cluster := provider.K8sClusterConfig()
	if cluster == nil || cluster.ClusterEndpoint() == nil {
		return nil, errors.New("the configuration names no control plane endpoint")
	}
	return cluster.ClusterEndpoint(), nil
}

// installer is the image that a configuration installs from.
func installer(provider talosconfig.Provider) string {
	if unattended := provider.UnattendedInstallConfig(); unattended != nil && unattended.InstallerImage() != "" {
		return unattended.InstallerImage()
	}
	if install := provider.Machine().Install(); install != nil {
		return install.Image()
	}
	return ""
}

// accepted is the authorities of the Talos API that a configuration trusts, the issuing one last as with Talos.
func accepted(provider talosconfig.Provider) []*x509.PEMEncodedCertificate {
	security := provider.Machine().Security()
	all := slices.Clone(security.AcceptedCAs())
	if issuing := security.IssuingCA(); issuing != nil {
		all = append(all, &x509.PEMEncodedCertificate{Crt: issuing.Crt})
	}
	return all
}

// surroundings are what a configuration and the hardware bring to services.
func surroundings(provider talosconfig.Provider, options Options, devices []string) Surroundings {
	around := Surroundings{Devices: append(devices, options.Devices...), GPU: options.GPU, Platform: options.Platform}
	for _, service := range provider.ExtensionServiceConfigs() {
		around.Configured = append(around.Configured, service.Name())
	}
	for _, module := range provider.KernelModuleConfigs() {
		around.Modules = append(around.Modules, module.Name())
	}
	return around
}
