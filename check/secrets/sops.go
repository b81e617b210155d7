// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/check/secret"
	"minos.dev/minos/sops"
)

// A bearer is a file that holds secrets, readable or encrypted, with the fields at which they stand.
type bearer struct {
	file   *facts.File
	fields []string
	// settings is the .sops.yaml that is for it, and below its path below that.
	settings *facts.File
	below    string
}

// The fields at which secrets stand, by what a file is.
var (
	machineFields = []string{
		"machine.token", "machine.ca.key", "cluster.secret", "cluster.token", "cluster.secretboxEncryptionSecret", "cluster.ca.key", "cluster.aggregatorCA.key",
		"cluster.serviceAccount.key", "cluster.etcd.ca.key",
	}
	bundleFields = []string{
		"cluster.secret", "secrets.bootstraptoken", "secrets.secretboxencryptionsecret", "trustdinfo.token", "certs.etcd.key", "certs.k8s.key", "certs.k8saggregator.key",
		"certs.k8sserviceaccount.key", "certs.os.key",
	}
	talosFields = []string{"contexts.default.key"}
	kubeFields  = []string{"users.user.client-key-data"}
)

// covered wants the rules of SOPS to fit the files that hold secrets.
func covered(all *facts.Facts, sheet *rule.Sheet) {
	for _, one := range bearers(all) {
		place := all.InTree(one.file, 0)
		switch {
		case one.settings != nil:
			judgeCoverage(all, sheet, one)
		case slices.ContainsFunc(all.Clusters, otherwise):
		case sops.Encrypted(one.file.Text):
			sheet.Fail(place, "%s is encrypted, and there is no .sops.yaml: whoever encrypts it next has to know by heart for whom", one.file.Path)
		default:
			sheet.Fail(place, "%s holds secrets, and there is no .sops.yaml that says how it is encrypted", one.file.Path)
		}
	}
}

// otherwise says whether a cluster's secrets are kept in another way, by decision.
func otherwise(cluster *facts.Cluster) bool {
	return cluster.Decided(api.DecisionSecrets, "vault", "sealed", "external", "omni", "openbao", "1password", "infisical", "not in git")
}

// bearers are the files that hold secrets and that Git has, or would take.
func bearers(all *facts.Facts) []bearer {
	var found []bearer
	for _, file := range all.Files {
		if file.Ignored || len(file.Documents) == 0 || secret.Marked(file.Path, file.Text) {
			continue
		}
		if fields := secretFields(all, file); len(fields) > 0 {
			settings, below := settingsOf(all, file.Path)
			found = append(found, bearer{file, fields, settings, below})
		}
	}
	return found
}

// secretFields are the fields of a file at which secrets stand.
func secretFields(all *facts.Facts, file *facts.File) []string {
	is := func(document *facts.Document) bool { return document.File == file }
	switch {
	case slices.ContainsFunc(all.Bundles, is):
		return bundleFields
	case slices.ContainsFunc(all.Machines, func(machine *facts.Machine) bool { return machine.File == file.Path && !machine.Rendered }):
		return present(file.Documents[0], machineFields)
	case slices.ContainsFunc(all.Accesses, func(document *facts.Document) bool { return is(document) && document.Kind() == "Config" }):
		return kubeFields
	case slices.ContainsFunc(all.Accesses, is):
		return talosFields
	case file.Documents[0].Kind() == "Secret":
		return present(file.Documents[0], []string{"data", "stringData"})
	}
	return nil
}

// present are those of some fields that a document has, with more than a placeholder.
func present(document *facts.Document, fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		text, isText := document.Get(field).(string)
		return document.Get(field) == nil || isText && (text == "" || standsIn(text))
	})
}

// standsIn says whether a text stands for a secret that is given elsewhere, which is not so for an encrypted one.
func standsIn(text string) bool {
	placeholder, elsewhere := secret.StandsIn(text)
	return placeholder || elsewhere && !strings.HasPrefix(text, "ENC[")
}

// settingsOf is the nearest .sops.yaml above a file, and the file's path below that.
func settingsOf(all *facts.Facts, name string) (*facts.File, string) {
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		for _, file := range all.Files {
			if file.Base() == ".sops.yaml" && path.Dir(file.Path) == folder {
				return file, strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
			}
		}
		if folder == "." || folder == "/" {
			return nil, ""
		}
	}
}

// judgeCoverage holds one file to the rules of SOPS.
func judgeCoverage(all *facts.Facts, sheet *rule.Sheet, one bearer) {
	settings := one.settings
	place := all.InTree(settings, 1)
	config, err := sops.ParseConfig(settings.Text)
	if err != nil {
		sheet.Fail(place, "%s cannot be read: %v", settings.Path, err)
		return
	}
	chosen, err := config.For(one.below)
	var none *sops.NoRuleError
	var unsupported *sops.UnsupportedError
	switch {
	case errors.As(err, &none):
		sheet.Fail(place, "no rule of %s is for %s, which holds secrets", settings.Path, one.file.Path)
		return
	case errors.As(err, &unsupported):
		sheet.Unknown(place, "%s is encrypted for other keys than those of age (%s), and what its rule covers is not known here", one.file.Path, unsupported.What)
		return
	case err != nil:
		sheet.Fail(place, "the rule of %s for %s is not valid: %v", settings.Path, one.file.Path, err)
		return
	}
	var missed []string
	for _, field := range one.fields {
		if ok, err := chosen.Covers(strings.Split(field, ".")); err != nil || !ok {
			missed = append(missed, field)
		}
	}
	if len(missed) > 0 {
		outcome := sheet.Fail(place, "the rule of %s for %s leaves readable: %s", settings.Path, one.file.Path, strings.Join(missed, ", "))
		outcome.Evidence, outcome.Patch = readers(chosen), widened(one, missed)
		return
	}
	sheet.Pass(place)
}

// readers says who can decrypt what a rule encrypts.
func readers(chosen sops.Rule) string {
	return fmt.Sprintf("can be decrypted by %s", strings.Join(chosen.Recipients, ", "))
}
