// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/declarations"
)

// The networks of a cluster that says nothing, as the kind documents them.
const (
	defaultPods     = "10.244.0.0/16"
	defaultServices = "10.96.0.0/16"
)

// clusterOptions are the usual fields of a cluster.
type clusterOptions struct {
	kubernetes, talos string
	plane, secret     string
	endpoint          string
	pods, services    []string
	loadBalancer      bool
}

// newClusterCreate returns the command that makes a cluster.
func newClusterCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a cluster in a management cluster",
		Long: `Makes a TalosCluster in a management cluster, where the operator brings it up.
It has the usual fields as flags: for all others, print it with --dry-run, edit
it and apply it with kubectl.

With --dry-run, nothing is made: the object is held to all rules, those of the
management cluster too, and printed.`,
		Example: `minos cluster create shop --kubernetes v1.36.3 --talos v1.13.9 --wait
minos cluster create shop --kubernetes v1.36.3 --talos v1.13.9 --dry-run`,
	}
	options, access := clusterCreateFlags(cmd), accessFlags(cmd)
	wait, dryRun := waitFlags(cmd), dryRunFlag(cmd, "print what would be made, and make nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cluster, err := options.cluster(args[0])
		if err != nil {
			return err
		}
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		cluster.Namespace = l.namespace
		if err := checkCluster(cluster); err != nil {
			return err
		}
		if err := l.makeObject(cmd, cluster, "cluster", *dryRun); err != nil || *dryRun {
			return err
		}
		return wait.until(cmd, l.clusterReady(cluster.Name))
	}
	return cmd
}

// clusterCreateFlags gives a command the fields of a cluster.
func clusterCreateFlags(cmd *cobra.Command) *clusterOptions {
	o := &clusterOptions{plane: "kamaji"}
	flags := cmd.Flags()
	flags.StringVar(&o.kubernetes, "kubernetes", "", "Kubernetes `version`")
	flags.StringVar(&o.talos, "talos", "", "Talos `version` of the machines")
	flags.Var(&single{&o.plane, []string{"kamaji", "external", "talos"}}, "control-plane", "`kind` of control plane: kamaji, external or talos")
	flags.StringVar(&o.secret, "kubeconfig-secret", "", "Secret, as `NAME/KEY`, by which an external API server is reached")
	flags.Var(&single{value: &o.endpoint}, "endpoint", "`host[:port]` of the API server, unless kamaji hosts it")
	flags.StringSliceVar(&o.pods, "pods", nil, "`network` of pods, one or one of each family (default "+defaultPods+")")
	flags.StringSliceVar(&o.services, "services", nil, "`network` of services, one or one of each family (default "+defaultServices+")")
	flags.BoolVar(&o.loadBalancer, "load-balancer", false, "let machines outside reach the hosted control plane")
	// They exist: see above.
	_ = cmd.MarkFlagRequired("kubernetes")
	_ = cmd.MarkFlagRequired("talos")
	return o
}

// cluster is the object that the flags describe.
func (o *clusterOptions) cluster(name string) (*api.TalosCluster, error) {
	cluster := &api.TalosCluster{}
	cluster.Name = name
	clean(cluster)
	cluster.Spec.KubernetesVersion, cluster.Spec.TalosVersion = api.KubernetesVersion(o.kubernetes), api.TalosVersion(o.talos)
	plane, err := o.controlPlane()
	if err != nil {
		return nil, err
	}
	cluster.Spec.ControlPlane = plane
	if cluster.Spec.Endpoint, err = endpointOf(o.endpoint); err != nil {
		return nil, err
	}
	if len(o.pods)+len(o.services) > 0 {
		cluster.Spec.Network = &api.ClusterNetwork{PodCIDRs: cidrs(o.pods, defaultPods), ServiceCIDRs: cidrs(o.services, defaultServices)}
	}
	return cluster, nil
}

// controlPlane is the member that the flags choose.
func (o *clusterOptions) controlPlane() (api.ControlPlane, error) {
	switch {
	case o.plane != "external" && o.secret != "":
		return api.ControlPlane{}, errors.New("--kubeconfig-secret is for --control-plane external: the others bring their own")
	case o.plane != "kamaji" && o.loadBalancer:
		return api.ControlPlane{}, errors.New("--load-balancer is for --control-plane kamaji: the others are reached by --endpoint")
	}
	switch o.plane {
	case "external":
		if o.secret == "" {
			return api.ControlPlane{}, Hint(errors.New("--kubeconfig-secret is required with --control-plane external"),
				"make a Secret with a kubeconfig of the API server in the same namespace, and give its NAME/KEY")
		}
		name, key, _ := strings.Cut(o.secret, "/")
		return api.ControlPlane{External: &api.ExternalControlPlane{
			KubeconfigSecretRef: api.SecretKeyReference{Name: api.Name(name), Key: cmp.Or(key, "value")},
		}}, nil
	case "talos":
		return api.ControlPlane{Talos: &api.TalosControlPlane{}}, nil
	}
	kamaji := &api.KamajiControlPlane{}
	if o.loadBalancer {
		kamaji.Service = &api.ControlPlaneService{Type: api.ServiceLoadBalancer}
	}
	return api.ControlPlane{Kamaji: kamaji}, nil
}

// endpointOf reads host[:port].
func endpointOf(text string) (*api.Endpoint, error) {
	if text == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil { // no port
		return &api.Endpoint{Host: strings.Trim(text, "[]"), Port: 6443}, nil
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("--endpoint: %q is not a port", port)
	}
	return &api.Endpoint{Host: host, Port: int32(number)}, nil
}

// cidrs are networks, or the default.
func cidrs(given []string, otherwise string) []api.CIDR {
	if len(given) == 0 {
		given = []string{otherwise}
	}
	all := make([]api.CIDR, 0, len(given))
	for _, network := range given {
		all = append(all, api.CIDR(network))
	}
	return all
}

// checkCluster holds a cluster to the rules, also those that no definition can say.
func checkCluster(cluster *api.TalosCluster) error {
	reader, err := load.NewReader()
	if err != nil {
		return err
	}
	document, err := documentOf(reader, "flags", cluster)
	if err != nil {
		return err
	}
	problems, err := declarations.References([]*load.Document{document})
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return wrong(problems)
	}
	return nil
}
