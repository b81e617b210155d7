// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/virtual"
)

// copySuffix is what the provider for KubeVirt puts behind the name of a Secret that it copies for a machine.
const copySuffix = "-userdata"

// owned is what a pool has made that machines refer to by name.
type owned struct {
	templates, bootstraps, trusts, revisions, copies []client.Object
}

// inventory lists it.
func (r *Reconciler) inventory(ctx context.Context, pool *api.NodePool) (found owned, err error) {
	if found.templates, err = r.objects(ctx, pool, virtual.TemplateKind); err != nil {
		return found, err
	}
	if _, has := virtual.Kinds(pool)[virtual.BootstrapKind]; has {
		if found.bootstraps, err = r.objects(ctx, pool, virtual.BootstrapKind); err != nil {
			return found, err
		}
	}
	if found.trusts, err = r.trustsOf(ctx, pool); err != nil {
		return found, err
	}
	found.revisions, found.copies, err = r.revisionsOf(ctx, pool)
	return found, err
}

// revisionsOf lists the Secrets with revisions of a pool's configuration, and the copies that others made of them.
func (r *Reconciler) revisionsOf(ctx context.Context, pool *api.NodePool) (revisions, copies []client.Object, err error) {
	secrets, err := r.secretsOf(ctx, pool)
	for _, secret := range secrets {
		switch {
		case secret.GetLabels()[names.LabelPurpose] != names.PurposeConfiguration:
		case strings.HasSuffix(secret.GetName(), copySuffix):
			copies = append(copies, secret)
		case metav1.IsControlledBy(secret, pool):
			revisions = append(revisions, secret)
		}
	}
	return revisions, copies, err
}

// objects lists the objects of a kind that have the pool's labels.
func (r *Reconciler) objects(ctx context.Context, pool *api.NodePool, kind schema.GroupVersionKind) ([]client.Object, error) {
	listed, err := listOf(ctx, r.cached(), pool, kind)
	var found []client.Object
	for at := range listed {
		found = append(found, &listed[at])
	}
	return found, err
}

// secretsOf lists the Secrets that have the pool's labels.
func (r *Reconciler) secretsOf(ctx context.Context, pool *api.NodePool) ([]client.Object, error) {
	list := &corev1.SecretList{}
	if err := r.Client.List(ctx, list, client.InNamespace(pool.Namespace), labelsOf(pool)); err != nil {
		return nil, fmt.Errorf("list the Secrets of the pool: %w", err)
	}
	var found []client.Object
	for at := range list.Items {
		found = append(found, &list.Items[at])
	}
	return found, nil
}

// trustsOf lists the ConfigMaps that have the pool's labels, without their content.
func (r *Reconciler) trustsOf(ctx context.Context, pool *api.NodePool) ([]client.Object, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := r.Client.List(ctx, list, client.InNamespace(pool.Namespace), labelsOf(pool)); err != nil {
		return nil, fmt.Errorf("list the ConfigMaps of the pool: %w", err)
	}
	var found []client.Object
	for at := range list.Items {
		list.Items[at].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		found = append(found, &list.Items[at])
	}
	return found, nil
}

// clean removes what no machine refers to any more. While there is something to remove, references are read from the API server
// itself: a cache that is behind could hide one.
func (t *turn) clean(ctx context.Context) error {
	has, err := t.inventory(ctx, t.pool)
	if err != nil {
		return err
	}
	templates, bootstraps := others(has.templates, t.objects.Template), others(has.bootstraps, t.objects.Bootstrap)
	revisions, trusts := without(has.revisions, t.wanted.Revision), others(has.trusts, t.objects.Trust)
	if len(templates)+len(revisions)+len(bootstraps)+len(trusts) == 0 || !t.live.Settled() {
		return nil
	}
	live, err := observe(ctx, t.fresh(), t.pool)
	if err != nil || !live.Settled() {
		return err
	}
	unused := slices.Concat(
		named(templates, live.Unused(namesOf(templates))), named(bootstraps, live.UnusedRevisions(namesOf(bootstraps))),
		named(revisions, live.UnusedRevisions(namesOf(revisions))),
	)
	if live.Uniform(t.objects.Template.GetName()) {
		unused = append(unused, trusts...) // which only templates refer to
	}
	var suffixed []string
	for _, name := range namesOf(unused) {
		suffixed = append(suffixed, name+copySuffix)
	}
	return t.deleteAll(ctx, append(unused, named(has.copies, suffixed)...))
}

// cleanDirect removes revisions that no machine of Minos's own refers to any more. What a cache says is asked of the API server itself
// before anything is removed; a revision that is wanted again after that is made again, as if it had never been.
func (t *turn) cleanDirect(ctx context.Context) error {
	revisions, _, err := t.revisionsOf(ctx, t.pool)
	if err != nil {
		return err
	}
	unused := without(revisions, t.wanted.Revision)
	for _, reader := range []client.Reader{t.Client, t.fresh()} {
		if len(unused) == 0 {
			return nil
		}
		all := &api.TalosMachineList{}
		if err := reader.List(ctx, all, client.InNamespace(t.pool.Namespace)); err != nil { // also those that lost their labels
			return fmt.Errorf("list the machines that refer to revisions: %w", err)
		}
		unused = named(unused, machines.UnusedRevisions(namesOf(unused), all.Items))
	}
	return t.deleteAll(ctx, unused)
}

// deleteAll removes objects that were looked at.
func (r *Reconciler) deleteAll(ctx context.Context, objects []client.Object) error {
	for _, object := range objects {
		if err := r.delete(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// cached reads objects of others from the manager's cache, whether or not the client does.
func (r *Reconciler) cached() client.Reader {
	if r.watching.cache != nil {
		return r.watching.cache
	}
	return r.Client
}

// fresh reads from the API server itself, where that is known.
func (r *Reconciler) fresh() client.Reader {
	if r.watching.direct != nil {
		return r.watching.direct
	}
	return r.Client
}

// others are all objects but the one that is wanted, if one is.
func others(objects []client.Object, wanted *unstructured.Unstructured) []client.Object {
	if wanted == nil {
		return objects
	}
	return without(objects, wanted.GetName())
}

// without are all objects but the one of a name.
func without(objects []client.Object, name string) []client.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(object client.Object) bool { return object.GetName() == name })
}

// namesOf are the names of objects.
func namesOf(objects []client.Object) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetName())
	}
	return all
}

// named are the objects that have one of the names.
func named(objects []client.Object, all []string) []client.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(object client.Object) bool { return !slices.Contains(all, object.GetName()) })
}
