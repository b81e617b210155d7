// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
)

// fields is every text that a tenant can write into the objects that the role lets it make, and where it leads. "tried" leads to
// something by its name: there is an attempt to reach what is elsewhere with it. Of the rest it is said why nothing is reached.
const fields = `
TalosCluster.cni.manifests[]                                 applied by control planes of Talos machines, which the operator does not run
TalosCluster.cni.provider                                    one of a list
TalosCluster.config.patches[]                                tried
TalosCluster.controlPlane.external.kubeconfigSecretRef.key   tried
TalosCluster.controlPlane.external.kubeconfigSecretRef.name  tried
TalosCluster.controlPlane.kamaji.certSANs[]                  names in a certificate of the cluster's own authority
TalosCluster.controlPlane.kamaji.dataStoreName               tried
TalosCluster.controlPlane.kamaji.service.annotations         of the cluster's own Service
TalosCluster.controlPlane.kamaji.service.labels              of the cluster's own Service
TalosCluster.controlPlane.kamaji.service.type                one of a list
TalosCluster.controlPlane.talos.workloads                    one of a list
TalosCluster.decisions[].about                               one of a list
TalosCluster.decisions[].answer                              words for people
TalosCluster.decisions[].date                                words for people
TalosCluster.decisions[].owner                               words for people
TalosCluster.decisions[].reason                              words for people
TalosCluster.endpoint.host                                   tried
TalosCluster.environment                                     one of a list
TalosCluster.images.caBundle                                 certificates themselves
TalosCluster.images.factory                                  fetched by the tenant's own machines, and by the import of their disks
TalosCluster.images.installer                                fetched by the tenant's own machines
TalosCluster.images.mirrors[].endpoints[]                    fetched by the tenant's own machines
TalosCluster.images.mirrors[].fallback                       one of a list
TalosCluster.images.mirrors[].registry                       fetched by the tenant's own machines
TalosCluster.images.signer                                   tried
TalosCluster.kubernetesVersion                               a version
TalosCluster.network.dnsDomain                               inside of the cluster
TalosCluster.network.podCIDRs[]                              inside of the cluster, and clear of the management cluster's
TalosCluster.network.serviceCIDRs[]                          inside of the cluster, and clear of the management cluster's
TalosCluster.talosVersion                                    a version
NodePool.architecture                                        one of a list
NodePool.clusterName                                         tried
NodePool.config.kubelet.evictionHardMemory                   an amount
NodePool.config.kubelet.evictionSoftMemory                   an amount
NodePool.config.kubelet.extraArgs                            on the tenant's own machines
NodePool.config.labels                                       on the tenant's own machines
NodePool.config.mirrors[].endpoints[]                        fetched by the tenant's own machines
NodePool.config.mirrors[].fallback                           one of a list
NodePool.config.mirrors[].registry                           fetched by the tenant's own machines
NodePool.config.patches[]                                    tried
NodePool.config.taints[].effect                              one of a list
NodePool.config.taints[].key                                 on the tenant's own machines
NodePool.config.taints[].value                               on the tenant's own machines
NodePool.health.failed                                       one of a list
NodePool.locationRef.kind                                    tried
NodePool.locationRef.name                                    tried
NodePool.machine.kubevirt.bootstrap                          one of a list
NodePool.machine.kubevirt.disk.storageClassName              a class of the management cluster's, which quotas of the namespace bound
NodePool.machine.kubevirt.gpus[].deviceName                  a class of the management cluster's, which quotas of the namespace bound
NodePool.machine.kubevirt.nodeSelector                       where the tenant's own machines run
NodePool.machine.kubevirt.serialConsole                      one of a list
NodePool.machine.kubevirt.size.instanceType                  a size of the platform's, which places choose from
NodePool.machine.kubevirt.spread[].topologyKey               where the tenant's own machines run
NodePool.machine.kubevirt.spread[].whenUnsatisfiable         one of a list
NodePool.machine.metal.hosts[].address                       of the command line, not of the operator
NodePool.machine.metal.hosts[].config.patches[]              of the command line, not of the operator
NodePool.machine.metal.hosts[].disk.match                    of the command line, not of the operator
NodePool.machine.metal.hosts[].disk.path                     of the command line, not of the operator
NodePool.machine.metal.hosts[].name                          of the command line, not of the operator
NodePool.machine.metal.secureBoot                            one of a list
NodePool.machine.sim.gpu                                     one of a list
NodePool.role                                                tried
`

// kinds are ours, by the resource in whose name rights are given.
var kinds = map[string]any{
	"talosclusters": api.TalosCluster{}, "nodepools": api.NodePool{}, "talosmachines": api.TalosMachine{}, "locations": api.Location{},
	"clusterlocations": api.ClusterLocation{}, "noderoles": api.NodeRole{},
}

// TestTenantFields wants the table above to know every field that a tenant can write, and each that leads somewhere to be tried.
func TestTenantFields(t *testing.T) {
	var found []string
	for _, resource := range writable(t) {
		kind := reflect.TypeOf(kinds[resource])
		spec, _ := kind.FieldByName("Spec")
		texts(spec.Type, kind.Name(), &found)
	}
	known := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(fields)) {
		field, leads, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[field] = strings.TrimSpace(leads)
		if !slices.Contains(found, field) {
			t.Errorf("%s is in the table, and no tenant can write it", field)
		}
	}
	for _, field := range found {
		leads := known[field]
		isTried := slices.ContainsFunc(attempts, func(one attempt) bool { return one.field == field })
		switch {
		case leads == "":
			t.Errorf("%s is not in the table: say where it leads, and try it if it leads somewhere", field)
		case (leads == "tried") != isTried:
			t.Errorf("%s is said to lead so: %s; that it is tried is %t", field, leads, isTried)
		}
	}
}

// writable are the resources of ours that the tenant's role lets it make or change.
func writable(t *testing.T) []string {
	t.Helper()
	text, err := fs.ReadFile(charts.Operator, "minos/operator/tenant.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal([]byte(strings.Split(string(text), "\n---\n")[0]), role); err != nil || role.Name != "minos-tenant" {
		t.Fatalf("the first object is %s, %v", role.Name, err)
	}
	var found []string
	for _, rule := range role.Rules {
		if !slices.Contains(rule.APIGroups, api.GroupVersion.Group) || !slices.ContainsFunc(rule.Verbs, func(verb string) bool {
			return slices.Contains([]string{"create", "update", "patch", "*"}, verb)
		}) {
			continue
		}
		for _, resource := range rule.Resources {
			if _, known := kinds[resource]; known {
				found = append(found, resource)
			} else if resource != "nodepools/scale" {
				t.Errorf("the role lets a tenant write %s, of which nothing is known here", resource)
			}
		}
	}
	if len(found) < 2 {
		t.Fatalf("the role lets a tenant write %v", found)
	}
	return found
}

// texts are the paths of all texts in a type, also those in lists and maps.
func texts(of reflect.Type, path string, found *[]string) {
	switch {
	case of == reflect.TypeFor[api.Patch](), of.Kind() == reflect.String, of.Kind() == reflect.Map:
		*found = append(*found, path)
	case strings.HasPrefix(of.PkgPath(), "k8s.io/"): // amounts and numbers
	case of.Kind() == reflect.Pointer:
		texts(of.Elem(), path, found)
	case of.Kind() == reflect.Slice:
		texts(of.Elem(), path+"[]", found)
	case of.Kind() == reflect.Struct:
		for at := range of.NumField() {
			field := of.Field(at)
			inside := path
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				inside += "." + name
			}
			texts(field.Type, inside, found)
		}
	}
}
