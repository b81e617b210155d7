// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos/compare"
	"minos.dev/minos/talos/redact"
)

// The resource by which Talos shows a machine's configuration, and the name of the one that is in force.
const (
	liveConfigs = facts.LiveMachineConfigs
	inForce     = "v1alpha1"
)

// most is how many differences are shown: who applied another file by accident need not read all of it.
const most = 5

// longest is how much of a value is shown: a file in a configuration would hide the others.
const longest = 60

// same wants machines to run with the configuration that is here.
func same(all *facts.Facts, sheet *rule.Sheet) {
	if all.Live == nil || len(all.Live.Resources[liveConfigs]) == 0 {
		if len(all.Machines) > 0 {
			sheet.Unknown(all.Whole(), "no configuration of a running machine was saved: 'talosctl get machineconfig -o json' prints it")
		}
		return
	}
	machines, asked := newBook(all), map[*facts.Machine]bool{}
	for _, saved := range all.Live.Resources[liveConfigs] {
		if saved.Name() != inForce {
			continue
		}
		text := saved.String("spec")
		machine := machines.find(saved.Node, ownName(text))
		place := saved.At("spec")
		place.Environment = all.Whole().Environment
		switch {
		case machine == nil:
			sheet.Unknown(place, "which of the machines %s is cannot be told: no name and no address of one is the same", saved.Node)
		case text == "":
			sheet.Unknown(place, "the saved configuration of %s is empty", machine.Name)
		default:
			asked[machine] = true
			judgeDrift(sheet, machine, text)
		}
	}
	var missing []string
	for _, machine := range all.Machines {
		if !asked[machine] {
			missing = append(missing, machine.Name)
		}
	}
	if len(missing) > 0 {
		sheet.Unknown(all.Whole(), "no configuration of %s was saved", fields(missing))
	}
}

// ownName is the name that a saved configuration gives its machine; empty if it gives none.
func ownName(text string) string {
	provider, err := configloader.NewFromBytes([]byte(text))
	if err != nil {
		return ""
	}
	return hostname(&facts.Machine{Config: provider})
}

// judgeDrift compares what a machine should have with what it has.
func judgeDrift(sheet *rule.Sheet, machine *facts.Machine, text string) {
	changes, err := compare.Configs(machine.Text, []byte(text), nil)
	if err != nil {
		sheet.Unknown(machine.At(""), "the configurations of %s cannot be compared: one of them is no YAML", machine.Name)
		return
	}
	texts := differences(machine, changes)
	if len(texts) == 0 {
		sheet.Pass(machine.At(""))
		return
	}
	evidence := texts[:min(len(texts), most)]
	if more := len(texts) - len(evidence); more > 0 {
		evidence = append(evidence, fmt.Sprintf("and %d more", more))
	}
	sheet.Fail(machine.At(""), "%s runs with another configuration than the one that is here: %d values or documents differ", machine.Name, len(texts)).Evidence = strings.Join(evidence, "; ")
}

// differences are changes in words: each value, and each document that only one side has. Secrets are left out.
func differences(machine *facts.Machine, changes []compare.Change) []string {
	alone := map[string]string{} // documents that one side has
	for _, change := range changes {
		switch {
		case change.Path == "kind" && change.Old == nil:
			alone[change.Document] = "not here, and there"
		case change.Path == "kind" && change.New == nil:
			alone[change.Document] = "here, and not there"
		}
	}
	var texts []string
	for _, change := range changes {
		side, whole := alone[change.Document]
		switch {
		case whole && change.Path == "kind":
			texts = append(texts, fmt.Sprintf("the document %s is %s", change.Document, side))
		case whole || isSecret(machine, change):
		default:
			texts = append(texts, fmt.Sprintf("%s %s: %s here, %s there", change.Document, change.Path, value(change.Old), value(change.New)))
		}
	}
	return texts
}

// isSecret says whether a difference is one of secrets only: both are hidden, the one here is encrypted, or Minos put something in its
// place.
func isSecret(machine *facts.Machine, change compare.Change) bool {
	if strings.HasPrefix(change.Path, "sops.") {
		return true
	}
	if change.Old == nil || change.New == nil {
		return false
	}
	here, there := *change.Old, *change.New
	if strings.Contains(here+there, redact.Mark) || strings.HasPrefix(here, "ENC[") {
		return true
	}
	// The rehearsal of a declaration has authorities, tokens and identities of its own.
	authority := certificate(here) && !strings.HasPrefix(change.Document, "TrustedRootsConfig")
	return machine.Rendered && (authority || strings.Contains(here, "placeholder") || strings.HasPrefix(here, "AAAAAAAA"))
}

// certificate says whether a value is a certificate, as it is or in base64.
func certificate(value string) bool {
	return strings.Contains(value, "BEGIN CERTIFICATE") || strings.HasPrefix(value, "LS0tLS1CRUdJTi")
}

// value is a value as a person reads it.
func value(text *string) string {
	if text == nil {
		return "nothing"
	}
	if len(*text) > longest {
		return (*text)[:longest] + "…"
	}
	return *text
}
