// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"minos.dev/minos/sim/controlplane"
)

const (
	// Port is the port of the API server.
	Port = 6443
	// SignerPort is the port of the signer. Workers know no other.
	SignerPort = 50001
)

// Options say what a control plane is.
type Options struct {
	// Dir keeps it.
	Dir string
	// Address is where it is, an address of 127.0.0.0/8 that nobody else uses.
	Address netip.Addr
	// SANs are further names of the API server.
	SANs []string
	// Services is the network of services. The zero value leaves it to minos-kube.
	Services netip.Prefix
	// Authority is the authority of Kubernetes, for the first start. Without it one is made. Another one than that of the
	// folder is an error.
	Authority *Authority
}

// A ControlPlane is a running control plane.
type ControlPlane struct {
	options    Options
	authority  Authority
	kubeconfig []byte
	config     *rest.Config
	plane      *controlplane.ControlPlane

	mutex  sync.Mutex
	signer *signer
}

// Start starts an API server and returns when it is ready. The context bounds the start only.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if !options.Address.IsLoopback() {
		return nil, fmt.Errorf("address %q of a hosted control plane is not an address of 127.0.0.0/8", options.Address)
	}
	authority, err := EnsureAuthority(options.Dir, options.Authority)
	if err != nil {
		return nil, err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Dir: options.Dir, Address: options.Address, Port: Port, SANs: options.SANs, Services: options.Services,
	})
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: options, authority: authority, plane: plane}
	if c.kubeconfig, err = os.ReadFile(plane.Kubeconfig); err == nil {
		c.config, err = plane.Config()
	}
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return c, nil
}

// Endpoint is where the API server is.
func (c *ControlPlane) Endpoint() netip.AddrPort { return netip.AddrPortFrom(c.options.Address, Port) }

// Kubeconfig is the administrator's access, with the certificates in it.
func (c *ControlPlane) Kubeconfig() []byte { return c.kubeconfig }

// KubeconfigFile is a file with the same.
func (c *ControlPlane) KubeconfigFile() string { return filepath.Clean(c.plane.Kubeconfig) }

// Config is the same for a client. It is a copy.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Authority is the authority of Kubernetes.
func (c *ControlPlane) Authority() Authority { return c.authority }

// lookWithin bounds how long a look at the port may take. One that does not answer is busy, and not gone.
const lookWithin = time.Second

// Up says whether the API server's process is there: whether its port is open. It says no only if the port is closed.
func (c *ControlPlane) Up(ctx context.Context) bool {
	dialer := net.Dialer{Timeout: lookWithin}
	connection, err := dialer.DialContext(ctx, "tcp4", c.Endpoint().String())
	if err == nil {
		_ = connection.Close()
	}
	return !errors.Is(err, syscall.ECONNREFUSED)
}

// Stop stops the signer and the API server, and waits until they have.
func (c *ControlPlane) Stop() error {
	return errors.Join(c.StopSigning(), c.plane.Stop())
}

// Kill ends everything at once, as a power cut would. After a Stop it does nothing.
func (c *ControlPlane) Kill() {
	c.plane.Kill()
	_ = c.StopSigning() // nobody asks any more how it ended
}
