// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"minos.dev/minos/kube/capi"
	"minos.dev/minos/kube/pki"
)

const (
	name       = "minos-kube-capi"
	syncPeriod = 10 * time.Minute
	stopLimit  = 4 * time.Second
)

// gates turns off what needs controllers that are not run here. The webhooks of these kinds are served all the same, and
// refuse to have any made.
var gates = map[string]bool{"MachinePool": false, "ClusterTopology": false, "RuntimeSDK": false, "InPlaceUpdates": false}

// Run is the controllers for [capi.Command].
func Run(ctx context.Context, spec capi.Spec, ready func()) error {
	logTo(spec.Log, spec.ErrorsOnly)
	if err := feature.MutableGates.SetFromMap(gates); err != nil {
		return fmt.Errorf("set the feature gates: %w", err)
	}
	config, err := access(ctx, spec.Kubeconfig)
	if err != nil {
		return unless(ctx, err)
	}
	cert, ca, err := pki.Serving(time.Now())
	if err != nil {
		return err
	}
	manifests, err := spec.Manifests.At(capi.Endpoint{URL: "https://" + spec.Listener.Addr().String(), CA: ca})
	if err != nil {
		return err
	}
	in, err := newInstaller(config, manifests)
	if err != nil {
		return err
	}
	if err := in.definitions(ctx); err != nil {
		return unless(ctx, err)
	}
	mgr, err := compose(ctx, config, newServer(spec.Listener, cert))
	if err != nil {
		return err
	}
	return unless(ctx, operate(ctx, mgr, in, ready))
}

// unless drops an error that only says that the context ended.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// compose makes the manager with everything in it.
func compose(ctx context.Context, config *rest.Config, hooks *server) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	limit := stopLimit
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		WebhookServer:           hooks,
		Cache:                   setup.ManagerCacheOptions(scheme, name, "", syncPeriod),
		Client:                  setup.ManagerClientOptions(),
		GracefulShutdownTimeout: &limit,
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if err := index.AddDefaultIndexes(ctx, mgr); err != nil {
		return nil, fmt.Errorf("index what is cached: %w", err)
	}
	clusters, err := addControllers(ctx, mgr)
	if err != nil {
		return nil, err
	}
	return mgr, addWebhooks(mgr, clusters)
}

// operate starts the manager, puts the webhook configurations in place once somebody answers them, and stays until the
// manager ends.
func operate(ctx context.Context, mgr ctrl.Manager, in installer, ready func()) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := mgr.Start(running)
		cancel() // whoever waits for the manager to come up need wait no longer
		ended <- err
	}()
	if err := comeUp(running, mgr, in); err != nil {
		cancel()
		if why := <-ended; why != nil {
			return fmt.Errorf("run the controllers: %w", why)
		}
		return err
	}
	ready()
	if err := <-ended; err != nil {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

func comeUp(ctx context.Context, mgr ctrl.Manager, in installer) error {
	if err := in.webhooks(ctx); err != nil {
		return err
	}
	if err := synced(ctx, mgr); err != nil {
		return err
	}
	return answered(ctx, mgr.GetClient())
}

// access reads the kubeconfig and tries it: the first thing to be refused otherwise is a custom resource definition, of
// which the user has never heard.
func access(ctx context.Context, kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 500, 1000 // the server is ours alone
	config.UserAgent = name
	config.WarningHandler = rest.NoWarnings{}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if err := client.RESTClient().Get().AbsPath("/version").Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	return config, nil
}

// logTo directs what the libraries log.
func logTo(to io.Writer, errorsOnly bool) {
	verbosity := 0
	if errorsOnly {
		verbosity = -1 // everything but errors has at least 0
	}
	log := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(to), textlogger.Verbosity(verbosity)))
	klog.SetLogger(log)
	ctrl.SetLogger(log)
}
