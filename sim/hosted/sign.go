// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"minos.dev/minos/trust"
)

// A signer is one that runs.
type signer struct {
	stop context.CancelFunc
	done chan error
}

// Sign starts the signer beside the API server, in the place of one that runs already. Whatever the settings say, workers
// find it on port 50001 of the control plane's address; its port for probes is at that address too, because it has the
// network of its Pod for itself. The context bounds the start only.
func (c *ControlPlane) Sign(ctx context.Context, settings trust.Config, log *slog.Logger, audit io.Writer) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.stopSigning(); err != nil {
		return err
	}
	settings.Listen = netip.AddrPortFrom(c.options.Address, SignerPort).String()
	if _, port, err := net.SplitHostPort(settings.HTTP); err == nil {
		settings.HTTP = net.JoinHostPort(c.options.Address.String(), port)
	}
	listening, err := trust.Listen(ctx, settings, trust.World{Audit: audit, Log: log, Now: time.Now})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.Background())
	started := &signer{stop: stop, done: make(chan error, 1)}
	go func() { started.done <- listening.Run(running) }()
	c.signer = started
	return nil
}

// Signing says whether a signer runs.
func (c *ControlPlane) Signing() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.signer != nil
}

// StopSigning stops the signer, if there is one, and waits until it has.
func (c *ControlPlane) StopSigning() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.stopSigning()
}

func (c *ControlPlane) stopSigning() error {
	if c.signer == nil {
		return nil
	}
	c.signer.stop()
	err := <-c.signer.done
	c.signer = nil
	return err
}
