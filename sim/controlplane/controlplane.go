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

	"minos.dev/minos/sim/process"
)

// ErrInUse says that another process has the folder. One whose starter was killed has it until it has stopped.
var ErrInUse = errors.New("the folder is in use")

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

	process    *process.Process
	clusterAPI *process.Process
}

// Start starts a control plane and returns when it is ready.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	p, err := start(ctx, process.Command{
		Ready: "minos-kube ready:", Args: options.arguments(),
		// A quarter of what an API server computes is collecting its memory, of which there is enough for the short life of a test.
		Environment: []string{"GOGC=400", "GOMEMLIMIT=2GiB"},
	})
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(p.Ready(), "kubeconfig=")
	kubeconfig, _, found := strings.Cut(rest, " after=")
	if !found {
		return nil, errors.Join(fmt.Errorf("minos-kube said something else than where its kubeconfig is: %q", p.Ready()), p.Stop())
	}
	return &ControlPlane{Kubeconfig: kubeconfig, process: p}, nil
}

// start runs a command of minos-kube, which ends with us.
func start(ctx context.Context, command process.Command) (*process.Process, error) {
	var err error
	if command.Program, err = Program(); err != nil {
		return nil, err
	}
	command.Args = append(command.Args, "--stop-with-stdin")
	p, err := process.Start(ctx, command)
	if err != nil && strings.Contains(err.Error(), "is in use by another minos-kube") {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return p, err
}

// StartClusterAPI starts Cluster API's core controllers beside the control plane and returns when they are ready.
func (c *ControlPlane) StartClusterAPI(ctx context.Context) error {
	return c.StartClusterAPIThrough(ctx, c.Kubeconfig)
}

// StartClusterAPIThrough is the same for controllers that go another way to the API server than straight.
func (c *ControlPlane) StartClusterAPIThrough(ctx context.Context, kubeconfig string) (err error) {
	c.clusterAPI, err = ClusterAPI(ctx, kubeconfig)
	return err
}

// ClusterAPI starts Cluster API's core controllers as a process that is nobody's, and returns when they are ready. What the
// arguments add is for minos-kube capi. They get no more memory than others: benches hold the operator against them.
func ClusterAPI(ctx context.Context, kubeconfig string, arguments ...string) (*process.Process, error) {
	return start(ctx, process.Command{Ready: "minos-kube capi ready:", Args: append([]string{"capi", "--kubeconfig", kubeconfig}, arguments...)})
}

// Process is the process of the control plane.
func (c *ControlPlane) Process() *process.Process { return c.process }

// ClusterAPIProcess is the process of Cluster API's controllers, or 0 if there is none.
func (c *ControlPlane) ClusterAPIProcess() int {
	if c.clusterAPI == nil {
		return 0
	}
	return c.clusterAPI.ID()
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
		clusterAPI = c.clusterAPI.Stop()
	}
	return errors.Join(clusterAPI, c.process.Stop())
}

// Kill ends everything at once, as a power cut would.
func (c *ControlPlane) Kill() {
	if c.clusterAPI != nil {
		c.clusterAPI.Kill()
	}
	c.process.Kill()
}
