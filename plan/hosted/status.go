// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// A Report is what one look at a cluster found.
type Report struct {
	// Conditions are those that were looked at. Others stay as they were.
	Conditions []metav1.Condition
	// Endpoint is where the API server is. Nil leaves what is known.
	Endpoint *api.Endpoint
	// KubernetesVersion is what it runs. Nothing leaves what is known.
	KubernetesVersion string
	// Pools are the cluster's. Nil means that they could not be listed.
	Pools []api.NodePool
	// PoolsSeen says that they could.
	PoolsSeen bool
}

// Status is the status of a cluster after a look at it. Times of conditions are kept unless they change.
func Status(cluster *api.TalosCluster, report Report, now time.Time) api.TalosClusterStatus {
	status := *cluster.Status.DeepCopy()
	status.ObservedGeneration = cluster.Generation
	network := config.Network(cluster)
	status.Network = &network
	if report.Endpoint != nil {
		status.Endpoint = report.Endpoint
	}
	if running := plain(report.KubernetesVersion); running != "" {
		status.KubernetesVersion = running
	}
	if report.PoolsSeen {
		count(&status, report.Pools)
	}
	for _, condition := range report.Conditions {
		set(&status, cluster, condition, now)
	}
	set(&status, cluster, api.TalosClusterReady.Ready(status.Conditions, cluster.Generation), now)
	return status
}

// set sets a condition.
func set(status *api.TalosClusterStatus, cluster *api.TalosCluster, condition metav1.Condition, now time.Time) {
	condition.ObservedGeneration = cluster.Generation
	condition.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	meta.SetStatusCondition(&status.Conditions, condition)
}

// plain is a version without what some distributions put behind it.
func plain(text string) api.KubernetesVersion {
	parsed, err := version.ParseSemantic(text)
	if err != nil {
		return ""
	}
	short := fmt.Sprintf("v%d.%d.%d", parsed.Major(), parsed.Minor(), parsed.Patch())
	if parsed.PreRelease() != "" {
		short += "-" + strings.ToLower(parsed.PreRelease())
	}
	return api.KubernetesVersion(short)
}

// count sums the pools up.
func count(status *api.TalosClusterStatus, pools []api.NodePool) {
	var machines, ready int32
	for _, pool := range pools {
		if pool.Status.Replicas != nil {
			machines += *pool.Status.Replicas
		}
		if pool.Status.ReadyReplicas != nil {
			ready += *pool.Status.ReadyReplicas
		}
	}
	all := int32(len(pools))
	status.Pools, status.Machines, status.ReadyMachines = &all, &machines, &ready
}

// PoolsReady is the condition that stands beside Ready. Problems are what keeps pools from joining at all.
func PoolsReady(pools []api.NodePool, problems []string) metav1.Condition {
	if len(problems) > 0 {
		return not(api.ConditionPoolsReady, api.ReasonInvalid, strings.Join(problems, "; "))
	}
	var waiting []string
	for _, pool := range pools {
		if !meta.IsStatusConditionTrue(pool.Status.Conditions, api.ConditionReady) {
			waiting = append(waiting, pool.Name)
		}
	}
	slices.Sort(waiting)
	if len(waiting) > 0 {
		return not(api.ConditionPoolsReady, api.ReasonProgressing,
			fmt.Sprintf("%d of %d pools are not ready: %s", len(waiting), len(pools), strings.Join(waiting, ", ")))
	}
	return Yes(api.ConditionPoolsReady, fmt.Sprintf("%d of %d pools are ready", len(pools), len(pools)))
}

// Born says whether a cluster had its identity before, so that it must not get another: every machine would be cut off.
func Born(cluster *api.TalosCluster, hasAuthority bool) bool {
	seen := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionSecretsReady)
	return hasAuthority || seen != nil && (seen.Status == metav1.ConditionTrue || seen.Reason == api.ReasonNotFound)
}
