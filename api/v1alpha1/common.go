// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Name is the name of an object, as Kubernetes wants it: a DNS label.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="must be a name of lower-case letters, digits and '-', beginning and ending with a letter or a digit, for example workers-1"
type Name string

// KubernetesVersion is a Kubernetes version with its patch, for example
// v1.36.3.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^v1[.](0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,2})(-[0-9a-z.-]+)?$')",message="must be a full Kubernetes version such as v1.36.3"
// +kubebuilder:validation:XValidation:rule="!self.matches('^v1[.][0-9]{1,3}[.]') || int(self.split('.')[1]) >= 31",message="Kubernetes 1.30 and older are out of support upstream and are refused: choose v1.31.0 or newer"
type KubernetesVersion string

// TalosVersion is a Talos Linux version with its patch, for example v1.13.9.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^v1[.](0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,2})(-[0-9a-z.-]+)?$')",message="must be a full Talos version such as v1.13.9"
type TalosVersion string

// CIDR is a network in CIDR notation, for example 10.244.0.0/16 or
// fd00:10::/56.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="must be a network in CIDR notation, for example 10.244.0.0/16"
// +kubebuilder:validation:XValidation:rule="!isCIDR(self) || cidr(self) == cidr(self).masked()",message="must be the address of the network itself: the bits after the prefix have to be zero"
type CIDR string

// Address is an IP address, for example 192.0.2.10.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=39
// +kubebuilder:validation:XValidation:rule="isIP(self)",message="must be an IP address, for example 192.0.2.10"
type Address string

// URL is an absolute http or https address.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost().size() > 0",message="must be an address that begins with https:// or http://"
type URL string

// Architecture is the processor architecture of machines.
//
// +kubebuilder:validation:Enum=amd64;arm64
type Architecture string

// The architectures for which Talos is built.
const (
	AMD64 Architecture = "amd64"
	ARM64 Architecture = "arm64"
)

// SecretKeyReference names one key of a Secret. The Secret is always looked
// for in the namespace of the object that uses it, so that nobody can make
// Minos read what they could not read themselves.
type SecretKeyReference struct {
	// name is the name of the Secret.
	// +required
	Name Name `json:"name,omitempty"`

	// key is the key in the Secret's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// LocationReference names the place of a pool.
type LocationReference struct {
	// kind is ClusterLocation for a place that the platform offers, or Location
	// for one of the pool's own namespace.
	// +required
	Kind LocationKind `json:"kind,omitempty"`

	// name is the name of that ClusterLocation or Location.
	// +required
	Name Name `json:"name,omitempty"`
}

// LocationKind is one of the two kinds of places.
//
// +kubebuilder:validation:Enum=ClusterLocation;Location
type LocationKind string

// The kinds of places.
const (
	KindClusterLocation LocationKind = "ClusterLocation"
	KindLocation        LocationKind = "Location"
)

// Taint keeps pods off a node that do not tolerate it. Talos knows one taint a
// key.
type Taint struct {
	// key is the key of the taint, for example nvidia.com/gpu.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Key string `json:"key,omitempty"`

	// value is the value of the taint. It may be left out.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`

	// effect is what happens to pods that do not tolerate the taint.
	// +required
	Effect TaintEffect `json:"effect,omitempty"`
}

// TaintEffect is what a taint does.
//
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// RegistryMirror says where images of one registry are pulled from instead.
type RegistryMirror struct {
	// registry is the registry that is mirrored, for example docker.io, or "*" for
	// all that have no mirror of their own.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Registry string `json:"registry,omitempty"`

	// endpoints are the addresses that are asked, in this order.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Endpoints []URL `json:"endpoints,omitempty"`

	// fallback says whether the registry itself is asked when no endpoint answers.
	// Never is what an air-gapped installation wants.
	// +optional
	// +default="Allowed"
	Fallback MirrorFallback `json:"fallback,omitempty"`
}

// MirrorFallback is what happens when no mirror answers.
//
// +kubebuilder:validation:Enum=Allowed;Never
type MirrorFallback string

// The two answers to a mirror that fails.
const (
	FallbackAllowed MirrorFallback = "Allowed"
	FallbackNever   MirrorFallback = "Never"
)

// Resources is an amount of processor and memory.
type Resources struct {
	// cpu is the amount of processor, for example 2 or 500m.
	// +required
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="must be more than zero"
	CPU resource.Quantity `json:"cpu,omitempty"`

	// memory is the amount of memory, for example 4Gi.
	// +required
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="must be more than zero"
	Memory resource.Quantity `json:"memory,omitempty"`
}

// Rollout bounds what a change of machines may disturb.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !(string(self.maxSurge) in ['0', '0%'] && string(self.maxUnavailable) in ['0', '0%'])",message="maxSurge and maxUnavailable cannot both be zero, or nothing could ever be replaced: raise one of them"
type Rollout struct {
	// maxSurge is how many machines may exist above the wanted number while
	// machines are replaced, as a number or a share such as 25%. Without it: 1,
	// and 0 for metal, where no machine can be made. Changing it rolls nothing.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^([0-9]{1,4}|[0-9]{1,2}%|100%)$')",message="must be a number such as 1, or a share from 0% to 100%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is how many of the wanted machines may be away at the same
	// time while machines are replaced or rebooted, as a number or a share such as
	// 25%. Without it: 0, and 1 for metal. Changing it rolls nothing.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^([0-9]{1,4}|[0-9]{1,2}%|100%)$')",message="must be a number such as 1, or a share from 0% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// drainTimeoutSeconds is how long pods are given to leave a machine before it
	// is replaced or rebooted regardless. Zero waits for as long as it takes.
	// Without it: 600. Changing it rolls nothing.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	DrainTimeoutSeconds *int32 `json:"drainTimeoutSeconds,omitempty"`
}

// Layer is a set of changes to the machine configuration.
type Layer struct {
	// patches are Talos configuration documents, or strategic patches of them,
	// merged in this order by Talos's own rules. What lets a machine join the
	// right cluster (identity, certificates, tokens, endpoint, networks, machine
	// type) cannot be patched: such a patch is refused with its path. A change
	// that Talos can make on a running machine is made live; any other rolls the
	// machines concerned.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Patches []Patch `json:"patches,omitempty"`
}
