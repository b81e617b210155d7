// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"

	"minos.dev/minos/kube/dev"
)

// controllers are those a cluster without workloads needs. The others cost memory and start-up time, and have nothing to
// do where there is no scheduler and no kubelet.
var controllers = []string{
	names.CertificateSigningRequestApprovingController,
	names.CertificateSigningRequestSigningController,
	names.CertificateSigningRequestCleanerController,
	names.BootstrapSignerController,
	names.TokenCleanerController,
	names.NamespaceController,
	names.GarbageCollectorController,
	names.NodeLifecycleController,
	names.TaintEvictionController,
	names.ServiceAccountController,
	names.ServiceAccountTokenController,
	names.RootCACertificatePublisherController,
	names.ClusterRoleAggregationController,
}

func controllerFlags(spec dev.Spec) []string {
	return []string{
		"--kubeconfig=" + spec.ControllerAccess,
		"--authentication-kubeconfig=" + spec.ControllerAccess,
		"--authorization-kubeconfig=" + spec.ControllerAccess,
		// The user of the kubeconfig lacks what some controllers need; their service accounts have it.
		"--use-service-account-credentials=true",
		"--controllers=" + strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--cluster-signing-cert-file=" + spec.Files.CA.Cert,
		"--cluster-signing-key-file=" + spec.Files.CA.Key,
		"--cluster-signing-duration=24h",
		"--service-account-private-key-file=" + spec.Files.ServiceAccount,
		"--root-ca-file=" + spec.Files.CA.Cert,
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--concurrent-gc-syncs=4",
	}
}

// control runs kube-controller-manager until the context ends. The API server must have started, since it sets the
// feature gates and the log for both.
func control(ctx context.Context, spec dev.Spec) error {
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return fmt.Errorf("make the options: %w", err)
	}
	sets := o.Flags(app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases())
	o.ParsedFlags = &sets
	if err := parse(sets, controllerFlags(spec)); err != nil {
		return err
	}
	// As upstream does: with a context that never ends, so that events can be sent while all else stops.
	config, err := o.Config(context.Background(), app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases())
	if err != nil {
		return fmt.Errorf("check the options: %w", err)
	}
	return app.Run(ctx, config.Complete())
}
