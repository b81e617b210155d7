// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"minos.dev/minos/sim/soak/story"
)

// house is the platform's place, of virtual machines.
const house = `
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house}
spec: {kubevirt: {namespaces: {}}}
`

// tailscale is the Secret with the key of gateways.
const tailscale = "tailscale"

// tenancy is what stays of a tenant: a namespace, a place of instances, and a key for gateways.
const tenancy = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: cloud, namespace: NAMESPACE}
spec: {sim: {zone: cloud-1}}
---
apiVersion: v1
kind: Secret
metadata: {name: tailscale, namespace: NAMESPACE}
stringData: {authkey: AUTHKEY}
`

// cluster is a tenant's.
const cluster = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: CLUSTER, namespace: NAMESPACE}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  network: {podCIDRs: [10.60.0.0/16], serviceCIDRs: [10.61.0.0/16]}
  controlPlane: {kamaji: {}}
`

// pool is one of them. Silence of a Node is noticed as early as may be declared; pods are not waited for, because there are none.
const pool = `
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: POOL, namespace: NAMESPACE}
spec:
  clusterName: CLUSTER
  role: ROLE
  locationRef: {kind: KIND, name: PLACE}
  replicas: COUNT
  machine: MACHINE
  health: {unknownTimeoutSeconds: 30, notReadyTimeoutSeconds: 60}
  rollout: ROLLOUT
`

// sparing are the pools that take a machine away before they make another.
var sparing = []string{"storage", "edge"}

// A limit is what a roll-out of a pool may disturb, by what it declares.
type limit struct{ surge, unavailable int }

// limitOf is that of a pool of a name and a role. A role that a cluster has once is taken away before it is made anew, whatever is
// declared.
func limitOf(name, role string) limit {
	if role == story.Gateway || slices.Contains(sparing, name) {
		return limit{unavailable: 1}
	}
	return limit{surge: 1}
}

// machineOf is what machines are made of, in a size.
func machineOf(place story.Place, size int) string {
	resources := fmt.Sprintf("{cpu: %d, memory: %dGi}", 2+size, 4+2*size)
	if place == story.House {
		return "{kubevirt: {size: {resources: " + resources + "}}}"
	}
	return "{sim: {resources: " + resources + "}}"
}

// clusterText is a cluster that a deed makes.
func clusterText(deed story.Deed) string {
	return strings.NewReplacer("CLUSTER", deed.Cluster, "NAMESPACE", namespaceOf(deed.Cluster)).Replace(cluster)
}

// poolText is a pool that a deed makes.
func poolText(deed story.Deed) string {
	kind := "Location"
	if deed.Place == story.House {
		kind = "ClusterLocation"
	}
	limit := limitOf(deed.Pool, deed.What)
	return strings.NewReplacer(
		"POOL", deed.Pool, "CLUSTER", deed.Cluster, "NAMESPACE", namespaceOf(deed.Cluster), "ROLE", deed.What, "KIND", kind, "PLACE", string(deed.Place),
		"COUNT", fmt.Sprint(deed.Number), "MACHINE", machineOf(deed.Place, 0),
		"ROLLOUT", fmt.Sprintf("{maxSurge: %d, maxUnavailable: %d, drainTimeoutSeconds: 5}", limit.surge, limit.unavailable),
	).Replace(pool)
}

// change is what a deed changes of a pool, as a merge patch.
func change(deed story.Deed, place story.Place) (string, error) {
	var text string
	switch deed.Kind {
	case story.ScalePool:
		text = fmt.Sprintf("{spec: {replicas: %d}}", deed.Number)
	case story.ResizePool:
		text = fmt.Sprintf("{spec: {machine: %s}}", machineOf(place, deed.Number))
	case story.RelabelPool:
		text = fmt.Sprintf("{spec: {config: {labels: {%s: %q}}}}", label, fmt.Sprint(deed.Number))
	case story.PatchPool:
		text = fmt.Sprintf("{spec: {config: {kubelet: {extraArgs: {event-qps: %q}}}}}", fmt.Sprint(50+deed.Number))
	default:
		return "", fmt.Errorf("%s is no change of a pool", deed)
	}
	json, err := yaml.YAMLToJSON([]byte(text))
	return string(json), err
}

// label is what pools are relabelled by.
const label = "soak.example.com/label"
