// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/estate"
	"minos.dev/minos/sim/soak/invariant"
	"minos.dev/minos/sim/soak/story"
)

// again is how long somebody waits before they try again what did not succeed.
const again = 300 * time.Millisecond

// calling is how long one try may take.
const calling = 10 * time.Second

// errNever says that something could not be done for as long as anything may take.
var errNever = errors.New("it could not be done")

// act does what people do, again and again until it is done: API servers may be away, the guard may refuse for now, one of the same
// name may be on its way out. An error is the context's, or errNever.
func (s *Stage) act(ctx context.Context, deed story.Deed) error {
	for began := time.Now(); ; {
		trying, cancel := context.WithTimeout(ctx, calling)
		err := s.try(trying, deed)
		cancel()
		switch {
		case err == nil:
			s.declare(deed)
			return nil
		case isHeldByAnother(err):
			s.refuse()
			s.tell("the guard refuses to %s", deed)
			return nil
		case time.Since(began) > s.options.Limit:
			return fmt.Errorf("%w: %s, for %s: %w", errNever, deed, s.options.Limit, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", deed, ctx.Err(), err)
		case <-time.After(again):
		}
	}
}

// isHeldByAnother says whether the guard refuses a pool because another has its role, which is as it should be.
func isHeldByAnother(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "came first")
}

// try does it once.
func (s *Stage) try(ctx context.Context, deed story.Deed) error {
	switch deed.Kind {
	case story.MakeCluster:
		return s.make(ctx, clusterText(deed))
	case story.MakePool:
		return s.make(ctx, poolText(deed))
	case story.RemoveCluster:
		return client.IgnoreNotFound(s.client.Delete(ctx, &api.TalosCluster{ObjectMeta: named(deed.Cluster, deed.Cluster)}))
	case story.RemovePool:
		return client.IgnoreNotFound(s.client.Delete(ctx, &api.NodePool{ObjectMeta: named(deed.Cluster, deed.Pool)}))
	case story.DeleteMachine:
		return s.deleteMachine(ctx, deed)
	}
	return s.changePool(ctx, deed)
}

// named is the name of something of a cluster.
func named(cluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespaceOf(cluster), Name: name}
}

// errLeaving says that something of the same name is on its way out.
var errLeaving = errors.New("one of the same name is still there")

// make makes an object. One that is there was made by a try whose answer was lost, unless it is on its way out.
func (s *Stage) make(ctx context.Context, text string) error {
	objects, err := estate.Parse([]byte(text))
	if err != nil {
		return err
	}
	object := objects[0]
	err = s.client.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	if object.GetDeletionTimestamp() != nil {
		return errLeaving
	}
	return nil
}

// changePool changes a pool. One that the guard never let in is left alone.
func (s *Stage) changePool(ctx context.Context, deed story.Deed) error {
	if !s.isDeclared(deed.Cluster, deed.Pool) {
		return nil
	}
	found := &api.NodePool{}
	if err := s.client.Get(ctx, types.NamespacedName{Namespace: namespaceOf(deed.Cluster), Name: deed.Pool}, found); err != nil {
		return err
	}
	place := story.Cloud
	if found.Spec.Machine.KubeVirt != nil {
		place = story.House
	}
	patch, err := change(deed, place)
	if err != nil {
		return err
	}
	return s.client.Patch(ctx, found, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// deleteMachine deletes a machine of a pool. A pool that has none has none to delete.
func (s *Stage) deleteMachine(ctx context.Context, deed story.Deed) error {
	found, err := s.machinesOf(ctx, deed.Cluster, deed.Pool)
	if err != nil || len(found) == 0 {
		return err
	}
	s.excuse(deed)
	return client.IgnoreNotFound(s.client.Delete(ctx, found[deed.Number%len(found)]))
}

// excuse has the budgets of a pool not be held.
func (s *Stage) excuse(deed story.Deed) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.history.Excuse(deed.Cluster, deed.Pool)
}

// declare notes what was declared.
func (s *Stage) declare(deed story.Deed) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.summary.Acts[string(deed.Kind)]++
	s.world = s.world.After(deed)
}

// refuse notes what the guard refused.
func (s *Stage) refuse() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.summary.Refused++
}

// isDeclared says whether there should be a pool.
func (s *Stage) isDeclared(cluster, pool string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, known := s.world.Clusters[cluster][pool]
	return known
}

// wanted is what there should be now.
func (s *Stage) wanted() invariant.Declared {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	wanted := invariant.Declared{}
	for cluster, pools := range s.world.Clusters {
		wanted[cluster] = map[string]int{}
		for name, pool := range pools {
			wanted[cluster][name] = pool.Replicas
		}
	}
	return wanted
}
