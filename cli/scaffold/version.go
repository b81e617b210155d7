// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/gendata"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/image"
)

// oldest is the first minor release of Talos for which folders are made: it brought the documents that they use.
const oldest = 12

// newestTalos is the release whose library this program is built with.
func newestTalos() string { return gendata.VersionTag }

// kubernetesOf is the patch of Kubernetes for a minor release of Talos, as the newest release of that line brings it.
// Another line gets the first patch of the newest minor that Talos's own matrix allows, which always exists.
var kubernetesOf = map[int]api.KubernetesVersion{
	12: "v1.35.8",
	13: "v1.36.3",
	14: "v" + constants.DefaultKubernetesVersion,
}

// talosVersion reads a version, or a line such as v1.13, which stands for the newest of its releases that is known here.
func talosVersion(text string) (api.TalosVersion, error) {
	version := api.TalosVersion(text)
	if strings.Count(text, ".") == 1 {
		found, err := newestOf(text)
		if err != nil {
			return "", err
		}
		version = found
	}
	if err := image.CheckVersion(version); err != nil {
		return "", err
	}
	contract, err := config.Contract(version)
	if err != nil {
		return "", err
	}
	if contract.Major != 1 || contract.Minor < oldest {
		return "", fmt.Errorf("%q is too old: folders are made for Talos 1.%d and newer", text, oldest)
	}
	_, err = newestKubernetes(version) // a release that the matrix does not know is refused here
	return version, err
}

// newestOf is the newest release of a line.
func newestOf(line string) (api.TalosVersion, error) {
	if strings.HasPrefix(newestTalos(), line+".") {
		return api.TalosVersion(newestTalos()), nil
	}
	catalogue, err := extension.Load()
	if err != nil {
		return "", err
	}
	found := ""
	for _, tag := range catalogue.Tags { // the oldest first
		if strings.HasPrefix(tag, line+".") {
			found = tag
		}
	}
	if found == "" {
		return "", fmt.Errorf("no release of %q is known here: give a full version such as %s", line, newestTalos())
	}
	return api.TalosVersion(found), nil
}

// newestKubernetes is the version of Kubernetes that a cluster of a Talos version starts with.
func newestKubernetes(version api.TalosVersion) (api.KubernetesVersion, error) {
	contract, err := config.Contract(version)
	if err != nil {
		return "", err
	}
	if known, ok := kubernetesOf[contract.Minor]; ok && talos.Supports(version, known) == nil {
		return known, nil
	}
	// The matrix answers questions and does not list: its refusal of what cannot be says what can.
	err = talos.Supports(version, "v1.999.0")
	refusal, ok := errors.AsType[*talos.UnsupportedError](err)
	if !ok || refusal.Newest == 0 {
		return "", err
	}
	return api.KubernetesVersion(fmt.Sprintf("v1.%d.0", refusal.Newest)), nil
}
