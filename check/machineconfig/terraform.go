// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// How Terraform names the provider, its version and where the state is.
var (
	providerBlock = regexp.MustCompile(`(?s)\btalos\s*=\s*\{([^}]*)\}`)
	exactVersion  = regexp.MustCompile(`version\s*=\s*"=?\s*v?[0-9]+\.[0-9]+\.[0-9]+[^",]*"`)
	backendBlock  = regexp.MustCompile(`(?s)backend\s+"([a-z0-9]+)"\s*\{([^}]*)\}`)
	cloudBlock    = regexp.MustCompile(`(?m)^\s*cloud\s*\{`)
	encryption    = regexp.MustCompile(`(?m)^\s*encryption\s*\{`)
	moduleSource  = regexp.MustCompile(`source\s*=\s*"(\.[^"]*)"`)
	encryptTrue   = regexp.MustCompile(`encrypt\s*=\s*true`)
)

// encrypting are places of state that encrypt everything that they keep.
var encrypting = []string{"remote", "gcs", "azurerm", "oss", "cos", "oci"}

// isTerraform says whether a file uses the Talos provider of Terraform or OpenTofu.
func isTerraform(file *facts.File) bool {
	return (file.Extension() == ".tf" || file.Extension() == ".tofu") && mentions(string(file.Text), "siderolabs/talos", "talos_machine_")
}

// stated wants Terraform and Pulumi to be used so that the same comes out tomorrow, and that the state is safe.
func stated(all *facts.Facts, sheet *rule.Sheet) {
	for _, file := range all.Files {
		if file.Tracked && (strings.Contains(file.Base(), ".tfstate") || strings.Contains(file.Path, ".pulumi/stacks/")) {
			sheet.Fail(all.InTree(file, 0), "%s is a state, and Git tracks it: the secrets of the cluster stand in it", file.Path)
		}
	}
	for _, folder := range folders(all, isTerraform) {
		judgeTerraform(all, sheet, folder)
	}
	for _, file := range all.Files {
		if strings.HasPrefix(file.Base(), "Pulumi.y") && len(file.Documents) == 1 {
			judgePulumi(all, sheet, file)
		}
	}
}

// folders are those that have a file of some kind, sorted.
func folders(all *facts.Facts, is func(*facts.File) bool) []string {
	var found []string
	for _, file := range all.Files {
		if is(file) && !slices.Contains(found, path.Dir(file.Path)) {
			found = append(found, path.Dir(file.Path))
		}
	}
	return found
}

// judgeTerraform judges one folder of Terraform. A module is judged where it is used.
func judgeTerraform(all *facts.Facts, sheet *rule.Sheet, folder string) {
	text, first := "", (*facts.File)(nil)
	for _, file := range all.Files {
		switch {
		case file.Extension() != ".tf" && file.Extension() != ".tofu":
		case path.Dir(file.Path) == folder:
			text += string(file.Text) + "\n"
			if first == nil && isTerraform(file) {
				first = file
			}
		case folder != "." && usesModule(file, folder):
			return
		}
	}
	place, title := all.InTree(first, 1), strings.Replace("the folder "+folder, "the folder .", "the root folder", 1)
	if !isTracked(all, path.Join(folder, ".terraform.lock.hcl")) && !exactVersion.MatchString(providerBlock.FindString(text)) {
		sheet.Fail(place, "the Talos provider in %s has no fixed version: neither an exact one nor a .terraform.lock.hcl that is committed", title)
		return
	}
	judgeState(sheet, place, title, text)
}

// isTracked says whether Git has a file.
func isTracked(all *facts.Facts, name string) bool {
	file := fileOf(all, name)
	return file != nil && file.Tracked
}

// usesModule says whether a file uses a folder as a module.
func usesModule(file *facts.File, folder string) bool {
	for _, found := range moduleSource.FindAllStringSubmatch(string(file.Text), -1) {
		if path.Join(path.Dir(file.Path), found[1]) == folder {
			return true
		}
	}
	return false
}

// judgeState judges where the state of a folder of Terraform is kept.
func judgeState(sheet *rule.Sheet, place facts.Place, folder, text string) {
	backend := backendBlock.FindStringSubmatch(text)
	switch {
	case cloudBlock.MatchString(text):
		sheet.Pass(place)
	case backend == nil || backend[1] == "local":
		sheet.Fail(place, "the state of %s is kept in a file beside it: whoever has the folder has the secrets of the cluster, and who loses it cannot go on", folder)
	case slices.Contains(encrypting, backend[1]) || encryption.MatchString(text) || backend[1] == "s3" && encryptTrue.MatchString(backend[2]):
		sheet.Pass(place)
	case backend[1] == "s3" && strings.TrimSpace(backend[2]) != "":
		sheet.Fail(place, "the state of %s is kept in a bucket without encrypt = true", folder)
	default:
		sheet.Unknown(place, "the state of %s is kept by %s, and whether that encrypts it is not said in the files", folder, backend[1])
	}
}

// What Pulumi's programs name the provider in, and what pins it there.
var (
	programs = []string{"package.json", "go.mod", "requirements.txt", "pyproject.toml"}
	locks    = []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "go.sum", "poetry.lock", "uv.lock"}
	pythons  = regexp.MustCompile(`pulumiverse[-_]talos\s*==`)
)

// judgePulumi judges one project of Pulumi, if it is about Talos.
func judgePulumi(all *facts.Facts, sheet *rule.Sheet, project *facts.File) {
	folder, text := path.Dir(project.Path), ""
	for _, name := range programs {
		if file := fileOf(all, path.Join(folder, name)); file != nil {
			text += string(file.Text)
		}
	}
	if !mentions(text, "pulumiverse/talos", "pulumi-talos", "pulumiverse_talos", "pulumiverse-talos") {
		return
	}
	locked := slices.ContainsFunc(locks, func(name string) bool { return isTracked(all, path.Join(folder, name)) })
	place := all.InDocument(project.Documents[0], "backend")
	switch {
	case !locked && !pythons.MatchString(text):
		sheet.Fail(place, "the Talos provider of the Pulumi project %s has no fixed version: no lock file is committed", project.Documents[0].String("name"))
	case strings.HasPrefix(project.Documents[0].String("backend.url"), "file://"):
		sheet.Fail(place, "the state of the Pulumi project %s is kept in files", project.Documents[0].String("name"))
	default:
		sheet.Pass(place)
	}
}
