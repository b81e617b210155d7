// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// synced waits until the controllers have been started and the kinds they work on are in the cache.
func synced(ctx context.Context, mgr ctrl.Manager) error {
	select {
	case <-mgr.Elected(): // there is no election; it means that the controllers have been started
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, kind := range []client.Object{
		&clusterv1.Cluster{},
		&clusterv1.Machine{},
		&clusterv1.MachineSet{},
		&clusterv1.MachineDeployment{},
		&clusterv1.MachineHealthCheck{},
		&addonsv1.ClusterResourceSet{},
		&addonsv1.ClusterResourceSetBinding{},
	} {
		// It answers once the kind is in the cache.
		if _, err := mgr.GetCache().GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("wait for the cache of %T: %w", kind, err)
		}
	}
	return nil
}

// answered waits until the API server asks our webhooks, and not those of an earlier run or none: it has its own idea of
// when to notice a changed configuration. It tries to make a MachineHealthCheck that only Cluster API's own check refuses,
// in the old version, so that it is converted on the way. It is a dry run, so nothing comes of it either way.
func answered(ctx context.Context, c client.Client) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollEvery, readyLimit, true, func(ctx context.Context) (bool, error) {
		last = c.Create(ctx, refusable(), client.DryRunAll)
		return apierrors.IsInvalid(last), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the webhooks to be asked: %w (last answer: %w)", err, last)
	}
	return nil
}

// refusable selects machines of another cluster than its own.
func refusable() *clusterv1beta1.MachineHealthCheck {
	check := &clusterv1beta1.MachineHealthCheck{}
	check.Name, check.Namespace = name+"-probe", metav1.NamespaceDefault
	check.Spec.ClusterName = "one"
	check.Spec.Selector.MatchLabels = map[string]string{clusterv1.ClusterNameLabel: "another"}
	return check
}
