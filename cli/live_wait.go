// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/doctor"
)

// lookEvery is how often somebody who waits looks.
const lookEvery = time.Second

// waitOptions are the flags of commands that can wait for what they asked for.
type waitOptions struct {
	wait    *bool
	timeout *time.Duration
}

// waitFlags gives a command --wait and --timeout.
func waitFlags(cmd *cobra.Command) waitOptions {
	return waitOptions{
		wait:    cmd.Flags().Bool("wait", false, "wait until it is done, and say how far it is"),
		timeout: cmd.Flags().Duration("timeout", 30*time.Minute, "how long to wait at most"),
	}
}

// A look is what was seen of an object: whether the waiting is over, and how far it is.
type look struct {
	done bool
	line string
}

// An errand is what is waited for.
type errand struct {
	what string // the object, as "pool workers"
	goal string // what it becomes, as "Ready"
	see  func(ctx context.Context) (look, error)
}

// until looks until the errand is done, and says what changes. What was asked for stays in place however this ends.
func (o waitOptions) until(cmd *cobra.Command, e errand) error {
	if !*o.wait {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), *o.timeout)
	defer cancel()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	said := ""
	for {
		seen, err := e.glance(ctx)
		if err != nil {
			return err
		}
		if seen.line != "" && seen.line != said {
			said = seen.line
			say(cmd, "%s", said)
		}
		if seen.done {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return e.ended(cmd, *o.timeout, said)
		}
	}
}

// glance looks once. That nobody answers now, or that the time is up meanwhile, is no reason to give up what is waited for.
func (e errand) glance(ctx context.Context) (look, error) {
	seen, err := e.see(ctx)
	if ctx.Err() != nil {
		return look{}, nil
	}
	if _, silent := errors.AsType[*silence](err); silent {
		return look{line: err.Error()}, nil
	}
	return seen, err
}

// ended says why nobody waits any more.
func (e errand) ended(cmd *cobra.Command, timeout time.Duration, last string) error {
	if cmd.Context().Err() != nil {
		return fmt.Errorf("nobody waits for %s any more; what was asked for stays in place, and goes on", e.what)
	}
	return Hint(fmt.Errorf("%s is not %s after %s: %s", e.what, e.goal, timeout, last),
		fmt.Sprintf("it goes on: 'minos doctor' says what to look at, and --timeout waits longer than %s", timeout))
}

// clusterReady is the errand until a cluster is Ready for its newest spec.
func (l *live) clusterReady(name string) errand {
	return errand{"cluster " + name, "Ready", func(ctx context.Context) (look, error) {
		cluster, err := l.cluster(ctx, name)
		if err != nil {
			return look{}, err
		}
		if isReady(cluster, cluster.Status.ObservedGeneration, cluster.Status.Conditions) {
			return look{true, "cluster " + name + " is Ready"}, nil
		}
		ready := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionReady)
		if ready == nil || ready.Status == metav1.ConditionTrue {
			return look{line: "not looked at yet"}, nil
		}
		return look{line: fmt.Sprintf("%s: %s", ready.Reason, ready.Message)}, nil
	}}
}

// poolReady is the errand until a pool is Ready for its newest spec.
func (l *live) poolReady(name string) errand {
	return errand{"pool " + name, "Ready", func(ctx context.Context) (look, error) {
		pool, err := l.pool(ctx, name)
		if err != nil {
			return look{}, err
		}
		machines, err := l.machinesOf(ctx, pool)
		if err != nil {
			return look{}, err
		}
		done := isReady(pool, pool.Status.ObservedGeneration, pool.Status.Conditions) && asMany(pool)
		return look{done, doctor.Progress(pool, machines)}, nil
	}}
}

// asMany says whether a pool has no more machines than it is to have: one that works already may still have some to remove.
func asMany(pool *api.NodePool) bool {
	has, wants := pool.Status.Replicas, pool.Status.DesiredReplicas
	return has == nil || wants == nil || *has <= *wants
}

// gone is the errand until an object is no more. Another one of the same name is not it.
func (l *live) gone(what string, object client.Object, progress func(context.Context) (string, error)) errand {
	born := object.GetUID()
	return errand{what, "gone", func(ctx context.Context) (look, error) {
		err := l.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) || err == nil && object.GetUID() != born {
			return look{true, what + " is gone"}, nil
		}
		if err != nil {
			return look{}, l.explain(err)
		}
		line, err := progress(ctx)
		return look{line: line}, err
	}}
}

// isReady says whether an object is Ready for its newest spec.
func isReady(object metav1.Object, observed int64, conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, api.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue &&
		min(ready.ObservedGeneration, observed) >= object.GetGeneration() && object.GetDeletionTimestamp().IsZero()
}
