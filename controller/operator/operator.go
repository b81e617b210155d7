// SPDX-License-Identifier: Apache-2.0

// Package operator puts the controllers together into one program. It decides nothing; the places that machines are made in are
// given to it, because only a program names them.
package operator

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/admission"
	"minos.dev/minos/controller/cluster"
	"minos.dev/minos/controller/direct"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/controller/nodes"
	"minos.dev/minos/controller/pool"
	"minos.dev/minos/controller/tenant"
)

// Options are what an operator is started with.
type Options struct {
	// Namespace is the operator's own: its lease and the webhook's certificate are there.
	Namespace string
	// Installation tells this Minos from another that uses the same accounts.
	Installation string
	// SignerImage is the image of the signer beside hosted API servers.
	SignerImage string
	// Management are the networks of the management cluster.
	Management []netip.Prefix
	// Refused are the networks to which no cluster's kubeconfig may lead.
	Refused []netip.Prefix
	// Places are those in which machines are made directly.
	Places machine.Places
	// Metrics and Health are where those are served; "0" and empty mean nowhere.
	Metrics, Health string
	// Webhook is where the guard listens; empty means that there is none. WebhookService is the Service by which the API server
	// reaches it; empty means by that address.
	Webhook, WebhookService string
	// RefusedRules are the rules of minos check by which the guard refuses a change.
	RefusedRules []string
	// Elect says that of several operators one works.
	Elect bool
	// ReportOnly says which instances are left over and removes none.
	ReportOnly bool
	// Log takes what operators say.
	Log logr.Logger
}

// Scheme knows the kinds that the operator has types for.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), api.AddToScheme(scheme))
}

// Run runs an operator until the context ends.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reach the management cluster: %w", err)
	}
	several := true // operators in one program, as tests have them; their metrics are one
	settings := ctrl.Options{
		Controller: ctrlconfig.Controller{SkipNameValidation: &several},
		Scheme:     scheme, Logger: options.Log, Metrics: server.Options{BindAddress: options.Metrics}, HealthProbeBindAddress: options.Health,
		// What others' kinds say is read from a cache too: a pass over all that exists asks the API server for nothing.
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		// Who owns which field is for the API server alone, and about half of what an object weighs.
		Cache:          cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		LeaderElection: options.Elect, LeaderElectionID: "minos-operator", LeaderElectionNamespace: options.Namespace, LeaderElectionReleaseOnCancel: true,
	}
	measures, err := metrics.Shared()
	if err != nil {
		return fmt.Errorf("register the metrics: %w", err)
	}
	var door *admission.Door
	if options.Webhook != "" {
		door, err = admission.NewDoor(admission.Options{
			Client: direct, Namespace: options.Namespace, Service: options.WebhookService, Listen: options.Webhook, Now: time.Now,
			RefusedRules: options.RefusedRules, Metrics: measures,
		})
		if err != nil {
			return err
		}
		settings.WebhookServer = door.Server()
	}
	mgr, err := ctrl.NewManager(config, settings)
	if err != nil {
		return err
	}
	if err := index.Register(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if door != nil {
		if err := door.Open(ctx, mgr); err != nil {
			return fmt.Errorf("open the webhook: %w", err)
		}
	}
	if err := errors.Join(mgr.AddHealthzCheck("alive", healthz.Ping), mgr.AddReadyzCheck("alive", healthz.Ping), controllers(mgr, options, measures)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// controllers gives the manager all controllers.
func controllers(mgr ctrl.Manager, options Options, measures *metrics.Metrics) error {
	recorder := brief{mgr.GetEventRecorder("minos-operator")}
	tenants := tenant.New(mgr.GetClient())
	tenants.Refused = options.Refused
	machines := &direct.Machines{Client: mgr.GetClient(), Truth: mgr.GetAPIReader(), Events: recorder, Metrics: measures}
	clusters := &cluster.Reconciler{Tenants: tenants, Events: recorder, Metrics: measures, Settings: cluster.Settings{SignerImage: options.SignerImage, Management: options.Management}}
	pools := &pool.Reconciler{Client: mgr.GetClient(), Direct: machines, Tenants: tenants, Events: recorder, Metrics: measures}
	single := &machine.Controller{
		Client: mgr.GetClient(), Secrets: mgr.GetClient(), Tenants: tenants, Places: options.Places, Installation: options.Installation,
		Events: recorder, Metrics: measures,
	}
	leftovers := &nodes.Controller{
		Client: mgr.GetClient(), Truth: mgr.GetAPIReader(), Tenants: tenants, Places: options.Places, Installation: options.Installation,
		ReportOnly: options.ReportOnly, Events: recorder, Metrics: measures,
	}
	return errors.Join(clusters.SetupWithManager(mgr), pools.SetupWithManager(mgr), single.SetupWithManager(mgr), leftovers.SetupWithManager(mgr))
}
