// SPDX-License-Identifier: Apache-2.0

package talhelper

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/patch"
)

// A talconfig is the file that talhelper is named after. Fields that talhelper hands to Talos as they are stay data.
type talconfig struct {
	ClusterName                    string           `yaml:"clusterName"`
	TalosVersion                   string           `yaml:"talosVersion"`
	KubernetesVersion              string           `yaml:"kubernetesVersion"`
	Endpoint                       string           `yaml:"endpoint"`
	Domain                         string           `yaml:"domain"`
	AllowSchedulingOnMasters       bool             `yaml:"allowSchedulingOnMasters"`
	AllowSchedulingOnControlPlanes bool             `yaml:"allowSchedulingOnControlPlanes"`
	AdditionalMachineCertSans      []string         `yaml:"additionalMachineCertSans"`
	AdditionalAPIServerCertSans    []string         `yaml:"additionalApiServerCertSans"`
	InlineManifests                []inlineManifest `yaml:"inlineManifests"`
	ClusterPodNets                 []string         `yaml:"clusterPodNets"`
	ClusterSvcNets                 []string         `yaml:"clusterSvcNets"`
	CNIConfig                      data             `yaml:"cniConfig"`
	Patches                        []string         `yaml:"patches"`
	Nodes                          []node           `yaml:"nodes"`
	ImageFactory                   imageFactory     `yaml:"imageFactory"`
	ControlPlane                   nodeConfigs      `yaml:"controlPlane"`
	Worker                         nodeConfigs      `yaml:"worker"`
}

// A node is one machine, or several alike.
type node struct {
	Hostname                string `yaml:"hostname"`
	IPAddress               string `yaml:"ipAddress"`
	ControlPlane            bool   `yaml:"controlPlane"`
	InstallDisk             string `yaml:"installDisk"`
	InstallDiskSelector     data   `yaml:"installDiskSelector"`
	IgnoreHostname          bool   `yaml:"ignoreHostname"`
	OverridePatches         bool   `yaml:"overridePatches"`
	OverrideExtraManifests  bool   `yaml:"overrideExtraManifests"`
	OverrideMachineCertSANs bool   `yaml:"overrideMachineCertSANs"`
	nodeConfigs             `yaml:",inline"`
}

// nodeConfigs are what a node and a group of nodes can both have.
type nodeConfigs struct {
	NodeLabels          map[string]string `yaml:"nodeLabels"`
	NodeAnnotations     map[string]string `yaml:"nodeAnnotations"`
	NodeTaints          map[string]string `yaml:"nodeTaints"`
	MachineDisks        data              `yaml:"machineDisks"`
	MachineFiles        []machineFile     `yaml:"machineFiles"`
	DisableSearchDomain bool              `yaml:"disableSearchDomain"`
	KernelModules       data              `yaml:"kernelModules"`
	Nameservers         []string          `yaml:"nameservers"`
	NetworkInterfaces   []map[string]any  `yaml:"networkInterfaces"`
	ExtraManifests      []string          `yaml:"extraManifests"`
	CertSANs            []string          `yaml:"certSANs"`
	Patches             []string          `yaml:"patches"`
	TalosImageURL       string            `yaml:"talosImageURL"`
	NoSchematicValidate bool              `yaml:"noSchematicValidate"`
	Schematic           data              `yaml:"schematic"`
	ImageSchematic      data              `yaml:"imageSchematic"`
	MachineSpec         machineSpec       `yaml:"machineSpec"`
	IngressFirewall     *ingressFirewall  `yaml:"ingressFirewall"`
	ExtensionServices   []map[string]any  `yaml:"extensionServices"`
	Volumes             []map[string]any  `yaml:"volumes"`
	UserVolumes         []map[string]any  `yaml:"userVolumes"`
	FilenameTmpl        string            `yaml:"filenameTmpl"`
}

type imageFactory struct {
	RegistryURL       string `yaml:"registryURL"`
	SchematicEndpoint string `yaml:"schematicEndpoint"`
	Protocol          string `yaml:"protocol"`
	InstallerURLTmpl  string `yaml:"installerURLTmpl"`
	ISOURLTmpl        string `yaml:"ISOURLTmpl"`
}

type machineSpec struct {
	Mode        string `yaml:"mode"`
	Arch        string `yaml:"arch"`
	Secureboot  bool   `yaml:"secureboot"`
	UseUKI      bool   `yaml:"useUKI"`
	BootMethod  string `yaml:"bootMethod"`
	ImageSuffix string `yaml:"imageSuffix"`
}

type ingressFirewall struct {
	DefaultAction string           `yaml:"defaultAction"`
	Rules         []map[string]any `yaml:"rules"`
}

type machineFile struct {
	Content      string `yaml:"content"`
	Permissions  any    `yaml:"permissions"`
	Path         string `yaml:"path"`
	Op           string `yaml:"op"`
	SkipEnvsubst bool   `yaml:"skipEnvsubst"`
}

type inlineManifest struct {
	Name         string `yaml:"name"`
	Contents     string `yaml:"contents"`
	SkipEnvsubst bool   `yaml:"skipEnvsubst"`
}

// data are values that Talos understands and talhelper passes on.
type data struct {
	isSet bool
	value any
}

// UnmarshalYAML keeps the values.
func (d *data) UnmarshalYAML(node *yaml.Node) error {
	value, err := patch.Value(node)
	d.isSet, d.value = true, value
	return err
}

// over lays the fields of a node over those of its group: a field that the node has stands, but for lists that add up. It
// returns for every field, by its name in YAML, whether it is the node's.
func (n *node) over(group nodeConfigs) (nodeConfigs, map[string]bool) {
	merged := n.nodeConfigs
	if !n.OverridePatches {
		merged.Patches = append(append([]string{}, group.Patches...), merged.Patches...)
	}
	if !n.OverrideExtraManifests {
		merged.ExtraManifests = append(append([]string{}, merged.ExtraManifests...), group.ExtraManifests...)
	}
	if !n.OverrideMachineCertSANs {
		merged.CertSANs = append(append([]string{}, merged.CertSANs...), group.CertSANs...)
	}
	own := map[string]bool{}
	to, from := reflect.ValueOf(&merged).Elem(), reflect.ValueOf(group)
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("yaml"), ",")
		own[name] = !reflect.ValueOf(n.nodeConfigs).Field(i).IsZero()
		if !own[name] && to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return merged, own
}

// unknownFields are the keys that talhelper has no field for, and so ignores: as paths.
func unknownFields(root *yaml.Node) [][]string {
	found := unknownIn(root, reflect.TypeFor[talconfig](), nil)
	for _, group := range []string{"controlPlane", "worker"} {
		found = append(found, unknownIn(adopt.Child(root, group), reflect.TypeFor[nodeConfigs](), []string{group})...)
	}
	nodes := adopt.Child(root, "nodes")
	if nodes == nil || nodes.Kind != yaml.SequenceNode {
		return found
	}
	for i, one := range nodes.Content {
		found = append(found, unknownIn(one, reflect.TypeFor[node](), []string{"nodes", itoa(i)})...)
	}
	return found
}

func unknownIn(node *yaml.Node, kind reflect.Type, path []string) [][]string {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	known := map[string]bool{"<<": true}
	for _, field := range reflect.VisibleFields(kind) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		known[name] = true
	}
	var found [][]string
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i].Value; !known[key] {
			found = append(found, append(path[:len(path):len(path)], key))
		}
	}
	return found
}

func itoa(i int) string { return strconv.Itoa(i) }
