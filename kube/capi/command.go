// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/pflag"

	"minos.dev/minos/kube/box"
)

// Options are the flags of `minos-kube capi`.
type Options struct {
	Kubeconfig    string
	WebhookPort   int
	Log           string
	StopWithStdin bool
}

// A Spec is everything the controllers need to run.
type Spec struct {
	Kubeconfig string
	Listener   net.Listener // of the webhooks; the controllers close it
	Manifests  Manifests
	Log        io.Writer
	ErrorsOnly bool // log nothing else
}

// Run runs the controllers until the context ends, and calls ready once they and their webhooks can be used. It answers
// nil when it stopped because the context ended.
type Run func(ctx context.Context, spec Spec, ready func()) error

// Command is `minos-kube capi` with the given controllers.
func Command(run Run) box.Command {
	return program{run, embedded}.command()
}

// A program is the controllers and where their manifests are.
type program struct {
	run       Run
	manifests fs.FS
}

func (p program) command() box.Command {
	return box.Command{Name: "capi", About: "the core controllers of Cluster API", Run: func(call box.Call) int {
		start := time.Now()
		options, err := parse(call.Args)
		if errors.Is(err, pflag.ErrHelp) {
			_, _ = fmt.Fprint(call.Stdout, help())
			return 0
		}
		if err != nil {
			return box.Fail(call, err)
		}
		if err := p.serve(call, options, start); err != nil {
			return box.Fail(call, err)
		}
		return 0
	}}
}

func (p program) serve(call box.Call, o Options, start time.Time) error {
	manifests, err := Load(p.manifests)
	if err != nil {
		return err
	}
	log, done, err := openLog(o.Log, call.Stderr)
	if err != nil {
		return err
	}
	defer done()
	listener, err := box.Listen(netip.AddrPortFrom(box.Loopback, uint16(o.WebhookPort)), "--webhook-port")
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()

	var watched io.Reader
	if o.StopWithStdin {
		watched = call.Stdin
	}
	ctx, cancel := box.Until(context.Background(), watched)
	defer cancel()
	spec := Spec{Kubeconfig: o.Kubeconfig, Listener: listener, Manifests: manifests, Log: log, ErrorsOnly: o.Log == ""}
	return p.run(ctx, spec, func() {
		_, _ = fmt.Fprintf(call.Stdout, "%s capi ready: webhooks https://%s after=%.1fs\n",
			box.Program, listener.Addr(), time.Since(start).Seconds())
	})
}

func openLog(path string, otherwise io.Writer) (io.Writer, func(), error) {
	if path == "" {
		return otherwise, func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// parse reads the flags. It answers pflag.ErrHelp when help was asked for.
func parse(args []string) (Options, error) {
	var o Options
	flags := flagSet(&o)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return Options{}, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is not a flag", flags.Arg(0))
	case o.Kubeconfig == "":
		err = errors.New("--kubeconfig is needed: how to reach the API server")
	case o.WebhookPort < 0 || o.WebhookPort > 65535:
		err = fmt.Errorf("--webhook-port %d is not a port", o.WebhookPort)
	}
	if err != nil {
		return Options{}, fmt.Errorf("%w (minos-kube capi --help explains the flags)", err)
	}
	return o, nil
}

func flagSet(o *Options) *pflag.FlagSet {
	flags := pflag.NewFlagSet("capi", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {} // the caller prints help, and where it belongs
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "`file` with an administrator's access to the API server")
	flags.IntVar(&o.WebhookPort, "webhook-port", 0, "`port` of the webhooks on 127.0.0.1; 0 picks a free one")
	flags.StringVar(&o.Log, "log", "", "`file` to log to; without it only errors are logged, on standard error")
	flags.BoolVar(&o.StopWithStdin, "stop-with-stdin", false,
		"stop when standard input ends, as it does when the process that holds it dies")
	return flags
}

const helpTop = `Run the core controllers of Cluster API (Cluster, Machine, MachineSet,
MachineDeployment, MachineHealthCheck, ClusterResourceSet) with their admission and
conversion webhooks. The webhooks listen on 127.0.0.1, so the API server must be on
this machine, as that of "minos-kube dev" is.

At the start it installs or upgrades Cluster API's custom resource definitions and
its webhook configurations. They stay when it stops: until it runs again the API
server refuses changes to Cluster API's objects, because nobody can check them.
ClusterClass, MachinePool and the runtime SDK are off.

When it is ready it prints one line and goes on until SIGINT or SIGTERM.

Example:
  minos-kube capi --kubeconfig ./cluster/kubeconfig

Flags:
`

func help() string {
	var o Options
	var out bytes.Buffer
	out.WriteString(helpTop)
	out.WriteString(flagSet(&o).FlagUsagesWrapped(100))
	return out.String()
}
