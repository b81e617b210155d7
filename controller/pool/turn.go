// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "minos.dev/minos/api/v1alpha1"
	plan "minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// A turn is one look at one pool.
type turn struct {
	*Reconciler
	pool *api.NodePool

	// What is found out on the way.
	cluster    *api.TalosCluster // with the versions that machines get
	held       string            // why the kubelets' is not the declared one, and what is doubtful
	unsettled  *plan.Refusal     // why machines stay at versions that are not wanted any more
	location   *api.LocationSpec
	fleet      *fleet.Fleet
	role       *api.NodeRole
	image      image.Image // what its machines boot
	grant      plan.Grant
	secrets    fleet.Secrets
	configured plan.Configured
	read       []types.NamespacedName // Secrets
	missing    []string               // kinds that are not served
	live       virtual.Live
	wanted     Wanted
	objects    virtual.Objects
	seen       *Seen
	cause      string        // why machines are replaced by what was just applied
	leaving    int           // machines of a pool that is being deleted, where nothing more is seen of them
	next       time.Duration // when to look again at what nothing tells about

	// What is said of it.
	conditions []metav1.Condition
}

// A step finds out or makes one thing. It returns why the pool cannot go on, or what could not be done.
type step struct {
	condition string
	take      func(*turn, context.Context) (*plan.Refusal, error)
}

// steps are those of a pool, in order. The first that does not succeed ends the walk: what comes after it stays as it is.
var steps = []step{
	{api.ConditionClusterReady, (*turn).findCluster},
	{api.ConditionLocationReady, (*turn).findLocation},
	{api.ConditionRoleReady, (*turn).findRole},
	{api.ConditionLocationReady, (*turn).placed},
	{api.ConditionClusterReady, (*turn).join},
	{api.ConditionConfigurationReady, (*turn).configure},
	{api.ConditionMachinesReady, (*turn).make},
	{api.ConditionMachinesReady, (*turn).dress},
}

// walk takes the steps, and then looks at the machines, whether or not all steps were taken.
func (t *turn) walk(ctx context.Context) error {
	err := t.look(ctx)
	for _, step := range steps {
		if err != nil {
			break
		}
		var refusal *plan.Refusal
		refusal, err = step.take(t, ctx)
		if err != nil {
			t.say(plan.Refuse(api.ReasonUnreadable, "%s", err.Error()).Condition(step.condition))
			break
		}
		if refusal != nil {
			t.say(refusal.Condition(step.condition))
			break
		}
	}
	if tended := t.tend(ctx); err == nil {
		err = tended
	}
	t.tellMachines()
	return err
}

// say sets a condition. The last word stands.
func (t *turn) say(condition metav1.Condition) {
	for at := range t.conditions {
		if t.conditions[at].Type == condition.Type {
			t.conditions[at] = condition
			return
		}
	}
	t.conditions = append(t.conditions, condition)
}

// said says whether a condition was set in this turn.
func (t *turn) said(kind string) bool {
	for _, condition := range t.conditions {
		if condition.Type == kind {
			return true
		}
	}
	return false
}

// tellMachines says what is seen of the machines, unless something was said about them already.
func (t *turn) tellMachines() {
	if t.seen == nil {
		return
	}
	wanted := t.seen.Desired
	if t.pool.Spec.Autoscaling == nil {
		wanted = plan.Claim(t.pool)
	}
	if !t.said(api.ConditionMachinesReady) {
		t.say(plan.MachinesReady(*t.seen, wanted))
	}
	t.say(plan.UpToDate(*t.seen))
}
