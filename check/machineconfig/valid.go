// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"errors"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/container"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/redact"
)

// beyond is the first minor version of Talos of which the library that judges configurations knows nothing.
const beyond = "1.15"

// accepted wants Talos to take every configuration. Of a declared pool that was tried when the facts were made.
func accepted(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		if pool.Refused != nil {
			sheet.Fail(pool.At("spec"), "Talos would not take a configuration of pool %s: %s", pool.Object.Name, oneLine(pool.Refused, nil))
			continue
		}
		sheet.Pass(pool.At("spec"))
	}
	for _, machine := range all.Machines {
		if machine.Pool == nil {
			judgeFound(sheet, machine)
		}
	}
}

// judgeFound judges a configuration that was found as a file.
func judgeFound(sheet *rule.Sheet, machine *facts.Machine) {
	switch {
	case sops.Encrypted(machine.Text):
		sheet.Unknown(machine.At(""), "the configuration of %s is encrypted, and Talos reads it only in clear", machine.Name)
		return
	case machine.Since(beyond):
		sheet.Unknown(machine.At(""), "%s has Talos %s, which is newer than what is known here", machine.Name, machine.TalosVersion)
		return
	case machine.LoadError != nil:
		sheet.Fail(machine.At(""), "Talos cannot read the configuration of %s: %s", machine.Name, oneLine(machine.LoadError, machine.Text))
		return
	case machine.Config.RawV1Alpha1() == nil:
		sheet.Unknown(machine.At(""), "%s is a part of a configuration only, and the other part is not there", machine.Name)
		return
	}
	if err := config.Validate(machine.Config, machine.Platform == "metal"); err != nil {
		sheet.Fail(machine.At(""), "the configuration of %s is not valid: %s", machine.Name, oneLine(err, machine.Text))
		return
	}
	sheet.Pass(machine.At(""))
}

// oneLine is an error on one line, without the secrets of a text. What is cited of a document below the first line may hold some that
// stand where nobody expects them: of that only the keys remain.
func oneLine(err error, text []byte) string {
	first, rest, _ := strings.Cut(err.Error(), "\n")
	for line := range strings.Lines(rest) {
		if key, _, _ := strings.Cut(strings.TrimSpace(line), ":"); key != "" {
			first += " " + key + ":"
		}
	}
	first = strings.TrimSuffix(first, ":")
	for _, secret := range redact.Secrets(text) {
		first = strings.ReplaceAll(first, secret, redact.Mark)
	}
	return first
}

// known wants no document that came with a later Talos than the machine has.
func known(all *facts.Facts, sheet *rule.Sheet) {
	for _, pool := range all.Pools {
		var newer *config.NewerKindError
		switch {
		case pool.Refused == nil:
			sheet.Pass(pool.At("spec"))
		case errors.As(pool.Refused, &newer):
			sheet.Fail(pool.At("spec"), "a document of pool %s is too new: %s", pool.Object.Name, newer)
		}
	}
	for _, machine := range all.Machines {
		if machine.Pool != nil {
			continue
		}
		newest, at := newestKind(machine)
		switch place := machine.DocumentAt(newest, "", "kind"); {
		case newest == "": // the old document alone is known to every version
		case machine.TalosVersion == "":
			sheet.Unknown(place, "%s has a document %s, which came with Talos %s, and the version that it has is not known", machine.Name, newest, at)
		case machine.Before(at):
			sheet.Fail(place, "%s has a document %s, which came with Talos %s, and the machine has %s: it does not take the configuration", machine.Name, newest, at, machine.TalosVersion)
		default:
			sheet.Pass(place)
		}
	}
}

// newestKind is the kind of the latest of a machine's documents, and the version that it came with. Kinds that nobody knows are said by
// the rule about loading.
func newestKind(machine *facts.Machine) (kind, version string) {
	for _, document := range machine.Documents {
		at, ok := config.Introduced(document.Kind())
		if ok && (version == "" || facts.Since(at, version)) && at != version {
			kind, version = document.Kind(), at
		}
	}
	return kind, version
}

// once wants a setting to be made in one place.
func once(all *facts.Facts, sheet *rule.Sheet) {
	for _, machine := range all.Machines {
		if machine.Config == nil || machine.Config.RawV1Alpha1() == nil {
			continue
		}
		documents, clean := machine.Config.Documents(), true
		for _, document := range documents {
			careful, ok := document.(container.V1Alpha1ConflictValidator)
			if !ok {
				continue
			}
			if err := careful.V1Alpha1ConflictValidate(machine.Config.RawV1Alpha1()); err != nil {
				clean = false
				sheet.Fail(machine.DocumentAt(document.Kind(), "", "kind"), "%s has a document %s and the old field that it replaces, and Talos refuses both together: %s", machine.Name, document.Kind(), err)
			}
		}
		if clean && len(documents) > 1 {
			sheet.Pass(machine.At(""))
		}
	}
}

// fields lists things as a sentence has them.
func fields(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return strings.Join(names, ", ")
}
