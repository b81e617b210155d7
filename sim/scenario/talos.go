// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"net"
	"time"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/image"
	"minos.dev/minos/talos/pki"
)

// talos connects to a machine's own API, as talosctl does.
func (p *play) talos(ctx context.Context, name string) (*client.Client, error) {
	found := p.stage.cloud.Machine(name)
	if found == nil {
		return nil, errNoPower
	}
	host, _, err := net.SplitHostPort(found.Status().API)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	text, err := p.stage.cluster.Secrets.Talosconfig(pki.TalosAccess{
		Cluster: p.stage.declared.Cluster.Name, Endpoints: []string{host}, Nodes: []string{host}, Validity: pki.Validity{Now: now, For: time.Hour},
	})
	if err != nil {
		return nil, err
	}
	config, err := clientconfig.FromBytes(text)
	if err != nil {
		return nil, err
	}
	return client.New(ctx, client.WithConfig(config))
}

// reboot asks a machine to.
func (p *play) reboot(ctx context.Context, name string) error {
	c, err := p.talos(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.Reboot(ctx)
}

// upgrade asks a machine to take the image of its pool in another release.
func (p *play) upgrade(ctx context.Context, name string, version api.TalosVersion) error {
	found := p.stage.cloud.Machine(name)
	if found == nil {
		return errNoPower
	}
	installer, err := image.Image{
		Schematic: found.Status().Image.Schematic, Version: version, Platform: image.PlatformOf(api.MemberSim),
	}.InstallerImage()
	if err != nil {
		return err
	}
	c, err := p.talos(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	//nolint:staticcheck // the old form is what every release has until 1.18
	_, err = c.MachineClient.Upgrade(ctx, &machineapi.UpgradeRequest{Image: installer})
	return err
}
