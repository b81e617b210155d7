// SPDX-License-Identifier: Apache-2.0

package declarations

import (
	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
)

// Trials makes the configuration of every machine, with placeholders for all secrets, to hear what Talos has to say of it.
// It expects documents in which [References] found nothing wrong.
func Trials(documents []*load.Document) ([]load.Problem, error) {
	objects, _ := twice(documents)
	all, err := fleet.New(objects)
	if err != nil {
		return nil, err
	}
	var problems []load.Problem
	for _, document := range documents {
		if pool, ok := document.Object.(*api.NodePool); ok {
			if err := all.Trial(pool); err != nil {
				problems = append(problems, document.Problem("spec", err.Error()))
			}
		}
	}
	return problems, nil
}
