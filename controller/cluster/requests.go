// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// approve approves the serving certificates of kubelets whose machines are known. Who is known is asked only if somebody asks.
func (t *turn) approve(ctx context.Context, inside client.Client) error {
	var requests certificatesv1.CertificateSigningRequestList
	selector := fields.OneTermEqualSelector("spec.signerName", certificatesv1.KubeletServingSignerName)
	if err := inside.List(ctx, &requests, client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return err
	}
	var machines []hosted.Machine
	var refused []refusal
	for at := range requests.Items {
		request := &requests.Items[at]
		if !hosted.Pending(request) {
			continue
		}
		if machines == nil {
			known, err := t.machines(ctx)
			if err != nil {
				return err
			}
			machines = known
		}
		if err := hosted.Approve(request, machines); err != nil {
			refused = append(refused, refusal{request.UID, request.Name, request.CreationTimestamp.Time, err})
			continue
		}
		request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "KnownMachine",
			Message: "the names and addresses are those of a machine that Minos knows", LastUpdateTime: metav1.NewTime(t.now),
		})
		if err := inside.SubResource("approval").Update(ctx, request); err != nil {
			return fmt.Errorf("approve %s: %w", request.Name, err)
		}
		t.Metrics.Approved()
	}
	t.refuse(refused)
	return nil
}

// machines are all that are known of the cluster, by the word of whoever made them.
func (t *turn) machines(ctx context.Context) ([]hosted.Machine, error) {
	var ours api.TalosMachineList
	if err := t.Client.List(ctx, &ours, client.InNamespace(t.cluster.Namespace)); err != nil {
		return nil, err
	}
	found := []hosted.Machine{}
	for _, machine := range ours.Items {
		if string(machine.Spec.ClusterName) != t.cluster.Name {
			continue
		}
		known := hosted.Machine{Node: cmp.Or(string(machine.Spec.HostName), machine.Name)}
		for _, address := range machine.Status.Addresses {
			known.Addresses = add(known.Addresses, string(address))
		}
		found = append(found, known)
	}
	theirs, err := t.clusterAPI(ctx)
	return append(found, theirs...), err
}

// clusterAPI are the machines that Cluster API made.
func (t *turn) clusterAPI(ctx context.Context) (found []hosted.Machine, err error) {
	kind, err := t.served(hosted.MachineKind)
	if material.IsWaiting(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := t.Client.List(ctx, list, client.InNamespace(t.cluster.Namespace), client.MatchingLabels{names.LabelClusterAPI: t.cluster.Name}); err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		var read struct {
			Spec struct {
				InfrastructureRef struct {
					Name string `json:"name"`
				} `json:"infrastructureRef"`
			} `json:"spec"`
			Status struct {
				Addresses []struct{ Type, Address string } `json:"addresses"`
			} `json:"status"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &read); err != nil {
			return nil, fmt.Errorf("read Machine %s: %w", item.GetName(), err)
		}
		// A machine's Node bears the name of what the infrastructure made.
		known := hosted.Machine{Node: cmp.Or(read.Spec.InfrastructureRef.Name, item.GetName())}
		for _, address := range read.Status.Addresses {
			switch address.Type {
			case "InternalIP", "ExternalIP":
				known.Addresses = add(known.Addresses, address.Address)
			default:
				known.Names = append(known.Names, address.Address)
			}
		}
		found = append(found, known)
	}
	return found, nil
}

// add adds an address, if it is one.
func add(known []netip.Addr, text string) []netip.Addr {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return known
	}
	return append(known, address.Unmap())
}
