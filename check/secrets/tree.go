// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/sops"
)

// inEnvironment says whether a secret is one of a service's environment, which has a rule of its own.
func inEnvironment(leak facts.Leak) bool {
	steps := strings.Split(leak.Path, ".")
	return len(steps) > 1 && steps[len(steps)-2] == "environment"
}

// readable tells the secrets of a file, and of what a file was, together: they are mended together.
func readable(all *facts.Facts, sheet *rule.Sheet) {
	clean := true
	for _, leaks := range byFile(all.Leaks) {
		clean = false
		first := leaks[0]
		sheet.Fail(first.Place, "%s holds %s that everybody can read: %s", first.File, secrets(len(leaks)), kinds(leaks)).Evidence = evidence(leaks)
	}
	for _, leaks := range byFile(all.PastLeaks) {
		clean = false
		first := leaks[0]
		outcome := sheet.Fail(first.Place, "%s held %s, which everybody can read in the history since %s: %s", first.File, secrets(len(leaks)), first.Commit, kinds(leaks))
		outcome.Evidence = evidence(leaks)
		outcome.Remedy = "replace the secret (minos secrets rotate): taking it out of the history helps only those who never fetched it"
	}
	switch {
	case all.HistoryUnknown != "":
		sheet.Unknown(all.Whole(), "not all of the history is known: %s", all.HistoryUnknown)
	case clean:
		sheet.Pass(all.Whole())
	}
}

// byFile groups secrets by their file and commit, in order.
func byFile(leaks []facts.Leak) [][]facts.Leak {
	groups := map[string][]facts.Leak{}
	for _, leak := range leaks {
		if !inEnvironment(leak) {
			groups[leak.File+"\n"+leak.Commit] = append(groups[leak.File+"\n"+leak.Commit], leak)
		}
	}
	var found [][]facts.Leak
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		slices.SortStableFunc(groups[key], func(a, b facts.Leak) int { return cmp.Compare(a.Line, b.Line) })
		found = append(found, groups[key])
	}
	return found
}

// secrets says how many.
func secrets(count int) string {
	if count == 1 {
		return "a secret"
	}
	return fmt.Sprintf("%d secrets", count)
}

// kinds says which, each once.
func kinds(leaks []facts.Leak) string {
	var all []string
	for _, leak := range leaks {
		if !slices.Contains(all, leak.Kind) {
			all = append(all, leak.Kind)
		}
	}
	return strings.Join(all, ", ")
}

// evidence says where each is and how it looks.
func evidence(leaks []facts.Leak) string {
	var all []string
	for _, leak := range leaks {
		all = append(all, fmt.Sprintf("line %d: %s, %s", leak.Line, cmp.Or(leak.Path, "no field"), leak.Evidence))
	}
	return strings.Join(all, "; ")
}

// access wants the files that open a cluster to be encrypted, or out of Git's reach.
func access(all *facts.Facts, sheet *rule.Sheet) {
	leaking := map[string]bool{}
	for _, leak := range all.Leaks {
		leaking[leak.File] = true
	}
	for _, file := range all.Files {
		what := accessKind(all, file)
		switch place := all.InTree(file, 0); {
		case what == "":
		case file.Ignored || sops.Encrypted(file.Text) && !leaking[file.Path]:
			sheet.Pass(place)
		case !file.Tracked:
			sheet.Fail(place, "%s is %s that Git neither ignores nor tracks: the next commit of everything takes it in", file.Path, what).Patch = ignored(all, file)
		case leaking[file.Path] || file.Text == nil:
			sheet.Fail(place, "%s is %s that Git tracks, and it is not encrypted", file.Path, what)
		default:
			sheet.Pass(place)
		}
	}
}

// accessKind says what a file is that opens a cluster, by its content or by its name; empty if it is none.
func accessKind(all *facts.Facts, file *facts.File) string {
	is := func(document *facts.Document) bool { return document.File == file }
	switch base := file.Base(); {
	case slices.ContainsFunc(all.Bundles, is) || base == "secrets.yaml" && file.Text == nil:
		return "a secrets bundle"
	case slices.ContainsFunc(all.Accesses, func(document *facts.Document) bool { return is(document) && document.Kind() == "Config" }),
		base == "kubeconfig" || path.Ext(base) == ".kubeconfig":
		return "a kubeconfig"
	case slices.ContainsFunc(all.Accesses, is) || base == "talosconfig":
		return "a talosconfig"
	}
	return ""
}

// scanners are programs and hooks that look for secrets.
var scanners = []string{"minos check", "minos-check", "gitleaks", "trufflehog", "detect-secrets", "detect-private-key", "ggshield", "talisman", "git-secrets", "ensure-sops", "Secret-Detection", "ripsecrets"}

// hooks are where commits are looked at before they are made.
var hooks = []string{".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".overcommit.yml", ".husky/", ".githooks/", "prek.toml"}

// watched wants somebody to look for secrets.
func watched(all *facts.Facts, sheet *rule.Sheet) {
	for _, file := range all.Files {
		hook := slices.ContainsFunc(hooks, func(name string) bool {
			return file.Path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file.Path, name)
		})
		if hook && file.Tracked && mentions(string(file.Text)) {
			sheet.Pass(all.InTree(file, 0))
			return
		}
	}
	for _, workflow := range all.Workflows {
		if mentions(string(workflow.Document.File.Text)) {
			sheet.Pass(all.InDocument(workflow.Document, ""))
			return
		}
	}
	sheet.Fail(all.Whole(), "nothing looks for secrets: neither a hook of pre-commit nor a step of the CI does")
}

// mentions says whether a text names one that looks for secrets.
func mentions(text string) bool {
	return slices.ContainsFunc(scanners, func(scanner string) bool { return strings.Contains(text, scanner) })
}
