// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/soak/story"
)

var (
	deploymentKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"}
	templateKind   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"}
)

// meddle has somebody else write into what is ours, again and again for as long as the deed says. What it takes away that nobody
// but a person can put back is put back in the end.
func (s *Stage) meddle(ctx context.Context, deed story.Deed) error {
	if deed.What == story.EditDeployment || deed.What == story.DeleteDeployment {
		s.excuse(deed) // it is not the operator who takes machines then
	}
	until := time.Now().Add(deed.For)
	taken := lost{}
	for ctx.Err() == nil {
		trying, cancel := context.WithTimeout(ctx, calling)
		_ = s.write(trying, deed, taken) // what is away cannot be written into
		cancel()
		if deed.What == story.DeleteDeployment || !time.Now().Before(until) {
			break
		}
		rest(ctx, min(time.Second, time.Until(until)))
	}
	return s.giveBack(ctx, deed, taken)
}

// lost are labels that somebody took from objects, by name.
type lost map[string]map[string]string

// write writes once.
func (s *Stage) write(ctx context.Context, deed story.Deed, taken lost) error {
	namespace := namespaceOf(deed.Cluster)
	switch deed.What {
	case story.EditDeployment:
		return s.client.Patch(ctx, object(deploymentKind, namespace, deed.Pool), merge(limits(limit{surge: 3, unavailable: 2})))
	case story.DeleteDeployment:
		return s.client.Delete(ctx, object(deploymentKind, namespace, deed.Pool))
	case story.UnlabelSecret:
		secret := &corev1.Secret{ObjectMeta: named(deed.Cluster, deed.Pool+"-join")}
		return unlabel(ctx, s.client, secret, taken)
	case story.UnlabelNode:
		return s.unlabelNode(ctx, deed, taken)
	case story.UnlabelTemplate:
		return s.unlabelTemplates(ctx, deed, taken)
	case story.ClearPool:
		return s.client.Status().Patch(ctx, &api.NodePool{ObjectMeta: named(deed.Cluster, deed.Pool)}, merge(`{"status":{"conditions":[],"replicas":0,"readyReplicas":0}}`))
	case story.ClearCluster:
		return s.client.Status().Patch(ctx, &api.TalosCluster{ObjectMeta: named(deed.Cluster, deed.Cluster)}, merge(`{"status":{"conditions":[]}}`))
	case story.ClearMachine:
		found, err := s.machinesOf(ctx, deed.Cluster, deed.Pool)
		if err != nil || len(found) == 0 {
			return err
		}
		return s.client.Status().Patch(ctx, found[0], merge(`{"status":{"conditions":[],"providerID":null}}`))
	}
	return nil
}

// merge is a merge patch.
func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

// object is one of a kind.
func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(kind)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

// unlabel takes our labels from an object, and remembers them.
func unlabel(ctx context.Context, c client.Client, from client.Object, taken lost) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(from), from); err != nil {
		return err
	}
	labels := map[string]any{}
	for key, value := range from.GetLabels() {
		if strings.Contains(key, "minos.dev/") || key == label {
			labels[key] = nil
			if taken[from.GetName()] == nil {
				taken[from.GetName()] = map[string]string{}
			}
			taken[from.GetName()][key] = value
		}
	}
	if len(labels) == 0 {
		return nil
	}
	return patchLabels(ctx, c, from, labels)
}

// patchLabels changes labels.
func patchLabels(ctx context.Context, c client.Client, of client.Object, labels any) error {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, of, merge(string(text)))
}

// unlabelNode takes labels from a Node of a pool.
func (s *Stage) unlabelNode(ctx context.Context, deed story.Deed, taken lost) error {
	found, err := s.machinesOf(ctx, deed.Cluster, deed.Pool)
	if err != nil || len(found) == 0 {
		return err
	}
	c, err := s.tenants.of(ctx, s.client, deed.Cluster)
	if err != nil {
		return err
	}
	node := &corev1.Node{}
	node.Name = found[0].GetName()
	return unlabel(ctx, c, node, taken)
}

// unlabelTemplates takes labels from the templates of a pool.
func (s *Stage) unlabelTemplates(ctx context.Context, deed story.Deed, taken lost) error {
	all, err := s.list(ctx, templateKind)
	if err != nil {
		return err
	}
	for at := range all {
		if all[at].GetNamespace() == namespaceOf(deed.Cluster) && strings.HasPrefix(all[at].GetName(), deed.Pool+"-") {
			if err := unlabel(ctx, s.client, &all[at], taken); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveBack puts labels back where they are still missing, and limits to what is declared: the operator does not take from others
// what they have set, and says so until they give it back. What is gone is left alone.
func (s *Stage) giveBack(ctx context.Context, deed story.Deed, taken lost) error {
	if deed.What == story.EditDeployment {
		return s.insist(ctx, deed, func(ctx context.Context) error {
			return s.client.Patch(ctx, object(deploymentKind, namespaceOf(deed.Cluster), deed.Pool), merge(limits(limitOf(deed.Pool, story.Plain))))
		})
	}
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		err := s.insist(ctx, deed, func(ctx context.Context) error { return s.giveBackTo(ctx, deed, name, taken[name]) })
		if err != nil {
			return err
		}
	}
	return nil
}

// insist does something until it succeeds, or what it is about is gone. An error is the context's.
func (s *Stage) insist(ctx context.Context, deed story.Deed, do func(context.Context) error) error {
	for {
		trying, cancel := context.WithTimeout(ctx, calling)
		err := do(trying)
		cancel()
		if client.IgnoreNotFound(err) == nil || !s.isDeclared(deed.Cluster, deed.Pool) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}

// limits are those of a MachineDeployment, as a merge patch.
func limits(of limit) string {
	return fmt.Sprintf(`{"spec":{"rollout":{"strategy":{"rollingUpdate":{"maxSurge":%d,"maxUnavailable":%d}}}}}`, of.surge, of.unavailable)
}

// giveBackTo puts labels back on one object.
func (s *Stage) giveBackTo(ctx context.Context, deed story.Deed, name string, labels map[string]string) error {
	c, of := s.client, client.Object(object(templateKind, namespaceOf(deed.Cluster), name))
	switch deed.What {
	case story.UnlabelSecret:
		of = &corev1.Secret{ObjectMeta: named(deed.Cluster, name)}
	case story.UnlabelNode:
		var err error
		if c, err = s.tenants.of(ctx, s.client, deed.Cluster); err != nil {
			return err
		}
		node := &corev1.Node{}
		node.Name = name
		of = node
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(of), of); err != nil {
		return err
	}
	missing := maps.Clone(labels)
	maps.DeleteFunc(missing, func(key, _ string) bool { _, has := of.GetLabels()[key]; return has })
	return patchLabels(ctx, c, of, missing)
}
