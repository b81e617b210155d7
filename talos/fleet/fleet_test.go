// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"strings"
	"testing"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/fleet"
)

// two is two clusters of one name in two namespaces, each with a pool of its own.
const two = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: a}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 192.0.2.1}
  controlPlane: {talos: {}}
  images: {factory: https://factory.example.com, installer: registry.example.com/installer}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: here, namespace: a}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: workers, namespace: a}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: Location, name: here}
  machine: {metal: {hosts: [{name: one, address: 192.0.2.11, disk: {path: /dev/sda}}]}}
---
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: shop, namespace: b}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  controlPlane: {kamaji: {}}
---
apiVersion: minos.dev/v1alpha1
kind: ClusterLocation
metadata: {name: house}
spec: {kubevirt: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: pool, namespace: b}
spec:
  clusterName: shop
  role: plain
  locationRef: {kind: ClusterLocation, name: house}
  replicas: 1
  machine: {kubevirt: {size: {instanceType: u1.medium}}}
`

// fleetOf reads declarations, changes one of them and puts them together.
func fleetOf(t *testing.T, text string, change func(load.Object)) *fleet.Fleet {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := reader.Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var objects []load.Object
	for _, document := range documents {
		change(document.Object)
		objects = append(objects, document.Object)
	}
	all, err := fleet.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// nothing changes nothing.
func nothing(load.Object) {}

// the machines of the only pool of a cluster.
func machines(t *testing.T, all *fleet.Fleet, namespace string, with fleet.Secrets) ([]fleet.Machine, error) {
	t.Helper()
	for _, cluster := range all.Clusters() {
		if cluster.Namespace == namespace {
			pools := all.Pools(cluster)
			if len(pools) != 1 {
				t.Fatalf("cluster %s/%s has %d pools", cluster.Namespace, cluster.Name, len(pools))
			}
			return all.Render(pools[0], with)
		}
	}
	t.Fatalf("there is no cluster in namespace %s", namespace)
	return nil, nil
}

func TestClustersOfOneNameAreApart(t *testing.T) {
	all := fleetOf(t, two, nothing)
	rendered, err := machines(t, all, "a", given(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(rendered) != 1 || rendered[0].Name != "one" || rendered[0].Address != "192.0.2.11" {
		t.Errorf("got %v", rendered)
	}
}

func TestInstallerOfTheClustersImages(t *testing.T) {
	const schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba" // of no extension
	secure := func(object load.Object) {
		if pool, ok := object.(*api.NodePool); ok && pool.Spec.Machine.Metal != nil {
			pool.Spec.Machine.Metal.SecureBoot = api.SecureBootEnabled
		}
	}
	without := func(text string) string {
		return strings.Replace(text, ", installer: registry.example.com/installer", "", 1)
	}
	tests := map[string]struct {
		text   string
		change func(load.Object)
		want   string
	}{
		"a registry of their own":      {two, nothing, "registry.example.com/installer/" + schematic + ":v1.13.9"},
		"that of the factory":          {without(two), nothing, "factory.example.com/metal-installer/" + schematic + ":v1.13.9"},
		"for machines with SecureBoot": {without(two), secure, "factory.example.com/metal-installer-secureboot/" + schematic + ":v1.13.9"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rendered, err := machines(t, fleetOf(t, test.text, test.change), "a", given(t))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(rendered[0].Config), "image: "+test.want+"\n") {
				t.Errorf("%s is not the installer in:\n%s", test.want, rendered[0].Config)
			}
		})
	}
}

func TestEndpointOfAHostedCluster(t *testing.T) {
	if _, err := machines(t, fleetOf(t, two, nothing), "b", given(t)); err == nil || !strings.Contains(err.Error(), "has no endpoint yet") {
		t.Errorf("a hosted cluster that does not run yet was rendered: %v", err)
	}
	runs := func(object load.Object) {
		if cluster, ok := object.(*api.TalosCluster); ok && cluster.Spec.ControlPlane.Kamaji != nil {
			cluster.Status.Endpoint = &api.Endpoint{Host: "203.0.113.7", Port: 443}
		}
	}
	rendered, err := machines(t, fleetOf(t, two, runs), "b", given(t))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(rendered[0].Config), "endpoint: https://203.0.113.7:443\n") {
		t.Errorf("the endpoint that it got is not in:\n%s", rendered[0].Config)
	}
}

func TestAcceptedAuthoritiesReachMachines(t *testing.T) {
	with := given(t)
	with.Accepted = config.Accepted{TalosCAs: []string{string(with.Bundle.Certs.OS.Crt)}}
	rendered, err := machines(t, fleetOf(t, two, nothing), "a", with)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(rendered[0].Config), "acceptedCAs:") {
		t.Error("an authority that is accepted too did not reach the machine")
	}
}

func TestWhatLeadsNowhere(t *testing.T) {
	pool := &api.NodePool{}
	pool.Namespace, pool.Spec.ClusterName = "a", "shap"
	pool.Spec.LocationRef = api.LocationReference{Kind: api.KindClusterLocation, Name: "hause"}
	all := fleetOf(t, two, nothing)
	_, noCluster := all.Cluster(pool)
	_, noLocation := all.Location(pool)
	for want, got := range map[string]error{
		`there is no TalosCluster "shap" in namespace "a", did you mean "shop"?`: noCluster,
		`there is no ClusterLocation "hause", did you mean "house"?`:             noLocation,
	} {
		if got == nil || got.Error() != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}
