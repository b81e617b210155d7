// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/backend/sim"
	"minos.dev/minos/check"
	"minos.dev/minos/controller/admission"
	"minos.dev/minos/controller/machine"
	"minos.dev/minos/controller/operator"
)

// flags are what the operator can be told.
type flags struct {
	options             operator.Options
	kubeconfig          string
	management, refused string
	refusedRules        string
	simURL, simTokenEnv string
	showVersion         bool
}

// refused are this machine itself and where clouds tell machines their secrets: no API server of a tenant is there.
const refused = "127.0.0.0/8,::1/128,0.0.0.0/8,::/128,169.254.0.0/16,fe80::/10,fd00:ec2::254/128,168.63.129.16/32"

// run runs the program and returns its exit code: 0 when it was asked to stop, 1 for an error, 2 for a command that makes no sense.
func run(ctx context.Context, args, environ []string, words io.Writer) int {
	read, err := parse(args, words)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil && read.showVersion {
		_, _ = fmt.Fprintln(words, "minos-operator", version)
		return 0
	}
	if err == nil {
		err = read.complete(environ)
	}
	if err != nil {
		_, _ = fmt.Fprintf(words, "minos-operator: %v (--help explains the flags)\n", err)
		return 2
	}
	log := slog.New(slog.NewJSONHandler(words, nil))
	read.options.Log = logr.FromSlogHandler(log.Handler())
	ctrl.SetLogger(read.options.Log)
	config, err := reach(read.kubeconfig)
	if err == nil {
		err = operator.Run(ctx, config, read.options)
	}
	if err != nil {
		log.Error(err.Error())
		return 1
	}
	return 0
}

// parse reads the flags.
func parse(args []string, words io.Writer) (*flags, error) {
	read := &flags{}
	set := flag.NewFlagSet("minos-operator", flag.ContinueOnError)
	set.SetOutput(words)
	set.StringVar(&read.kubeconfig, "kubeconfig", "", "`FILE` that leads to the management cluster; without it: the cluster that the operator runs in")
	set.StringVar(&read.options.Namespace, "namespace", "minos-system", "the operator's own `NAMESPACE`, for its lease and the webhook's certificate")
	set.StringVar(&read.options.Installation, "installation", "minos", "`NAME` that tells this Minos from another that uses the same accounts")
	set.StringVar(&read.options.SignerImage, "signer-image", "", "`IMAGE` of minos-signer, which runs beside hosted API servers")
	set.StringVar(&read.management, "management-networks", "", "`LIST` of the management cluster's pod and service networks, which those of clusters must keep clear of")
	set.StringVar(&read.refused, "refused-networks", refused, "`LIST` of networks to which no kubeconfig and no endpoint of a cluster may lead the operator")
	set.StringVar(&read.options.Metrics, "metrics", ":8080", "`ADDRESS` of /metrics; 0 is nowhere")
	set.StringVar(&read.options.Health, "health", ":8081", "`ADDRESS` of /healthz and /readyz; 0 is nowhere")
	set.StringVar(&read.options.Webhook, "webhook", ":9443", "`ADDRESS` where the webhook listens; empty is nowhere")
	set.StringVar(&read.options.WebhookService, "webhook-service", "minos-operator", "`NAME` of the Service by which the API server reaches the webhook; empty: by its address")
	set.StringVar(&read.refusedRules, "refused-rules", strings.Join(admission.RefusedRules, ","), "`LIST` of rules of minos check whose errors refuse a change, such as ROL-012 or EXT; errors by other rules are warnings; empty is none")
	set.BoolVar(&read.options.Elect, "elect", true, "of several operators, let one work")
	set.BoolVar(&read.options.ReportOnly, "report-orphans-only", false, "say which instances nobody claims, and remove none")
	set.StringVar(&read.simURL, "sim-url", "", "`URL` of a simulated cloud, for pools of machine.sim")
	set.StringVar(&read.simTokenEnv, "sim-token-env", "MINOS_SIM_TOKEN", "`VARIABLE` that holds the token of the simulated cloud")
	set.BoolVar(&read.showVersion, "version", false, "print the version and end")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("%q is not a flag", set.Arg(0))
	}
	return read, nil
}

// complete makes of the flags what the operator needs.
func (f *flags) complete(environ []string) error {
	var err error
	if f.options.Management, err = networks("--management-networks", f.management); err != nil {
		return err
	}
	if f.options.Refused, err = networks("--refused-networks", f.refused); err != nil {
		return err
	}
	if f.options.RefusedRules, err = rules(f.refusedRules); err != nil {
		return fmt.Errorf("--refused-rules: %w", err)
	}
	if f.options.SignerImage == "" {
		return errors.New("--signer-image is needed: the image of minos-signer for hosted clusters")
	}
	f.options.Places = machine.Places{}
	if f.simURL == "" {
		return nil
	}
	token := ""
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, f.simTokenEnv+"="); ok {
			token = value
		}
	}
	if token == "" {
		return fmt.Errorf("--sim-url is given and the variable %s is not: it holds the token", f.simTokenEnv)
	}
	simulated, err := sim.New(f.simURL, token)
	if err != nil {
		return fmt.Errorf("--sim-url: %w", err)
	}
	f.options.Places[api.MemberSim] = func(context.Context, machine.Location) (backend.Place, error) { return simulated, nil }
	return nil
}

// networks reads a list of them.
func networks(name, list string) (found []netip.Prefix, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a network such as 10.244.0.0/16", name, text)
		}
		found = append(found, network)
	}
	return found, nil
}

// rules reads a list of rules and groups of them.
func rules(list string) (found []string, err error) {
	if list == "" {
		return nil, nil
	}
	chosen, err := check.Select(strings.Split(list, ","), nil)
	for _, one := range chosen {
		found = append(found, one.ID)
	}
	return found, err
}

// reach leads to the management cluster.
func reach(kubeconfig string) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if kubeconfig == "" {
		config, err = rest.InClusterConfig()
	} else {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("find the management cluster: %w", err)
	}
	// Priority and fairness of the API server bound what we ask; a limit of our own would only make thousands of pools slow.
	config.QPS = -1
	return config, nil
}
