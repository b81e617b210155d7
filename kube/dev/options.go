// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"minos.dev/minos/kube/box"
)

const (
	defaultPort = 16443
	// smallestRange is, in bits, what the API server needs to hand out addresses from.
	smallestRange = 3
)

// serverName is what a certificate can vouch for: a DNS name, perhaps with a wildcard in front.
var serverName = regexp.MustCompile(`^(\*\.)?[a-zA-Z0-9]([-a-zA-Z0-9_.]*[a-zA-Z0-9])?$`)

// Options are the flags of `minos-kube dev`.
type Options struct {
	Dir           string // absolute
	Address       netip.Addr
	Port          int
	Services      netip.Prefix
	SANs          []string
	UnsafeNoFsync bool
	StopWithStdin bool
}

// parse reads the flags. It answers pflag.ErrHelp when help was asked for.
func parse(args []string) (Options, error) {
	var o Options
	var given texts
	flags := flagSet(&o, &given)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return Options{}, err
		}
		return Options{}, hint(err)
	}
	if flags.NArg() > 0 {
		return Options{}, hint(fmt.Errorf("%q is not a flag", flags.Arg(0)))
	}
	if o.Dir == "" {
		return Options{}, hint(errors.New("--dir is needed: the directory that keeps the keys, the data and the log"))
	}
	return o.complete(given)
}

// texts are the flags that are read further once all are there.
type texts struct{ address, services string }

func (o Options) complete(given texts) (Options, error) {
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return Options{}, fmt.Errorf("find --dir %s: %w", o.Dir, err)
	}
	if o.Port < 0 || o.Port > 65535 {
		return Options{}, hint(fmt.Errorf("--port %d is not a port", o.Port))
	}
	if o.Address, err = netip.ParseAddr(given.address); err != nil || !o.Address.Is4() || !o.Address.IsLoopback() {
		return Options{}, hint(fmt.Errorf("--address %q is not an address of 127.0.0.0/8; it listens on loopback only", given.address))
	}
	if o.Services, err = netip.ParsePrefix(given.services); err != nil {
		return Options{}, hint(fmt.Errorf("--service-cluster-ip-range %q is not a range such as 10.0.0.0/24", given.services))
	}
	o.Services = o.Services.Masked()
	if room := o.Services.Addr().BitLen() - o.Services.Bits(); room < smallestRange {
		return Options{}, hint(fmt.Errorf("--service-cluster-ip-range %s is too small", given.services))
	}
	return o, o.checkNames()
}

func (o Options) checkNames() error {
	for _, san := range o.SANs {
		if _, err := netip.ParseAddr(san); err != nil && !serverName.MatchString(san) {
			return hint(fmt.Errorf("--san %q is neither a name nor an address", san))
		}
	}
	return nil
}

// names are the further names of the API server: what was asked for, and where it listens.
func (o Options) names() []string {
	if o.Address == box.Loopback {
		return o.SANs // every certificate has it
	}
	return append(slices.Clone(o.SANs), o.Address.String())
}

func flagSet(o *Options, given *texts) *pflag.FlagSet {
	flags := pflag.NewFlagSet("dev", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {} // the caller prints help, and where it belongs
	flags.StringVar(&o.Dir, "dir", "", "`directory` that keeps the keys, the data and the log; made if absent")
	flags.StringVar(&given.address, "address", box.Loopback.String(), "loopback `address` of the API server, any of 127.0.0.0/8")
	flags.IntVar(&o.Port, "port", defaultPort, "`port` of the API server at that address; 0 picks a free one")
	flags.StringVar(&given.services, "service-cluster-ip-range", "10.0.0.0/24", "`range` that services get their addresses from")
	flags.StringArrayVar(&o.SANs, "san", nil, "further `name` or address in the API server's certificate; may be repeated")
	flags.BoolVar(&o.UnsafeNoFsync, "unsafe-no-fsync", true,
		"do not wait for the disk; faster, and safe against the end of the process but not of the machine: development only")
	flags.BoolVar(&o.StopWithStdin, "stop-with-stdin", false,
		"stop when standard input ends, as it does when the process that holds it dies")
	return flags
}

func hint(err error) error {
	return fmt.Errorf("%w (minos-kube dev --help explains the flags)", err)
}

const helpTop = `Run a Kubernetes control plane for development: etcd, kube-apiserver and
kube-controller-manager in one process, on loopback only. There is no scheduler
and no node, and of the controllers only those for garbage collection, namespaces,
service accounts, certificates, bootstrap tokens and the life of nodes.

When it is ready it prints one line and goes on until SIGINT or SIGTERM. What is in
the directory survives, so the next start with it finds the same cluster.

Example:
  minos-kube dev --dir ./cluster &
  minos-kube kubectl --kubeconfig ./cluster/kubeconfig get namespaces

Flags:
`

func help() string {
	var o Options
	var given texts
	var out bytes.Buffer
	out.WriteString(helpTop)
	out.WriteString(flagSet(&o, &given).FlagUsagesWrapped(100))
	return out.String()
}
