// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// An Environment is what the machines of a rack share: time, networks, registries, and who listens to what happens.
type Environment struct {
	// Scale compresses the durations of Talos: with 60, a minute passes in a second. Zero means 1. Leases and certificates of
	// Kubernetes go by the real clock, because the API server does.
	Scale float64
	// Durations are how long things take before they are compressed. Zero fields have the values of a real machine.
	Durations Durations
	// Trustd gives the addresses, with port, at which trustd answers for a control plane's host:port. Nil means port 50001 of
	// that host. The certificate there must be valid for the host of the address.
	Trustd func(endpoint string) []string
	// Dial replaces how the API server is reached; names in certificates stay those of the endpoint.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Registry finds installer images. Without one, none can be pulled.
	Registry Registry
	// Log is told of every event, also by several machines at the same time. It must not wait for a machine.
	Log func(Event)
}

// Durations are how long a machine takes.
type Durations struct {
	// Boot is from power to the first step.
	Boot time.Duration
	// Install is for an image to be written.
	Install time.Duration
	// Deadline is how long a boot may take before the machine gives it up and reboots.
	Deadline time.Duration
	// Renew is how often the certificate of the Talos API is renewed.
	Renew time.Duration
	// Retry is the longest time between two tries of what fails.
	Retry time.Duration
	// Lease is how often a Node's lease is renewed. It is not compressed.
	Lease time.Duration
	// Rotate is for how long a kubelet uses a client certificate at most; zero means for four fifths of its life. It is not
	// compressed.
	Rotate time.Duration
}

// filled returns durations without zeros.
func (d Durations) filled() Durations {
	return Durations{
		Boot:     cmp.Or(d.Boot, 15*time.Second),
		Install:  cmp.Or(d.Install, 30*time.Second),
		Deadline: cmp.Or(d.Deadline, constants.BootTimeout),
		Renew:    cmp.Or(d.Renew, 12*time.Hour),
		Retry:    cmp.Or(d.Retry, time.Minute),
		Lease:    cmp.Or(d.Lease, 10*time.Second),
		Rotate:   d.Rotate,
	}
}

// filled returns an environment in which nothing is missing.
func (e Environment) filled() Environment {
	e.Scale = cmp.Or(e.Scale, 1)
	e.Durations = e.Durations.filled()
	if e.Dial == nil {
		e.Dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	if e.Registry == nil {
		e.Registry = &Factory{}
	}
	if e.Log == nil {
		e.Log = func(Event) {}
	}
	return e
}

// scaled is a duration on the real clock.
func (e Environment) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / e.Scale)
}

// wait lets a duration pass, and says whether it did.
func (e Environment) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(e.scaled(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Options are one machine.
type Options struct {
	// Name is how the rack and its events call it.
	Name string
	// Disk keeps what it knows.
	Disk Disk
	// UserData is what the place gives it. It is looked at only while the disk holds no configuration.
	UserData []byte
	// Platform is Talos's word for the place: metal, nocloud, hcloud and so on. Empty means nocloud.
	Platform string
	// Netboot is what boots when there is nothing on the disk; nil means nothing does.
	Netboot *Image
	// Hostname is what the place calls it; empty if it does not.
	Hostname string
	// Addresses are those of the machine.
	Addresses []netip.Addr
	// ProviderID is what its Node says of the place; empty for none.
	ProviderID string
	// Architecture is amd64 unless said otherwise.
	Architecture string
	// CPUs and MemoryMiB are its size: 4 and 8192 unless said otherwise.
	CPUs, MemoryMiB int64
	// Devices are paths that its hardware or hypervisor brings, for example /dev/virtio-ports/org.qemu.guest_agent.0.
	Devices []string
	// GPU is the maker of its graphics processor in small letters, for example nvidia; empty if it has none.
	GPU string
	// Listen is the loopback address of its Talos API, for example 127.0.0.1:0. Empty means that nobody can call it.
	Listen string
	// Knobs are its own faults.
	Knobs Knobs
}

// filled returns options in which nothing is missing.
func (o Options) filled() Options {
	o.Platform = cmp.Or(o.Platform, "nocloud")
	o.Architecture = cmp.Or(o.Architecture, "amd64")
	o.CPUs, o.MemoryMiB = cmp.Or(o.CPUs, 4), cmp.Or(o.MemoryMiB, 8192)
	if len(o.Addresses) == 0 {
		o.Addresses = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	}
	return o
}

// An Outcome is how an upgrade ends.
type Outcome string

// The outcomes of an upgrade.
const (
	// UpgradeSucceeds boots the new image.
	UpgradeSucceeds Outcome = "succeeds"
	// UpgradeFails writes nothing and says so.
	UpgradeFails Outcome = "fails"
	// UpgradeFallsBack answers that all went well and boots the old image.
	UpgradeFallsBack Outcome = "falls back"
)

// Knobs are faults. Those of a rack hold for all of its machines, beside their own.
type Knobs struct {
	// NoCNI says that there is no pod network: Nodes are not Ready.
	NoCNI bool
	// NoKubeletImage says that the kubelet's image cannot be pulled.
	NoKubeletImage bool
	// NoAPI says that nobody answers at the Talos API, though the machine is well.
	NoAPI bool
	// Silent says that the kubelet does not renew its lease.
	Silent bool
	// DiskFull says that there is no room on the disk: what is there can be read, and nothing can be added. The kubelet reports
	// it.
	DiskFull bool
	// NeedsReboot says that Talos takes no configuration without a reboot, as for what it cannot change while it runs.
	NeedsReboot bool
	// Upgrade is how upgrades end; empty means that they succeed.
	Upgrade Outcome
	// Devices are paths that exist beside those of the machine.
	Devices []string
}

// and puts the knobs of a machine on top of those of its rack.
func (k Knobs) and(own Knobs) Knobs {
	return Knobs{
		NoCNI: k.NoCNI || own.NoCNI, NoKubeletImage: k.NoKubeletImage || own.NoKubeletImage, NoAPI: k.NoAPI || own.NoAPI,
		NeedsReboot: k.NeedsReboot || own.NeedsReboot,
		Silent:      k.Silent || own.Silent, DiskFull: k.DiskFull || own.DiskFull, Upgrade: cmp.Or(own.Upgrade, k.Upgrade, UpgradeSucceeds),
		Devices: slices.Concat(k.Devices, own.Devices),
	}
}
