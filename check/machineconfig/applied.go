// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// What applies configurations, by a pipeline or by a script, and how the machine is named in that.
var (
	applies = regexp.MustCompile(`talosctl\s[^\n]*\b(apply-config|apply|patch|edit)\b|talhelper\s+gencommand\s+apply|topf\s+apply|(terraform|tofu)\s[^\n]*\bapply\b|pulumi\s+up|omnictl\s+cluster\s+template\s+sync`)
	byTalos = regexp.MustCompile(`talosctl\s[^\n]*\b(apply-config|apply|patch|edit)\b[^\n]*`)
	target  = regexp.MustCompile(`(?:\s-n|\s--nodes|\s-e|\s--endpoints)[ =]?["']?([0-9A-Za-z][0-9A-Za-z.,:-]*)`)
)

// guards are what a job asks before it applies.
var guards = []string{"github.ref", "github.event_name", "CI_COMMIT_BRANCH", "CI_DEFAULT_BRANCH", "CI_COMMIT_REF_PROTECTED"}

// applied wants a pipeline to apply what was reviewed, and no script beside it.
func applied(all *facts.Facts, sheet *rule.Sheet) {
	pipeline := false
	for _, workflow := range all.Workflows {
		at := slices.IndexFunc(workflow.Commands, func(command facts.Command) bool { return applying(all, command.Text) })
		if at < 0 {
			continue
		}
		pipeline = true
		place := all.InDocument(workflow.Document, workflow.Commands[at].Path)
		if why := unguarded(workflow); why != "" {
			sheet.Fail(place, "%s applies configurations %s", workflow.Document.File.Path, why)
			continue
		}
		sheet.Pass(place)
	}
	scripts(all, sheet)
	if pipeline {
		return
	}
	for _, cluster := range all.Clusters {
		judgeApplier(all, sheet, cluster)
	}
}

// applying says whether a command applies configurations. With declarations of ours, handing them to a management cluster does.
func applying(all *facts.Facts, text string) bool {
	text = strings.ReplaceAll(text, "\\\n", " ")
	if strings.Contains(text, "--dry-run") {
		return false
	}
	return applies.MatchString(text) || strings.Contains(text, "kubectl apply") && slices.ContainsFunc(all.Documents, func(document *load.Document) bool {
		folder := path.Dir(document.File)
		return strings.Contains(text, document.File) || folder != "." && strings.Contains(text, folder)
	})
}

// unguarded says for which changes a workflow runs that nobody reviewed; empty if it is bound to a branch or to somebody's consent.
func unguarded(workflow *facts.Workflow) string {
	bound := len(workflow.Branches) > 0 && !slices.ContainsFunc(workflow.Branches, func(branch string) bool { return strings.Contains(branch, "*") })
	switch {
	case mentions(string(workflow.Document.File.Text), guards...) || len(workflow.Environments) > 0:
		return ""
	case workflow.PullRequests:
		return "of changes that are only proposed"
	case bound || workflow.Scheduled && !workflow.Manual:
		return ""
	}
	return "of any branch, reviewed or not"
}

// scripts wants no script that changes a machine of production.
func scripts(all *facts.Facts, sheet *rule.Sheet) {
	machines := newBook(all)
	for _, file := range all.Files {
		if !isScript(file) || !strings.Contains(string(file.Text), "talosctl") {
			continue
		}
		for _, found := range byTalos.FindAllString(strings.ReplaceAll(string(file.Text), "\\\n", " "), -1) {
			parts := target.FindStringSubmatch(found)
			if parts == nil || strings.Contains(found, "--dry-run") || !production(all, machines, parts[1]) {
				continue
			}
			line := 0
			if lines := file.Find(parts[1]); len(lines) > 0 {
				line = lines[0]
			}
			sheet.Fail(all.InTree(file, line), "%s changes the configuration of %s past every review", file.Path, parts[1])
		}
	}
}

// production says whether the first of some addresses is one of production, as far as it is known whose it is.
func production(all *facts.Facts, machines book, addresses string) bool {
	address, _, _ := strings.Cut(addresses, ",")
	if machine := machines.find(address); machine != nil && machine.Cluster != nil {
		return machine.Cluster.Production()
	}
	return all.Whole().Environment == api.EnvironmentProduction && address != "127.0.0.1" && address != "localhost"
}

// isScript says whether a file is a script that is kept in Git.
func isScript(file *facts.File) bool {
	switch file.Extension() {
	case ".sh", ".bash", ".zsh", ".fish", ".ps1", ".mk", ".just":
		return file.Tracked
	}
	base := strings.ToLower(file.Base())
	return file.Tracked && (base == "makefile" || strings.HasSuffix(base, "justfile") || strings.HasPrefix(base, "taskfile.y") || strings.HasPrefix(string(file.Text), "#!"))
}

// judgeApplier says who applies the configurations of a cluster when no pipeline of the folder does.
func judgeApplier(all *facts.Facts, sheet *rule.Sheet, cluster *facts.Cluster) {
	text, place := told(cluster)
	delivered := slices.ContainsFunc(all.Manifests, isDelivery)
	serious := cluster.Production() || cluster.Environment == api.EnvironmentStaging
	switch {
	case says(cluster, clusterAPI) || says(cluster, omni) || says(cluster, minos) && (delivered || mentions(strings.ToLower(text), "operator")):
		sheet.Pass(place)
	case says(cluster, gitops) || says(cluster, terraform) || says(cluster, pulumi):
		sheet.Unknown(place, "the configurations of cluster %s are said to be applied by %q, and nothing of that is in this folder", cluster.Title(), text)
	case serious:
		sheet.Fail(place, "nothing in the repository applies the configurations of cluster %s: somebody does it by hand", cluster.Title())
	}
}

// isDelivery says whether a manifest has Argo CD or Flux deliver a folder to a cluster.
func isDelivery(manifest *facts.Document) bool {
	group, _, _ := strings.Cut(manifest.APIVersion(), "/")
	return group == "argoproj.io" && strings.HasPrefix(manifest.Kind(), "Application") || group == "kustomize.toolkit.fluxcd.io" && manifest.Kind() == "Kustomization"
}
