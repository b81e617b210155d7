// SPDX-License-Identifier: Apache-2.0

// Package machines decides about machines that Minos makes itself: how many of a pool there should be and which, what the steps of
// one are, how one ends, and which Nodes and instances are left over. What was seen and the time go in; what to do, with the reason
// in words, comes out.
package machines

// Annotations that Minos writes, on a TalosMachine if nothing else is said.
const (
	// AnnotationDeleteFirst is for people and autoscalers: when there is one machine too many, it is this one.
	AnnotationDeleteFirst = "minos.dev/delete-first"
	// AnnotationKept marks a machine that failed and is kept for study, with the reason. Whoever is done with it deletes it.
	AnnotationKept = "minos.dev/kept"
	// AnnotationWanted is what the place is asked for, in the same words each time it is asked.
	AnnotationWanted = "minos.dev/wanted"
	// AnnotationAsked is when the place was first asked for an instance, as RFC 3339. It is written before the call, so that a
	// machine without it certainly has none.
	AnnotationAsked = "minos.dev/asked"
	// AnnotationInstance is the instance in the place's own words: on a TalosMachine, and on its Node.
	AnnotationInstance = "minos.dev/instance"
	// AnnotationMade is when the place said that it has made the instance, as RFC 3339.
	AnnotationMade = "minos.dev/made"
	// AnnotationRevision is the configuration that the machine was given last: with its instance, or live.
	AnnotationRevision = "minos.dev/revision"
	// AnnotationUnhealthy is why the machine counts as failed. It goes when the machine works again.
	AnnotationUnhealthy = "minos.dev/unhealthy"
	// AnnotationJoined is when the machine did its work for the first time, as RFC 3339.
	AnnotationJoined = "minos.dev/joined"
	// AnnotationCluster is on a Node: the identity of the TalosCluster whose machine it is. Two may share one API server.
	AnnotationCluster = "minos.dev/cluster-uid"
	// AnnotationNamed is on a NodePool: how many names its machines have used up. One that a machine had is not given again.
	AnnotationNamed = "minos.dev/named"
	// AnnotationLocation is on a Node: the place of its instance, as kind/name.
	AnnotationLocation = "minos.dev/location"
)
