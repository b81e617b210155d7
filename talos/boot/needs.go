// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/talos/extension"
)

// A predictor knows an image and what is around it.
type predictor struct {
	around     Surroundings
	extensions []string
	declared   map[string]extension.Service
}

// needs are what a service waits for. The names of those that were asked guard against services that wait for each other.
func (p *predictor) needs(name string, asked []string) []Need {
	service := p.declared[name]
	var needs []Need
	if service.NeedsConfig {
		needs = append(needs, p.configuration(service.Name))
	}
	for _, path := range service.WaitsForPaths {
		need := Need{Kind: Path, Name: path, text: fmt.Sprintf("file %q to exist", path)}
		if need.State, need.By = p.around.path(path, p.extensions); need.State != Provided {
			need.Remedy = bringers[path].lacks
		}
		needs = append(needs, need)
	}
	for _, other := range service.WaitsForServices {
		needs = append(needs, p.other(other, append(slices.Clone(asked), name)))
	}
	return needs
}

// configuration is the need for one.
func (p *predictor) configuration(name string) Need {
	need := Need{Kind: Configuration, Name: name, State: Provided, By: "ExtensionServiceConfig " + name, text: fmt.Sprintf("extension service config %q", name)}
	if !slices.Contains(p.around.Configured, name) {
		need.State, need.By = Missing, ""
		need.Remedy = fmt.Sprintf("add an ExtensionServiceConfig named %s", name)
	}
	return need
}

// other is the need for another service. Those of Talos itself run at this point.
func (p *predictor) other(name string, asked []string) Need {
	need := Need{Kind: Other, Name: name, State: Provided, By: "Talos", text: fmt.Sprintf("service %q to be up", name)}
	if !strings.HasPrefix(name, "ext-") {
		return need
	}
	need.By = "the same image"
	switch _, ours := p.declared[name]; {
	case !ours:
		need.State, need.By, need.Remedy = Missing, "", "no extension of the image brings it"
	case slices.Contains(asked, name):
		need.State, need.By, need.Remedy = Missing, "", "it waits for itself, by way of "+strings.Join(asked, ", ")
	default:
		if need.State = worst(p.needs(name, asked)); need.State != Provided {
			need.By, need.Remedy = "", "give "+name+" what it waits for"
		}
	}
	return need
}
