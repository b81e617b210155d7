// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"slices"
	"strconv"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// drainable wants disruption budgets that let at least one pod go.
func drainable(all *facts.Facts, sheet *rule.Sheet) {
	for _, manifest := range all.Manifests {
		if manifest.Kind() != "PodDisruptionBudget" {
			continue
		}
		most, least := manifest.String("spec.maxUnavailable"), manifest.String("spec.minAvailable")
		title := strings.TrimPrefix(manifest.Namespace()+"/"+manifest.Name(), "/")
		wanted, err := strconv.Atoi(least)
		switch place := all.InDocument(manifest, "spec"); {
		case most == "0" || most == "0%":
			sheet.Fail(place, "PodDisruptionBudget %s lets no pod go: maxUnavailable is %s", title, most)
		case least == "100%":
			sheet.Fail(place, "PodDisruptionBudget %s lets no pod go: minAvailable is 100%%", title)
		case least == "" || err != nil || wanted == 0: // a share below the whole, or a bound from the other side
			sheet.Pass(place)
		default:
			counted(all, sheet, manifest, wanted)
		}
	}
}

// counted compares how many pods a budget keeps with how many there are.
func counted(all *facts.Facts, sheet *rule.Sheet, budget *facts.Document, wanted int) {
	place := all.InDocument(budget, "spec.minAvailable")
	workload, count := selected(all, budget)
	switch {
	case workload == nil:
		sheet.Unknown(place, "PodDisruptionBudget %s keeps %d pods, and what it is about is not among the manifests here", budget.Name(), wanted)
	case wanted >= count:
		sheet.Fail(place, "PodDisruptionBudget %s keeps %d pods, and %s %s has %d: none may go", budget.Name(), wanted, workload.Kind(), workload.Name(), count)
	default:
		sheet.Pass(place)
	}
}

// selected is the workload that a budget is about, and how many pods it has at least.
func selected(all *facts.Facts, budget *facts.Document) (*facts.Document, int) {
	labels := budget.Map("spec.selector.matchLabels")
	for _, manifest := range all.Manifests {
		owner := slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, manifest.Kind())
		if !owner || len(labels) == 0 || manifest.Namespace() != budget.Namespace() || !has(manifest.Map("spec.template.metadata.labels"), labels) {
			continue
		}
		return manifest, pods(all, manifest)
	}
	return nil, 0
}

// pods is how many pods a workload has at least: by itself, or by what scales it.
func pods(all *facts.Facts, workload *facts.Document) int {
	count, err := strconv.Atoi(workload.String("spec.replicas"))
	if err != nil {
		count = 1
	}
	for _, scaler := range all.Manifests {
		if scaler.Kind() != "HorizontalPodAutoscaler" || scaler.Namespace() != workload.Namespace() || scaler.String("spec.scaleTargetRef.name") != workload.Name() {
			continue
		}
		if least, err := strconv.Atoi(scaler.String("spec.minReplicas")); err == nil {
			count = least
		}
	}
	return count
}

// has says whether some labels are among others.
func has(labels, wanted map[string]any) bool {
	for key, value := range wanted {
		if facts.Text(labels[key]) != facts.Text(value) || labels[key] == nil {
			return false
		}
	}
	return true
}
