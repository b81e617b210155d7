// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A version in an address: a release with two numbers at least, or a commit.
var (
	versioned = regexp.MustCompile(`(^|[/=@_-])v?[0-9]+\.[0-9]+(\.[0-9]+)?([/._&-]|$)|(^|[/=@])[0-9a-f]{40}([/&]|$)`)
	moving    = regexp.MustCompile(`/(main|master|latest|HEAD|develop|stable|trunk)(/|$)`)
)

// fixedManifests wants the manifests that Talos brings to be the same tomorrow.
func fixedManifests(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || !machine.ControlPlane {
			continue
		}
		external, inline := machine.Config.K8sExternalManifestConfigs(), machine.Config.K8sInlineManifestConfigs()
		if len(external)+len(inline) == 0 {
			continue
		}
		var wrong []string
		for _, one := range external {
			if !isFixed(one.URL()) {
				wrong = append(wrong, withoutQuery(one.URL()))
			}
		}
		for _, one := range inline {
			for _, object := range objects(one.Contents()) {
				wrong = append(wrong, looseImages(object)...)
			}
		}
		place := manifestsAt(machine)
		if len(wrong) == 0 {
			sheet.Pass(place)
			continue
		}
		sheet.Fail(place, "%s brings what may be something else tomorrow: %s", machine.Name, fields(wrong))
	}
}

// manifestsAt is where the manifests stand that Talos brings, by the old fields or the new documents.
func manifestsAt(machine *facts.Machine) facts.Place {
	for _, document := range machine.Documents {
		if document.Kind() == "KubeExternalManifestConfig" || document.Kind() == "KubeInlineManifestConfig" {
			return machine.DocumentAt(document.Kind(), "", "name")
		}
		if document.Get("cluster.extraManifests") != nil {
			return machine.At("cluster.extraManifests")
		}
	}
	return machine.At("cluster.inlineManifests")
}

// isFixed says whether an address names a version.
func isFixed(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	path := parsed.Path
	for _, value := range parsed.Query()["ref"] {
		path += "/" + value
	}
	return versioned.MatchString(path) && !moving.MatchString(path)
}

// withoutQuery is an address without what may be a secret in it.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return fmt.Sprintf("%s://%s%s", parsed.Scheme, parsed.Host, parsed.Path)
}

// looseImages are the images of containers below a value that have neither a version nor a digest.
func looseImages(value any) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			if image, ok := below.(string); ok && key == "image" && loose(image) {
				found = append(found, image)
			}
			found = append(found, looseImages(below)...)
		}
	case []any:
		for _, below := range value {
			found = append(found, looseImages(below)...)
		}
	}
	slices.Sort(found)
	return found
}

// loose says whether an image is another one tomorrow.
func loose(image string) bool {
	if image == "" || strings.Contains(image, "@sha256:") {
		return false
	}
	_, tag, ok := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return !ok || tag == "latest" || tag == "main" || tag == "master" || tag == "stable" || tag == "edge"
}
