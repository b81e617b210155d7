// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// building are words by which a workflow is told that makes images.
var building = []string{"siderolabs/imager", "minos image", "gen-profiles", "image-talos", "factory.talos.dev/image", "FACTORY/image", "FACTORY/schematics"}

// covered wants workflows that build all images.
func covered(all *facts.Facts, sheet *rule.Sheet) {
	for _, workflow := range all.Workflows {
		if !slices.ContainsFunc(building, workflow.Does) {
			continue
		}
		place := all.InDocument(workflow.Document, "jobs")
		if len(all.Pools) == 0 {
			sheet.Unknown(place, "the workflow builds images, and no pool says which roles there are")
			continue
		}
		found := matrixOf(workflow)
		problems := slices.Concat(found.missing(all.Pools), found.shared(workflow))
		for _, problem := range problems {
			sheet.Fail(place, "%s", problem)
		}
		if len(problems) == 0 {
			sheet.Pass(place)
		}
	}
}

// A matrix is what a workflow builds.
type matrix struct {
	entries  []entry
	explicit bool // every image is written out
}

// An entry is one image: its role, its architecture (empty if the matrix has none), and what tells it from others.
type entry struct{ role, architecture, name string }

// matrixOf reads what the jobs of a workflow are done for: images that are written out, or lists of roles and architectures.
func matrixOf(workflow *facts.Workflow) matrix {
	found := matrix{}
	for name := range workflow.Document.Map("jobs") {
		body := workflow.Document.Map("jobs." + name + ".strategy.matrix")
		for _, one := range listOf(body["include"]) {
			if role := facts.Text(facts.Get(one, "role")); role != "" {
				found.explicit = true
				found.entries = append(found.entries, entry{role, facts.Text(facts.Get(one, "arch")), nameOf(one)})
			}
		}
		architectures := listOf(body["arch"])
		if len(architectures) == 0 {
			architectures = []any{""}
		}
		for _, role := range listOf(body["role"]) {
			for _, architecture := range architectures {
				found.entries = append(found.entries, entry{role: facts.Text(role), architecture: facts.Text(architecture)})
			}
		}
	}
	return found
}

// listOf is a value as a list.
func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

// nameOf is what tells an image from others: the file, the image or the name.
func nameOf(one any) string {
	for _, key := range []string{"file", "image", "tag", "suffix", "name"} {
		if text := facts.Text(facts.Get(one, key)); text != "" {
			return text
		}
	}
	return ""
}

// missing says which images of pools are not built.
func (m matrix) missing(pools []*facts.Pool) []string {
	var problems []string
	for _, pool := range pools {
		wanted := pool.Object.Spec.Architecture
		if wanted == "" {
			wanted = api.AMD64
		}
		built := slices.ContainsFunc(m.entries, func(one entry) bool {
			return one.role == pool.Role.Name && (one.architecture == string(wanted) || one.architecture == "")
		})
		if !built {
			problems = append(problems, fmt.Sprintf("the image of role %s for %s, which pool %s needs, is not built", pool.Role.Name, wanted, pool.Object.Name))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// shared says which images have the name of another role's.
func (m matrix) shared(workflow *facts.Workflow) []string {
	if !m.explicit {
		text := string(workflow.Document.File.Text)
		if len(m.entries) > 1 && !strings.Contains(text, "matrix.role") {
			return []string{"no name in the workflow holds the role: the images of all roles overwrite each other"}
		}
		return nil
	}
	var problems []string
	owner := map[string]string{}
	for _, one := range m.entries {
		if other, taken := owner[one.name]; taken && other != one.role {
			problems = append(problems, fmt.Sprintf("the images of roles %s and %s have the same name %q", other, one.role, one.name))
		}
		owner[one.name] = one.role
	}
	return problems
}
