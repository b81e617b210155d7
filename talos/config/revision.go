// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// revisionLength is how much of the hash names a revision: enough to tell all revisions of a pool apart, and short enough
// for the name of a Secret.
const revisionLength = 10

// live are the paths that Talos changes on a running machine without a reboot, or that must be able to rotate: machines do
// not roll for them. A path of one step is a whole document of that kind.
var live = [][]string{
	{"", "machine", "token"}, {"", "machine", "ca"}, {"", "machine", "acceptedCAs"}, {"", "machine", "certSANs"}, {"", "machine", "nodeLabels"},
	{"", "machine", "nodeAnnotations"}, {"", "machine", "sysctls"}, {"", "machine", "registries"}, {"", "machine", "time"},
	{"", "machine", "network", "nameservers"}, {"", "machine", "network", "searchDomains"},
	{"", "machine", "kubelet", "extraArgs"}, {"", "machine", "kubelet", "extraConfig"},
	{"", "cluster", "token"}, {"", "cluster", "ca"}, {"", "cluster", "acceptedCAs"}, {"", "cluster", "allowSchedulingOnControlPlanes"},
	{"ExtensionServiceConfig"}, {"RegistryAuthConfig"}, {"RegistryMirrorConfig"}, {"RegistryTLSConfig"}, {"SysctlConfig"},
	{"TimeSyncConfig"}, {"TrustedRootsConfig"},
	{"KubeAPIServerCAConfig"}, {"KubeNodeConfig", "annotations"}, {"KubeNodeConfig", "labels"},
	{"KubeletConfig", "config"}, {"KubeletConfig", "extraArgs"},
	{"ResolverConfig", "nameservers"}, {"ResolverConfig", "searchDomains"},
}

// Revision names a configuration by that of its content for which machines roll. The order of maps and documents, the style
// of the YAML and comments do not show in it.
func Revision(text []byte) (string, error) {
	documents, err := decode(text)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, d := range documents {
		kind, _ := d["kind"].(string)
		if isLive(kind) {
			continue
		}
		said := len(d)
		for _, path := range live {
			if path[0] == kind && len(path) > 1 {
				remove(d, path[1:])
			}
		}
		if len(d) < said && isHollow(d) {
			continue // what it said is changed live, and so is that it says something
		}
		line, err := json.Marshal(d) // with sorted keys
		if err != nil {
			return "", fmt.Errorf("configuration document %q: %w", kind, err)
		}
		lines = append(lines, string(line))
	}
	slices.SortFunc(lines, cmp.Compare)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:revisionLength], nil
}

// decode reads the documents of a configuration.
func decode(text []byte) ([]document, error) {
	var documents []document
	reader := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var d document
		err := reader.Decode(&d)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		documents = append(documents, d)
	}
}

// isLive says whether whole documents of a kind are changed live.
func isLive(kind string) bool {
	return slices.ContainsFunc(live, func(path []string) bool { return len(path) == 1 && path[0] == kind })
}

// isHollow says whether a document says nothing but of which kind it is.
func isHollow(d document) bool {
	for key := range d {
		if key != "apiVersion" && key != "kind" {
			return false
		}
	}
	return d["kind"] != nil
}

// remove takes a path out of a document, and with it what holds nothing else: an empty mapping means the same as none.
func remove(node document, path []string) {
	if len(path) > 1 {
		below, ok := node[path[0]].(document)
		if !ok {
			return
		}
		remove(below, path[1:])
		if len(below) > 0 {
			return
		}
	}
	delete(node, path[0])
}
