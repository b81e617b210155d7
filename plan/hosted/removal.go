// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

const (
	// StepLimit is how long a step of a deletion may take before it is called stuck.
	StepLimit = 10 * time.Minute
	// TenantLimit is how long an API server that is not ours may be out of reach before its bootstrap tokens are left to expire.
	TenantLimit = 2 * time.Minute
)

// stuck are the words for a step that takes too long.
const stuck = "is being deleted for more than"

// A Part is an object of Cluster API's or Kamaji's that is still there.
type Part struct {
	// Kind is which.
	Kind Kind
	// Deleting is since when it is being deleted, or zero.
	Deleting time.Time
}

// Remains are what is left of a cluster that is being deleted.
type Remains struct {
	// Pools are those that name it.
	Pools []string
	// Parts are those of [Kinds] that are there.
	Parts []Part
	// Tokens says that there may be bootstrap tokens in an API server that stays, and TokensError why they could not be removed.
	Tokens      bool
	TokensError string
	// Secrets are those that were made for it.
	Secrets []string
}

// A Removal is the next step of a deletion.
type Removal struct {
	// Parts and Secrets are to be deleted now.
	Parts   []Kind
	Secrets []string
	// Tokens says that bootstrap tokens are to be removed now.
	Tokens bool
	// Done says that nothing holds the cluster any more.
	Done bool
	// Condition says in words how far it is.
	Condition metav1.Condition
}

// Remove is the next step of a cluster's deletion: pools hold it; then the control plane goes, then what was made in an API
// server that stays, then Secrets. It never asks an API server that goes away.
func Remove(cluster *api.TalosCluster, left Remains, now time.Time) Removal {
	switch {
	case len(left.Pools) > 0:
		slices.Sort(left.Pools)
		return Removal{Condition: deleting("NodePools %s still belong to the cluster: delete them first", strings.Join(left.Pools, ", "))}
	case len(left.Parts) > 0:
		return removeParts(cluster, left.Parts, now)
	case left.Tokens && !expired(cluster, left, now):
		return Removal{Tokens: true, Condition: deleting("bootstrap tokens are being removed from the API server%s", because(left.TokensError))}
	case len(left.Secrets) > 0:
		return Removal{Secrets: left.Secrets, Condition: deleting("Secrets are being removed: %s", strings.Join(left.Secrets, ", "))}
	}
	return Removal{Done: true, Condition: deleting("nothing is left")}
}

// order is that in which the parts go. Cluster API removes the other two with the Cluster; what it leaves goes by itself.
var order = []Kind{ClusterKind, ControlPlaneKind, InfrastructureKind}

// removeParts removes one part after another. One that is stuck is named, with where to look, and does not keep the next from
// being asked to go; nothing is forced.
func removeParts(cluster *api.TalosCluster, parts []Part, now time.Time) Removal {
	var removal Removal
	var words []string
	for _, kind := range order {
		index := slices.IndexFunc(parts, func(part Part) bool { return part.Kind.Kind == kind.Kind })
		if index < 0 {
			continue
		}
		part := parts[index]
		if part.Deleting.IsZero() {
			removal.Parts = append(removal.Parts, kind)
			words = append(words, fmt.Sprintf("%s %s is being deleted", kind.Kind.Kind, cluster.Name))
			break
		}
		waited := now.Sub(part.Deleting)
		if waited < StepLimit {
			words = append(words, fmt.Sprintf("%s %s is being deleted", kind.Kind.Kind, cluster.Name))
			break
		}
		words = append(words, fmt.Sprintf("%s %s %s %s: look at its finalizers and at whoever sets them",
			kind.Kind.Kind, cluster.Name, stuck, StepLimit))
	}
	removal.Condition = deleting("%s", strings.Join(words, "; "))
	return removal
}

// expired says whether an API server has been out of reach for so long that tokens in it are left to expire by themselves.
func expired(cluster *api.TalosCluster, left Remains, now time.Time) bool {
	seen := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionTenantReady)
	return left.TokensError != "" && seen != nil && seen.Status != metav1.ConditionTrue && now.Sub(seen.LastTransitionTime.Time) >= TenantLimit
}

// because is a reason behind a sentence.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// deleting is the condition of a cluster that is being deleted: its control plane is no more to be relied upon.
func deleting(format string, arguments ...any) metav1.Condition {
	return not(api.ConditionControlPlaneReady, api.ReasonDeleting, fmt.Sprintf(format, arguments...))
}
