// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourceset"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourcesetbinding"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/core/setup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

const (
	// The grace periods are upstream's defaults.
	connectionGrace = 50 * time.Second
	conditionsGrace = 5 * time.Minute

	clusterQPS   = 100
	clusterBurst = 200
	workers      = 10
)

// addControllers adds the reconcilers, and the cache of clients to the clusters they manage that they share.
func addControllers(ctx context.Context, mgr ctrl.Manager) (clustercache.ClusterCache, error) {
	secrets, err := setup.CreateSecretCachingClient(mgr)
	if err != nil {
		return nil, fmt.Errorf("make a client for secrets: %w", err)
	}
	options := controller.Options{MaxConcurrentReconciles: workers}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: secrets,
		Cache:        setup.ClusterCacheCacheOptions(),
		Client:       setup.ClusterCacheClientOptions(name, clusterQPS, clusterBurst),
	}, options)
	if err != nil {
		return nil, fmt.Errorf("set up the cache of clusters: %w", err)
	}
	allSecrets, err := secretCache(mgr)
	if err != nil {
		return nil, err
	}
	for kind, add := range reconcilers(ctx, mgr, clusters, allSecrets) {
		if err := add(options); err != nil {
			return nil, fmt.Errorf("set up the controller of %s: %w", kind, err)
		}
	}
	return clusters, nil
}

// reconcilers gives, by kind, what adds its controller.
func reconcilers(
	ctx context.Context, mgr ctrl.Manager, clusters clustercache.ClusterCache, secrets cache.Cache,
) map[string]func(controller.Options) error {
	c, reader := mgr.GetClient(), mgr.GetAPIReader()
	return map[string]func(controller.Options) error{
		"Cluster": func(o controller.Options) error {
			r := &cluster.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, RemoteConnectionGracePeriod: connectionGrace}
			return r.SetupWithManager(ctx, mgr, o)
		},
		"Machine": func(o controller.Options) error {
			r := &machine.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, RemoteConditionsGracePeriod: conditionsGrace}
			return r.SetupWithManager(ctx, mgr, o)
		},
		"MachineSet": func(o controller.Options) error {
			checks := sets.New(clusterv1.MachineSetPreflightCheckAll)
			r := &machineset.Reconciler{Client: c, APIReader: reader, ClusterCache: clusters, PreflightChecks: checks}
			return r.SetupWithManager(ctx, mgr, o)
		},
		"MachineDeployment": func(o controller.Options) error {
			return (&machinedeployment.Reconciler{Client: c, APIReader: reader}).SetupWithManager(ctx, mgr, o)
		},
		"MachineHealthCheck": func(o controller.Options) error {
			return (&machinehealthcheck.Reconciler{Client: c, ClusterCache: clusters}).SetupWithManager(ctx, mgr, o)
		},
		"ClusterResourceSet": func(o controller.Options) error {
			return (&clusterresourceset.Reconciler{Client: c, ClusterCache: clusters}).SetupWithManager(ctx, mgr, o, secrets)
		},
		"ClusterResourceSetBinding": func(o controller.Options) error {
			return (&clusterresourcesetbinding.Reconciler{Client: c}).SetupWithManager(ctx, mgr, o)
		},
	}
}

// secretCache watches the metadata of all secrets, for ClusterResourceSet: the manager's own cache holds only those of
// clusters.
func secretCache(mgr ctrl.Manager) (cache.Cache, error) {
	period := syncPeriod
	secrets, err := cache.New(mgr.GetConfig(), cache.Options{
		Scheme:           mgr.GetScheme(),
		Mapper:           mgr.GetRESTMapper(),
		HTTPClient:       mgr.GetHTTPClient(),
		SyncPeriod:       &period,
		DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, fmt.Errorf("make a cache for secrets: %w", err)
	}
	if err := mgr.Add(secrets); err != nil {
		return nil, fmt.Errorf("add a cache for secrets: %w", err)
	}
	return secrets, nil
}
