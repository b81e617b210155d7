// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// The files that are written.
const (
	fileCluster = "cluster.yaml"
	fileRoles   = "roles.yaml"
	filePools   = "pools.yaml"
)

// A mapping is a YAML mapping in the making, in the order in which a person would write it.
type mapping struct{ node *yaml.Node }

func newMapping() *mapping { return &mapping{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}} }

// set adds a field, unless there is nothing to say.
func (m *mapping) set(key string, value any) *mapping {
	if below, ok := value.(*mapping); ok {
		if below == nil || len(below.node.Content) == 0 {
			return m
		}
		value = below.node
	}
	if found := reflect.ValueOf(value); !found.IsValid() || found.IsZero() || (found.Kind() == reflect.Slice || found.Kind() == reflect.Map) && found.Len() == 0 {
		return m
	}
	m.node.Content = append(m.node.Content, tree(key), tree(plain(value)))
	return m
}

// from adds a field with a comment that says where it comes from.
func (m *mapping) from(key string, value any, origins origins) *mapping {
	before := len(m.node.Content)
	if m.set(key, value); len(m.node.Content) > before {
		m.node.Content[before] = commented(m.node.Content[before], origins[key]...)
	}
	return m
}

// plain is a value of our kinds as data.
func plain(value any) any {
	if node, ok := value.(*yaml.Node); ok {
		return node
	}
	text, err := k8syaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	nodes, err := patch.Nodes(text)
	if err != nil || len(nodes) != 1 {
		return fmt.Sprint(value)
	}
	return mustValue(nodes[0])
}

// object is a whole object.
func object(kind, name string, spec *mapping) *mapping {
	return newMapping().set("apiVersion", api.GroupVersion.String()).set("kind", kind).
		set("metadata", newMapping().set("name", name)).set("spec", spec)
}

// files are the plan as files.
func (p *plan) files() (map[string][]byte, error) {
	documents := map[string][]*yaml.Node{
		fileCluster: {commented(p.cluster().node, p.heading()...), p.location().node},
	}
	var declared []string
	for _, pool := range p.pools {
		documents[filePools] = append(documents[filePools], pool.object(p).node)
		if one := pool.role; !one.builtin && !slices.Contains(declared, one.name) {
			declared = append(declared, one.name)
			documents[fileRoles] = append(documents[fileRoles], one.object(pool).node)
		}
	}
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		text, err := encode(documents[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = text
	}
	return files, nil
}

// encode writes documents.
func encode(documents []*yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			return nil, err
		}
	}
	err := encoder.Close()
	return b.Bytes(), err
}

// heading says where the folder comes from.
func (p *plan) heading() []string {
	return []string{
		"Made from a folder of " + p.source.Tool + ". Comments say where each part comes from.",
	}
}

// cluster is the TalosCluster.
func (p *plan) cluster() *mapping {
	talos := newMapping()
	plane := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
	if p.facts.workloads {
		plane = newMapping().set("workloads", string(api.WorkloadsAllowed)).node
	}
	talos.node.Content = append(talos.node.Content, tree("talos"), plane)
	endpoint := newMapping().set("host", p.facts.endpoint.Hostname())
	if p.facts.port() != 6443 {
		endpoint.set("port", p.facts.port())
	}
	spec := newMapping().
		set("kubernetesVersion", string(p.source.Kubernetes)).
		set("talosVersion", string(p.source.Talos)).
		set("endpoint", endpoint).
		set("network", p.facts.networks(config.DefaultNetwork())).
		set("controlPlane", talos).
		from("cni", p.cni, p.from).
		from("images", p.images, p.from).
		set("config", layer(p.steps))
	return object("TalosCluster", p.facts.clusterName(), spec)
}

// location is the place of all machines.
func (p *plan) location() *mapping {
	metal := newMapping().from("network", p.network, p.from)
	spec := newMapping()
	if len(metal.node.Content) == 0 {
		metal.node.Style = yaml.FlowStyle
	}
	spec.node.Content = append(spec.node.Content, tree("metal"), metal.node)
	return object("Location", p.facts.clusterName(), spec)
}

// object is the NodeRole.
func (r role) object(pool *pool) *mapping {
	spec := newMapping().
		set("extends", string(r.spec.Extends)).
		set("extensions", r.spec.Extensions).
		set("kernelArgs", r.spec.KernelArgs).
		from("kernelModules", r.spec.KernelModules, pool.from).
		from("services", r.spec.Services, pool.from)
	return object("NodeRole", r.name, spec)
}

// object is the NodePool.
func (p *pool) object(plan *plan) *mapping {
	hosts := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, host := range p.hosts {
		one := newMapping().set("name", host.name).set("address", host.machine.Address).
			set("disk", host.disk).set("config", layer(host.steps))
		hosts.Content = append(hosts.Content, commented(one.node, host.comment))
	}
	metal := newMapping().set("hosts", hosts)
	if p.secureBoot {
		metal.set("secureBoot", string(api.SecureBootEnabled))
	}
	own := newMapping().from("labels", p.config.Labels, p.from).from("taints", p.config.Taints, p.from).from("kubelet", p.config.Kubelet, p.from)
	if list := patchList(p.steps); list != nil {
		own.set("patches", list)
	}
	spec := newMapping().
		set("clusterName", plan.facts.clusterName()).
		set("role", p.role.name).
		set("locationRef", newMapping().set("kind", string(api.KindLocation)).set("name", plan.facts.clusterName()))
	if p.architecture != api.AMD64 {
		spec.set("architecture", string(p.architecture))
	}
	spec.set("machine", newMapping().set("metal", metal)).set("config", own)
	return object("NodePool", p.name, spec)
}

// layer is a layer of configuration, or nothing.
func layer(steps []Step) *mapping {
	if list := patchList(steps); list != nil {
		return newMapping().set("patches", list)
	}
	return nil
}

// remarks are the lines of a comment without their marks.
func remarks(comment string) []string {
	var lines []string
	for line := range strings.Lines(comment) {
		lines = append(lines, strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")))
	}
	return lines
}

// patchList is the patches of steps, each with where it comes from.
func patchList(steps []Step) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	last := ""
	for _, step := range steps {
		for i, one := range step.Patches {
			var comment []string
			if from := step.comment(); from != last {
				comment, last = append(comment, from), from
			}
			if i == 0 {
				comment = append(comment, remarks(step.Remark)...)
			}
			list.Content = append(list.Content, commented(written(one.Node, one.Fields), comment...))
		}
	}
	if len(list.Content) == 0 {
		return nil
	}
	return list
}
