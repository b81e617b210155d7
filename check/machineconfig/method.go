// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"cmp"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A way is how machine configurations are made, kept and applied.
type way string

// The ways that rules tell apart.
const (
	byHand     way = "talosctl gen config by hand"
	talhelper  way = "talhelper"
	topf       way = "topf"
	terraform  way = "Terraform"
	pulumi     way = "Pulumi"
	clusterAPI way = "Cluster API"
	omni       way = "Omni"
	minos      way = "Minos"
	gitops     way = "GitOps"
)

// fewest is for how many machines configurations that are made by hand are still looked through by hand.
const fewest = 3

// words are how people call the ways.
var words = map[way][]string{
	byHand: {"gen config", "gen-config", "genconfig"}, talhelper: {"talhelper"}, topf: {"topf"}, terraform: {"terraform", "tofu"}, pulumi: {"pulumi"},
	clusterAPI: {"cluster api", "cluster-api", "clusterapi", "capi", "cabpt"}, omni: {"omni"}, minos: {"minos"}, gitops: {"gitops", "argo", "flux", "pipeline"},
}

// hands are words for work without a tool. They say how configurations are made only where no tool is named that makes them: "Minos over
// Git, applied by hand" is about how they reach machines.
var hands = []string{"by hand", "manual"}

// makers are the ways in which a tool makes all configurations from one declaration.
var makers = []way{talhelper, topf, terraform, pulumi, clusterAPI, omni, minos}

// undecided are answers that are none.
var undecided = []string{"none", "tbd", "todo", "unknown", "undecided", "?", "-"}

// told is what people say about how a cluster's configurations are managed: a decision, or a note.
func told(cluster *facts.Cluster) (string, facts.Place) {
	if decision, ok := cluster.Decision(api.DecisionConfiguration); ok {
		return decision.Answer, cluster.At("spec.decisions")
	}
	return cluster.Notes[facts.NoteConfiguration], cluster.At("metadata.annotations")
}

// says tells whether people say of a cluster that it is managed in a way.
func says(cluster *facts.Cluster, by way) bool {
	text, _ := told(cluster)
	return mentions(strings.ToLower(text), words[by]...)
}

// handmade tells whether people say of a cluster that its configurations are made by hand.
func handmade(cluster *facts.Cluster) bool {
	text, _ := told(cluster)
	made := slices.ContainsFunc(makers, func(by way) bool { return says(cluster, by) })
	return says(cluster, byHand) || !made && mentions(strings.ToLower(text), hands...)
}

// mainFiles are files by which a way is known.
var mainFiles = map[string]way{"talconfig.yaml": talhelper, "talconfig.yml": talhelper, "topf.yaml": topf, "Pulumi.yaml": pulumi, "Pulumi.yml": pulumi}

// shown is the first file of the folder that shows how configurations are managed; nil if none does.
func shown(all *facts.Facts) (*facts.File, way) {
	for _, file := range all.Files {
		if found := mainFiles[file.Base()]; found != "" {
			return file, found
		}
		if isTerraform(file) {
			return file, terraform
		}
		if slices.ContainsFunc(file.Documents, isOmni) {
			return file, omni
		}
	}
	for _, manifest := range all.Manifests {
		if isClusterAPI(manifest) {
			return manifest.File, clusterAPI
		}
	}
	return nil, ""
}

// isOmni says whether a document is a cluster of Omni's templates, which have kinds and no groups.
func isOmni(document *facts.Document) bool {
	return document.Kind() == "Cluster" && document.APIVersion() == "" && document.Get("talos.version") != nil
}

// isClusterAPI says whether a manifest is one of Cluster API's providers for Talos.
func isClusterAPI(manifest *facts.Document) bool {
	return manifest.Kind() == "TalosControlPlane" || strings.HasPrefix(manifest.Kind(), "TalosConfig") && strings.HasPrefix(manifest.APIVersion(), "bootstrap.cluster.x-k8s.io/")
}

// named wants the way of managing configurations to be named.
func named(all *facts.Facts, sheet *rule.Sheet) {
	file, _ := shown(all)
	for _, cluster := range all.Clusters {
		text, place := told(cluster)
		switch {
		case text != "" && slices.Contains(undecided, strings.ToLower(strings.TrimSpace(text))):
			sheet.Fail(place, "how the machine configurations of cluster %s are managed is answered with %q, which is no answer", cluster.Title(), text)
		case text != "":
			sheet.Pass(place)
		case file != nil:
			sheet.Pass(all.InTree(file, 1))
		default:
			sheet.Fail(cluster.At("spec.decisions"), "nobody says how the machine configurations of cluster %s are made, kept and applied", cluster.Title())
		}
	}
}

// small wants configurations to be made by hand for few machines only.
func small(all *facts.Facts, sheet *rule.Sheet) {
	for _, cluster := range all.Clusters {
		if !handmade(cluster) {
			continue
		}
		_, place := told(cluster)
		machines := facts.Count(cluster.Machines)
		refused := slices.ContainsFunc(cluster.Pools, func(pool *facts.Pool) bool { return pool.Refused != nil })
		switch {
		case cluster.Environment == api.EnvironmentDevelopment:
			sheet.Pass(place)
		case machines > fewest:
			sheet.Fail(place, "the configurations of %d machines of cluster %s are made by hand: they drift apart", machines, cluster.Title())
		case machines == 0 || refused:
			sheet.Unknown(place, "the configurations of cluster %s are made by hand, and how many machines it has is not known", cluster.Title())
		default:
			sheet.Pass(place)
		}
	}
}

// worth wants Cluster API to be used where it is worth its weight.
func worth(all *facts.Facts, sheet *rule.Sheet) {
	made := 0
	for _, manifest := range all.Manifests {
		if manifest.Kind() == "Cluster" && strings.HasPrefix(manifest.APIVersion(), "cluster.x-k8s.io/") {
			made++
		}
	}
	_, way := shown(all)
	several := max(made, len(all.Clusters)) > 1
	for _, cluster := range all.Clusters {
		text, place := told(cluster)
		if !says(cluster, clusterAPI) && (text != "" || way != clusterAPI) {
			continue
		}
		decision, _ := cluster.Decision(api.DecisionConfiguration)
		why := strings.ToLower(text + " " + decision.Reason)
		if several || mentions(why, "dynamic", "ephemeral", "on demand", "fleet", "come and go", "short-lived") {
			sheet.Pass(place)
			continue
		}
		sheet.Fail(place, "cluster %s is the only one, and Cluster API manages it: another cluster has to be run for that", cluster.Title())
	}
}

// leaving wants it to be known how to leave Omni.
func leaving(all *facts.Facts, sheet *rule.Sheet) {
	_, way := shown(all)
	for _, cluster := range all.Clusters {
		text, place := told(cluster)
		if !says(cluster, omni) && (text != "" || way != omni) {
			continue
		}
		decision, _ := cluster.Decision(api.DecisionConfiguration)
		why := cluster.Notes[facts.NoteWayOut]
		if why != "" || mentions(strings.ToLower(cmp.Or(decision.Reason, text)), "export", "way out", "leave") {
			sheet.Pass(place)
			continue
		}
		sheet.Fail(place, "cluster %s is managed by Omni, and nobody noted how its machines would leave it", cluster.Title())
	}
}

// mentions says whether a text holds one of some words.
func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
