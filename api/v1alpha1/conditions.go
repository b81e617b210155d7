// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionReady is on every kind with a status: whether the object is as its spec wants it. It is never set by hand
// but is the roll-up of other conditions, declared below.
const ConditionReady = "Ready"

// Conditions of a TalosCluster.
const (
	// ConditionSecretsReady: the cluster's identity, certificate authorities and tokens exist and can be read.
	ConditionSecretsReady = "SecretsReady"
	// ConditionControlPlaneReady: the API server answers, at the wanted version.
	ConditionControlPlaneReady = "ControlPlaneReady"
	// ConditionTrustReady: the signer that Talos workers ask for certificates answers, on every address they dial.
	ConditionTrustReady = "TrustReady"
	// ConditionTenantReady: what machines need inside the cluster is there: bootstrap tokens and permissions.
	ConditionTenantReady = "TenantReady"
	// ConditionPoolsReady: every pool of the cluster is ready. It is shown beside Ready and not part of it: a cluster
	// with a failing pool still serves.
	ConditionPoolsReady = "PoolsReady"
)

// Conditions of a NodePool.
const (
	// ConditionClusterReady: the cluster that the pool names exists and machines can join it.
	ConditionClusterReady = "ClusterReady"
	// ConditionRoleReady: the role, and every role that it extends, exists and its extensions exist for this version.
	ConditionRoleReady = "RoleReady"
	// ConditionLocationReady: the place exists, may be used by this pool, and can make machines.
	ConditionLocationReady = "LocationReady"
	// ConditionConfigurationReady: the layers merge to a machine configuration that Talos accepts.
	ConditionConfigurationReady = "ConfigurationReady"
	// ConditionMachinesReady: there are as many Ready machines as wanted.
	ConditionMachinesReady = "MachinesReady"
	// ConditionUpToDate: every machine has the newest revision. A TalosMachine has it too, from when Talos refused one.
	ConditionUpToDate = "UpToDate"
)

// Conditions of a TalosMachine: the steps by which it joins, in this order.
const (
	// ConditionInstanceReady: the place has made the instance and it runs.
	ConditionInstanceReady = "InstanceReady"
	// ConditionConfigured: Talos has taken the machine configuration.
	ConditionConfigured = "Configured"
	// ConditionCertificateIssued: the signer has issued the machine's certificate, so that its Talos API answers.
	ConditionCertificateIssued = "CertificateIssued"
	// ConditionKubeletAuthorized: the kubelet has got its client certificate with the pool's bootstrap token.
	ConditionKubeletAuthorized = "KubeletAuthorized"
	// ConditionNodeRegistered: the Node exists in the cluster.
	ConditionNodeRegistered = "NodeRegistered"
	// ConditionNetworkReady: the pod network runs on the Node.
	ConditionNetworkReady = "NetworkReady"
	// ConditionServicesRunning: every extension service of the image runs, so that the boot is complete.
	ConditionServicesRunning = "ServicesRunning"
)

// Conditions of a Location and a ClusterLocation.
const (
	// ConditionReachable: the place answers, with the credentials given.
	ConditionReachable = "Reachable"
)

// Reasons that any condition may have.
const (
	// ReasonReady: all is as it should be.
	ReasonReady = "Ready"
	// ReasonProgressing: it is being worked on and needs nobody.
	ReasonProgressing = "Progressing"
	// ReasonNotYetKnown: nothing has been seen of it yet.
	ReasonNotYetKnown = "NotYetKnown"
	// ReasonWaiting: something else must come first; the message names it.
	ReasonWaiting = "Waiting"
	// ReasonNotFound: an object that is named does not exist; the message names it.
	ReasonNotFound = "NotFound"
	// ReasonUnreadable: something could not be read, which is not the same as absent; nothing is changed meanwhile.
	ReasonUnreadable = "Unreadable"
	// ReasonInvalid: the spec cannot be carried out; the message names the field and the remedy.
	ReasonInvalid = "Invalid"
	// ReasonDenied: the place or the platform's policy refuses it.
	ReasonDenied = "Denied"
	// ReasonNoCapacity: the place has no room for it now.
	ReasonNoCapacity = "NoCapacity"
	// ReasonFailed: it was tried and failed; the message says what and what to look at.
	ReasonFailed = "Failed"
	// ReasonDeleting: the object is being deleted.
	ReasonDeleting = "Deleting"
)

// A Rollup declares which conditions a Ready stands for, in the order in which they matter: the first that is not true
// gives Ready its reason.
type Rollup []string

// What Ready means, kind by kind.
var (
	// TalosClusterReady does not wait for pools: a control plane without machines is ready to take them.
	TalosClusterReady = Rollup{ConditionSecretsReady, ConditionControlPlaneReady, ConditionTrustReady, ConditionTenantReady}
	// NodePoolReady does not wait for UpToDate: a pool that is being rolled within its limits still serves.
	NodePoolReady = Rollup{ConditionClusterReady, ConditionRoleReady, ConditionLocationReady, ConditionConfigurationReady, ConditionMachinesReady}
	// TalosMachineReady is every step of the join.
	TalosMachineReady = Rollup{
		ConditionInstanceReady, ConditionConfigured, ConditionCertificateIssued, ConditionKubeletAuthorized,
		ConditionNodeRegistered, ConditionNetworkReady, ConditionServicesRunning,
	}
	// LocationReady is for both kinds of places.
	LocationReady = Rollup{ConditionReachable}
)

// Ready rolls conditions up into one. It is True when every part is True, False when one is False, and otherwise
// Unknown. A part that is absent has not been looked at, so it is unknown. The time of the transition is left to
// whoever writes the status.
func (r Rollup) Ready(conditions []metav1.Condition, generation int64) metav1.Condition {
	ready := metav1.Condition{
		Type: ConditionReady, Status: metav1.ConditionTrue, Reason: ReasonReady, ObservedGeneration: generation,
	}
	for _, part := range r {
		seen := meta.FindStatusCondition(conditions, part)
		if seen == nil {
			seen = &metav1.Condition{Type: part, Status: metav1.ConditionUnknown, Reason: ReasonNotYetKnown, Message: "not looked at yet"}
		}
		if worse(ready.Status, seen.Status) {
			ready.Status, ready.Reason = seen.Status, seen.Reason
			ready.Message = fmt.Sprintf("%s: %s", seen.Type, seen.Message)
		}
	}
	return ready
}

// worse says whether a part with this status tells more than what is known so far: False beats Unknown beats True, and
// among equals the first stays.
func worse(known, part metav1.ConditionStatus) bool {
	rank := map[metav1.ConditionStatus]int{metav1.ConditionTrue: 0, metav1.ConditionUnknown: 1, metav1.ConditionFalse: 2}
	return rank[part] > rank[known]
}
