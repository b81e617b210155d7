// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"path"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// committed wants Git to have what every machine's configuration is made from.
func committed(all *facts.Facts, sheet *rule.Sheet) {
	if !all.Git {
		sheet.Unknown(all.Whole(), "this is not a Git repository: whether configurations are committed is not known")
		return
	}
	input, by := shown(all)
	made := input != nil && input.Tracked
	files := map[string]*facts.File{}
	for _, file := range all.Files {
		files[file.Path] = file
	}
	for _, pool := range all.Pools {
		judgeTracked(sheet, pool.At("metadata.name"), files[pool.Document.File], false)
	}
	for _, machine := range all.Machines {
		if machine.Pool == nil {
			judgeTracked(sheet, machine.At(""), files[machine.File], made)
		}
	}
	if input != nil && len(all.Machines) == 0 {
		judgeTracked(sheet, all.InTree(input, 0), input, false)
	}
	running(all, sheet, by)
}

// judgeTracked judges a file from which a configuration is made, or that is one. One that is made anew from what is committed need not
// be.
func judgeTracked(sheet *rule.Sheet, place facts.Place, file *facts.File, made bool) {
	switch {
	case file == nil:
		sheet.Unknown(place, "whether %s is committed is not known", place.File)
	case file.Tracked || made:
		sheet.Pass(place)
	case file.Ignored:
		sheet.Fail(place, "%s is ignored by Git, and nothing that is committed makes it again", file.Path)
	default:
		sheet.Fail(place, "%s is not committed: nobody else has it, and nobody sees how it changes", file.Path)
	}
}

// running wants every machine that runs to be one that is known here.
func running(all *facts.Facts, sheet *rule.Sheet, by way) {
	if all.Live == nil {
		return
	}
	machines := newBook(all)
	for _, node := range all.Live.Nodes {
		names := []string{node.Name()}
		addresses, _ := node.Get("status.addresses").([]any)
		for _, address := range addresses {
			names = append(names, facts.Text(facts.Get(address, "address")))
		}
		place := node.At("metadata.name")
		place.Environment = all.Whole().Environment
		switch {
		case machines.find(names...) != nil || made(all, node.Name()):
			sheet.Pass(place)
		case by == terraform || by == pulumi || by == omni || by == clusterAPI:
			sheet.Unknown(place, "whether %s has %s among its machines cannot be read from its files", by, node.Name())
		default:
			sheet.Fail(place, "%s runs, and no configuration of it is in the repository", node.Name())
		}
	}
}

// owners are where a file of owners may stand, and branchRules what files of branch rules are called.
var (
	owners      = []string{"CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", ".gitea/CODEOWNERS", ".forgejo/CODEOWNERS", "docs/CODEOWNERS"}
	branchRules = []string{"required_pull_request_reviews", "required_approving_review_count", "github_branch_protection", "gitlab_branch_protection", "gitlab_project_approval_rule", "required_approvals"}
)

// reviewed wants changes of configurations to be looked at by somebody else.
func reviewed(all *facts.Facts, sheet *rule.Sheet) {
	paths := configured(all)
	if len(paths) == 0 {
		return
	}
	for _, file := range all.Files {
		if file.Tracked && mentions(string(file.Text), branchRules...) && file.Extension() != ".md" {
			sheet.Pass(all.InTree(file, 1))
			return
		}
	}
	for _, name := range owners {
		file := fileOf(all, name)
		if file == nil || !file.Tracked {
			continue
		}
		for _, one := range paths {
			if !owned(file, one) {
				sheet.Fail(all.InTree(file, 1), "%s names nobody who looks at changes of %s", name, one)
				return
			}
		}
		sheet.Pass(all.InTree(file, 1))
		return
	}
	sheet.Fail(all.Whole(), "nobody has to look at changes of machine configurations: there is neither a CODEOWNERS file nor a rule for branches in the repository")
}

// configured are the files that machine configurations are made from, each once.
func configured(all *facts.Facts) []string {
	var paths []string
	seen := map[string]bool{}
	add := func(name string) {
		name, _, _ = strings.Cut(name, "#") // what was made of another tool's file stands behind its name
		if !seen[name] && name != "" {
			seen[name] = true
			paths = append(paths, name)
		}
	}
	for _, pool := range all.Pools {
		add(pool.Document.File)
	}
	for _, machine := range all.Machines {
		add(machine.File)
	}
	return paths
}

// owned says whether a file of owners names somebody for a path. The last line that fits decides.
func owned(file *facts.File, name string) bool {
	found := false
	for _, line := range file.Lines() {
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") && !strings.HasPrefix(words[0], "[") && fits(words[0], name) {
			found = len(words) > 1
		}
	}
	return found
}

// fits says whether a pattern of a file of owners is for a path: those of Git's ignore rules, as far as people use them there.
func fits(pattern, name string) bool {
	anchored := strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if before, _, deep := strings.Cut(pattern, "**"); deep {
		return strings.HasPrefix(name, before)
	}
	pattern = strings.TrimSuffix(pattern, "/")
	for part := name; part != "." && part != "/"; part = path.Dir(part) { // who owns a folder owns what is in it
		whole, _ := path.Match(pattern, part)
		base, _ := path.Match(pattern, path.Base(part))
		if whole || base && !anchored {
			return true
		}
	}
	return false
}
