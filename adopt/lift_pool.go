// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
)

// liftPool turns what all machines of a pool share into fields of the pool and of its role.
func (p *pool) liftPool(contract *talosconfig.VersionContract) {
	multi := contract.MultidocKubernetesConfigSupported()
	p.lift("labels", func(fields patch.Document) { p.liftLabels(fields, multi) })
	p.lift("taints", func(fields patch.Document) { p.liftTaints(fields, multi) })
	if !multi {
		p.lift("kubelet", p.liftKubelet)
	}
	p.lift("kernelModules", func(fields patch.Document) { p.liftModules(fields, contract) })
}

// lift turns patches into a field and remembers where they come from.
func (p *pool) lift(field string, take func(fields patch.Document)) {
	p.steps = lift(p.steps, func(fields patch.Document, step Step) {
		before := patch.Clone(fields)
		if take(fields); !reflect.DeepEqual(before, fields) {
			p.from.add(field, step.comment())
		}
	})
}

// fits says whether a step says what only pools and roles have fields for, so that it is the pool's even if one machine
// says it.
func fits(step Step) bool {
	for _, fields := range step.documents() {
		kind, _ := fields["kind"].(string)
		machine, _ := fields["machine"].(patch.Document)
		switch kind {
		case "":
			if len(machine) == 0 || !within(fields, "machine") || !within(machine, "nodeLabels", "nodeTaints", "kernel") {
				return false
			}
		case "KubeNodeConfig", "KernelModuleConfig", "ExtensionServiceConfig":
		default:
			return false
		}
	}
	return true
}

// labelled is where the labels and taints of a Node stand.
func labelled(fields patch.Document, multi bool, oldKey, newKey string) patch.Document {
	if multi {
		if fields["kind"] != "KubeNodeConfig" {
			return nil
		}
		found, _ := fields[newKey].(patch.Document)
		return found
	}
	if _, ok := fields["kind"]; ok {
		return nil
	}
	found, _ := patch.Get(fields, "machine", oldKey).(patch.Document)
	return found
}

// liftLabels takes the labels that are set; those that are removed stay.
func (p *pool) liftLabels(fields patch.Document, multi bool) {
	labels := labelled(fields, multi, "nodeLabels", "labels")
	if !p.controlPlane && restricted(labels) {
		return
	}
	for key, value := range labels {
		if text, ok := value.(string); ok {
			if p.config.Labels == nil {
				p.config.Labels = map[string]string{}
			}
			p.config.Labels[key] = text
			delete(labels, key)
		}
	}
	dropEmpty(fields, labels, map[bool][]string{false: {"machine", "nodeLabels"}, true: {"labels"}}[multi])
}

// restricted says whether labels are of Kubernetes's own domains, of which a worker may set few: our fields refuse those
// that it may not, and Talos's patches do not.
func restricted(labels patch.Document) bool {
	for key := range labels {
		domain, _, found := strings.Cut(key, "/")
		if found && (strings.HasSuffix("."+domain, ".kubernetes.io") || strings.HasSuffix("."+domain, ".k8s.io")) &&
			!strings.HasPrefix(domain, "topology.") {
			return true
		}
	}
	return false
}

// liftTaints takes the taints that our fields write in the same way.
func (p *pool) liftTaints(fields patch.Document, multi bool) {
	taints := labelled(fields, multi, "nodeTaints", "taints")
	for _, key := range ordered(taints) {
		written, _ := taints[key].(string)
		value, effect, ok := strings.Cut(written, ":")
		if !ok || effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute" {
			continue
		}
		p.config.Taints = append(p.config.Taints, api.Taint{Key: key, Value: value, Effect: api.TaintEffect(effect)})
		delete(taints, key)
	}
	dropEmpty(fields, taints, map[bool][]string{false: {"machine", "nodeTaints"}, true: {"taints"}}[multi])
}

// dropEmpty removes a mapping of which nothing is left.
func dropEmpty(fields, taken patch.Document, path []string) {
	if taken != nil && len(taken) == 0 {
		patch.Without(fields, path)
	}
}

// liftKubelet takes arguments of the kubelet.
func (p *pool) liftKubelet(fields patch.Document) {
	value, ok := only(fields, "", "machine", "kubelet", "extraArgs")
	arguments, isFields := value.(patch.Document)
	if !ok || !isFields {
		return
	}
	extra := map[string]string{}
	for key, value := range arguments {
		text, isText := value.(string)
		if !isText {
			return
		}
		extra[key] = text
	}
	if p.config.Kubelet == nil {
		p.config.Kubelet = &api.Kubelet{ExtraArgs: map[string]string{}}
	}
	for key, value := range extra {
		p.config.Kubelet.ExtraArgs[key] = value
	}
	empty(fields)
}

// liftModules takes kernel modules, which are the role's.
func (p *pool) liftModules(fields patch.Document, contract *talosconfig.VersionContract) {
	if contract.MultidocKernelModuleConfigSupported() {
		if fields["kind"] == "KernelModuleConfig" && within(fields, "apiVersion", "kind", "name", "parameters") {
			p.role.spec.KernelModules = append(p.role.spec.KernelModules, api.KernelModule{Name: text(fields, "name"), Parameters: texts(fields["parameters"])})
			empty(fields)
		}
		return
	}
	value, ok := only(fields, "", "machine", "kernel", "modules")
	list, isList := value.([]any)
	if !ok || !isList {
		return
	}
	var modules []api.KernelModule
	for _, item := range list {
		module, isFields := item.(patch.Document)
		if !isFields || !within(module, "name", "parameters") || text(module, "name") == "" {
			return
		}
		modules = append(modules, api.KernelModule{Name: text(module, "name"), Parameters: texts(module["parameters"])})
	}
	p.role.spec.KernelModules = append(p.role.spec.KernelModules, modules...)
	empty(fields)
}
