// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of all our kinds.
const Group = "minos.dev"

// GroupVersion is the group and version that this package holds.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

// Kinds returns one empty object of every kind, in the order in which people meet them. Whatever must be true of every
// kind is checked by walking this list.
func Kinds() []runtime.Object {
	return []runtime.Object{
		&TalosCluster{}, &NodePool{}, &NodeRole{}, &ClusterLocation{}, &Location{}, &TalosMachine{},
	}
}

// AddToScheme makes the kinds known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, Kinds()...)
	scheme.AddKnownTypes(GroupVersion,
		&TalosClusterList{}, &NodePoolList{}, &NodeRoleList{}, &ClusterLocationList{}, &LocationList{}, &TalosMachineList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
