// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	api "minos.dev/minos/api/v1alpha1"
)

// A Policy is what a pool wants of its machines, with nothing left open.
type Policy struct {
	// Pool is the pool's name, with which names of machines begin.
	Pool string
	// Desired is how many machines there should be.
	Desired int
	// Revision is the newest.
	Revision string
	// Surge is how many may exist above Desired, Unavailable how many below it may be Ready.
	Surge, Unavailable int
	// Startup, NotReady and Silent are how long a machine may take to join, and its Node may be not ready or silent.
	Startup, NotReady, Silent time.Duration
	// Unhealthy is how many may have failed before none is replaced.
	Unhealthy int
	// Keep leaves failed machines for study.
	Keep bool
}

// The defaults of health and roll-out, whoever looks after the machines; times are in seconds.
const (
	DefaultStartup   = 1200  // DefaultStartup is how long a machine may take to join.
	DefaultNotReady  = 600   // DefaultNotReady is how long its Node may be not ready,
	DefaultSilent    = 300   // DefaultSilent how long silent.
	DefaultUnhealthy = "40%" // DefaultUnhealthy is how many may have failed before none is replaced.
	DefaultDrain     = 600   // DefaultDrain is how long pods are given to leave.
)

// Limits are how many machines of which revision are wanted, and what a roll-out may disturb, as a number or a share.
type Limits struct {
	Desired            int
	Revision           string
	Surge, Unavailable intstr.IntOrString
}

// PolicyOf resolves what a pool leaves open.
func PolicyOf(pool *api.NodePool, limits Limits) Policy {
	desired := limits.Desired
	p := Policy{Pool: pool.Name, Desired: desired, Revision: limits.Revision}
	p.Surge, p.Unavailable = part(limits.Surge, desired, true), part(limits.Unavailable, desired, false)
	if p.Surge == 0 && p.Unavailable == 0 {
		p.Unavailable = 1 // small shares of few machines: otherwise nothing could ever be replaced
	}
	health := api.Health{}
	if pool.Spec.Health != nil {
		health = *pool.Spec.Health
	}
	p.Startup = seconds(health.StartupTimeoutSeconds, DefaultStartup)
	p.NotReady = seconds(health.NotReadyTimeoutSeconds, DefaultNotReady)
	p.Silent = seconds(health.UnknownTimeoutSeconds, DefaultSilent)
	p.Unhealthy = budget(orElse(health.MaxUnhealthy, intstr.FromString(DefaultUnhealthy)), desired)
	p.Keep = health.Failed == api.FailedKeep || health.Failed == "" && pool.Spec.Machine.Metal != nil
	return p
}

// DrainTimeout is how long pods are given to leave a machine: what the pool says, or the cluster, or the default. Either may be
// unknown. Zero waits for as long as it takes.
func DrainTimeout(cluster *api.TalosCluster, pool *api.NodePool) time.Duration {
	var said *int32
	if cluster != nil && cluster.Spec.Rollout != nil {
		said = cluster.Spec.Rollout.DrainTimeoutSeconds
	}
	if pool != nil && pool.Spec.Rollout != nil && pool.Spec.Rollout.DrainTimeoutSeconds != nil {
		said = pool.Spec.Rollout.DrainTimeoutSeconds
	}
	return seconds(said, DefaultDrain)
}

// orElse is a value or its default.
func orElse(value *intstr.IntOrString, other intstr.IntOrString) intstr.IntOrString {
	if value == nil {
		return other
	}
	return *value
}

// part is a number, or a share of all rounded up or down. What is neither is none: the schema lets no other through.
func part(value intstr.IntOrString, all int, up bool) int {
	number, err := intstr.GetScaledValueFromIntOrPercent(&value, all, up)
	if err != nil || number < 0 {
		return 0
	}
	return number
}

// budget is how many may be unhealthy. A share that is not zero allows one at least, or a small pool could never heal.
func budget(value intstr.IntOrString, all int) int {
	number := part(value, all, false)
	if number == 0 && part(value, 100, true) > 0 {
		return 1
	}
	return number
}

// seconds is a duration or its default.
func seconds(value *int32, other int) time.Duration {
	if value == nil {
		return time.Duration(other) * time.Second
	}
	return time.Duration(*value) * time.Second
}
