// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say how a control plane is started.
type Options struct {
	// Dir keeps its state: started again on the same folder, it goes on where it was.
	Dir string
	// Address is the loopback address of the API server. The zero value is 127.0.0.1.
	Address netip.Addr
	// Port is the port of the API server at that address. Zero picks a free one.
	Port int
	// SANs are further names and addresses in the API server's certificate.
	SANs []string
	// Services is the network that services get their addresses from. The zero value leaves it to minos-kube.
	Services netip.Prefix
}

// arguments are the options as minos-kube takes them.
func (o Options) arguments() []string {
	arguments := []string{"dev", "--dir", o.Dir, "--port", strconv.Itoa(o.Port)}
	if o.Address.IsValid() {
		arguments = append(arguments, "--address", o.Address.String())
	}
	for _, name := range o.SANs {
		arguments = append(arguments, "--san", name)
	}
	if o.Services.IsValid() {
		arguments = append(arguments, "--service-cluster-ip-range", o.Services.String())
	}
	return arguments
}

// A ControlPlane is a running control plane.
type ControlPlane struct {
	// Kubeconfig is a file with which its administrator reaches it.
	Kubeconfig string

	process    *process
	clusterAPI *process
}

// Start starts a control plane and returns when it is ready.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	p, err := start(ctx, "minos-kube ready:", options.arguments()...)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(p.ready, "kubeconfig=")
	kubeconfig, _, found := strings.Cut(rest, " after=")
	if !found {
		return nil, errors.Join(fmt.Errorf("minos-kube said something else than where its kubeconfig is: %q", p.ready), p.stop())
	}
	return &ControlPlane{Kubeconfig: kubeconfig, process: p}, nil
}

// StartClusterAPI starts Cluster API's core controllers beside the control plane and returns when they are ready.
func (c *ControlPlane) StartClusterAPI(ctx context.Context) error {
	return c.StartClusterAPIThrough(ctx, c.Kubeconfig)
}

// StartClusterAPIThrough is the same for controllers that go another way to the API server than straight.
func (c *ControlPlane) StartClusterAPIThrough(ctx context.Context, kubeconfig string) error {
	p, err := start(ctx, "minos-kube capi ready:", "capi", "--kubeconfig", kubeconfig)
	if err != nil {
		return err
	}
	c.clusterAPI = p
	return nil
}

// ClusterAPIProcess is the process of Cluster API's controllers, or 0 if there is none.
func (c *ControlPlane) ClusterAPIProcess() int {
	if c.clusterAPI == nil {
		return 0
	}
	return c.clusterAPI.cmd.Process.Pid
}

// Config returns how its administrator reaches it, without a client-side rate limit: it is ours alone.
func (c *ControlPlane) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Stop stops everything and waits until it has: the controllers first, while there is still an API server to talk to.
func (c *ControlPlane) Stop() error {
	var clusterAPI error
	if c.clusterAPI != nil {
		clusterAPI = c.clusterAPI.stop()
	}
	return errors.Join(clusterAPI, c.process.stop())
}

// Kill ends everything at once, as a power cut would.
func (c *ControlPlane) Kill() {
	if c.clusterAPI != nil {
		c.clusterAPI.kill()
	}
	c.process.kill()
}
