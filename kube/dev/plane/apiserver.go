// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"minos.dev/minos/kube/dev"
)

func apiFlags(spec dev.Spec, store string) []string {
	address, _, _ := net.SplitHostPort(spec.Listener.Addr().String()) // a listener's address has a port
	return []string{
		"--bind-address=" + address,
		"--advertise-address=" + address,
		// There are no endpoints to tell anyone about, and a loopback address is refused as one.
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + store,
		"--etcd-cafile=" + spec.Files.EtcdCA.Cert,
		"--etcd-certfile=" + spec.Files.Etcd.Cert,
		"--etcd-keyfile=" + spec.Files.Etcd.Key,
		"--tls-cert-file=" + spec.Files.APIServer.Cert,
		"--tls-private-key-file=" + spec.Files.APIServer.Key,
		"--client-ca-file=" + spec.Files.CA.Cert,
		"--service-account-key-file=" + spec.Files.ServiceAccount,
		"--service-account-signing-key-file=" + spec.Files.ServiceAccount,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=" + spec.Services.String(),
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--enable-bootstrap-token-auth=true",
		"--profiling=false",
	}
}

// serveAPI runs kube-apiserver on the listener it is given, until the context ends.
func serveAPI(ctx context.Context, spec dev.Spec, store string) error {
	o := options.NewServerRunOptions()
	if err := parse(o.Flags(), apiFlags(spec, store)); err != nil {
		return err
	}
	o.SecureServing.Listener = spec.Listener

	registry := o.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return fmt.Errorf("set the feature gates: %w", err)
	}
	// The server's own loopback clients would warn about what they themselves ask for.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	logging := &logsapi.LoggingOptions{ErrorStream: spec.Log, InfoStream: spec.Log}
	gates := registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApplyWithOptions(o.Logs, logging, gates); err != nil {
		return fmt.Errorf("direct the log: %w", err)
	}
	klog.OsExit = func(code int) { giveUp(ctx, spec, code) }
	completed, err := o.Complete(ctx)
	if err != nil {
		return fmt.Errorf("complete the options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("check the options: %w", errors.Join(errs...))
	}
	return app.Run(ctx, completed)
}

// giveUp ends the process on behalf of a component that cannot go on. The API server does that also when it is stopped
// before it has started, which is no failure: what it has stored by then is stored.
func giveUp(ctx context.Context, spec dev.Spec, code int) {
	if ctx.Err() != nil {
		os.Exit(0)
	}
	spec.Warn("a component gave up")
	os.Exit(code)
}

// parse sets a component's options by their flags, which are the interface that upstream documents and keeps.
func parse(sets cliflag.NamedFlagSets, flags []string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(flags); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	return nil
}
