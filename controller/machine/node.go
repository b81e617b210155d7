// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
)

// silence is for how long a cluster that did not answer is not asked again: its machines must not use up everybody's time.
const silence = 10 * time.Second

// schematic is the annotation by which Talos tells of its image.
const schematic = "extensions.talos.dev/schematic"

// roleLabel is how a role is shown on a Node; a kubelet may not set it.
const roleLabel = "node-role.kubernetes.io/"

// tenant reaches the cluster's API server, unless it has just not answered.
func (s *scope) tenant(ctx context.Context) (client.Client, error) {
	if s.cluster == nil {
		return nil, fmt.Errorf("cluster %s is gone", s.machine.Spec.ClusterName)
	}
	if until, found := s.silences.Load(s.cluster.UID); found {
		if said := until.(silent); s.now().Before(said.until) {
			return nil, said.why
		}
	}
	return s.Tenants.Client(ctx, s.cluster)
}

// A silent cluster is one that did not answer.
type silent struct {
	until time.Time
	why   error
}

// answered notes whether the cluster answered.
func (s *scope) answered(err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		s.silences.Store(s.cluster.UID, silent{s.now().Add(silence), err})
		return
	}
	s.silences.Delete(s.cluster.UID)
}

// node reads the Node of the machine; nil if there is none.
func (s *scope) node(ctx context.Context) (client.Client, *corev1.Node, error) {
	reader, err := s.tenant(ctx)
	if err != nil {
		return nil, nil, err
	}
	var node corev1.Node
	err = reader.Get(ctx, client.ObjectKey{Name: s.machine.Name}, &node)
	s.answered(err)
	if apierrors.IsNotFound(err) {
		return reader, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return reader, &node, nil
}

// askNode asks for the Node, and does for it what its kubelet may not.
func (s *scope) askNode(ctx context.Context) machines.Node {
	tenant, node, err := s.node(ctx)
	found := machines.Node{Asked: err == nil, Name: s.machine.Name}
	if err != nil || node == nil {
		return found
	}
	found.Found = true
	if s.isForeign(node) {
		found.Foreign = node.Spec.ProviderID
		return found
	}
	found.Ready, found.Message = readiness(node)
	status := &s.machine.Status
	status.NodeName, status.BootID, status.Schematic = node.Name, node.Status.NodeInfo.BootID, node.Annotations[schematic]
	if status.Schematic == "" {
		status.Schematic = node.Labels[schematic]
	}
	status.Revision = s.machine.Annotations[machines.AnnotationRevision]
	if err := s.dress(ctx, tenant, node); err != nil {
		s.after = joining
	}
	return found
}

// isForeign says whether a Node is another instance's.
func (s *scope) isForeign(node *corev1.Node) bool {
	ours := s.machine.Status.ProviderID
	return node.Spec.ProviderID != "" && ours != "" && node.Spec.ProviderID != ours
}

// readiness is what a Node says of itself.
func readiness(node *corev1.Node) (metav1.ConditionStatus, string) {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return metav1.ConditionStatus(condition.Status), condition.Message
		}
	}
	return metav1.ConditionFalse, "the kubelet has not reported yet"
}

// dress gives a Node what only an administrator may: its instance, its role, its zone. What is as it should be is not written.
func (s *scope) dress(ctx context.Context, tenant client.Client, node *corev1.Node) error {
	before := node.DeepCopy()
	if node.Spec.ProviderID == "" {
		node.Spec.ProviderID = s.machine.Status.ProviderID
	}
	if s.pool != nil {
		metav1.SetMetaDataLabel(&node.ObjectMeta, roleLabel+string(s.pool.Spec.Role), "")
	}
	if zone := s.location.Spec.Place().Zone; zone != "" {
		metav1.SetMetaDataLabel(&node.ObjectMeta, corev1.LabelTopologyZone, zone)
	}
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, machines.AnnotationInstance, s.id())
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, machines.AnnotationCluster, string(s.cluster.UID))
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, machines.AnnotationLocation, LocationText(s.machine.Spec.LocationRef))
	if node.Spec.ProviderID == before.Spec.ProviderID && maps.Equal(node.Labels, before.Labels) && maps.Equal(node.Annotations, before.Annotations) {
		return nil
	}
	return tenant.Patch(ctx, node, client.MergeFrom(before))
}

// LocationText is a place as a Node names it.
func LocationText(reference api.LocationReference) string {
	return string(reference.Kind) + "/" + string(reference.Name)
}
