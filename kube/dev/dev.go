// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"minos.dev/minos/kube/box"
	"minos.dev/minos/kube/pki"
)

// A Spec is everything a control plane needs to run.
type Spec struct {
	Listener         net.Listener // of the API server; the plane closes it
	Files            pki.Files
	ControllerAccess string // the controller manager's kubeconfig
	DataDir          string
	Services         netip.Prefix
	UnsafeNoFsync    bool
	Log              io.Writer
	Warn             func(string) // tells the user, who does not read the log
}

// Run runs a control plane until the context ends, and calls ready once it can be used. It answers nil when it stopped
// because the context ended.
type Run func(ctx context.Context, spec Spec, ready func()) error

// Command is `minos-kube dev` with the given control plane.
func Command(plane Run) box.Command {
	return box.Command{Name: "dev", About: "a control plane for development, in one process", Run: func(call box.Call) int {
		start := time.Now()
		options, err := parse(call.Args)
		if errors.Is(err, pflag.ErrHelp) {
			_, _ = fmt.Fprint(call.Stdout, help())
			return 0
		}
		if err != nil {
			return box.Fail(call, err)
		}
		if err := serve(call, options, plane, start); err != nil {
			return box.Fail(call, err)
		}
		return 0
	}}
}

func serve(call box.Call, o Options, plane Run, start time.Time) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("make --dir: %w", err)
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer unlock()

	var watched io.Reader
	if o.StopWithStdin {
		watched = call.Stdin
	}
	ctx, cancel := box.Until(context.Background(), watched)
	defer cancel()

	log, err := openLog(o.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	spec, err := prepare(o, start)
	if err != nil {
		return err
	}
	spec.Log = log
	spec.Warn = func(words string) {
		_, _ = fmt.Fprintf(call.Stderr, "%s: %s; %s may say more\n", box.Program, words, log.path)
	}
	err = plane(ctx, spec, func() {
		_, _ = fmt.Fprintf(call.Stdout, "%s ready: https://%s kubeconfig=%s after=%.1fs\n",
			box.Program, spec.Listener.Addr(), filepath.Join(o.Dir, "kubeconfig"), time.Since(start).Seconds())
	})
	if err != nil {
		return fmt.Errorf("%w; %s may say more", err, log.path)
	}
	return nil
}

// prepare makes the keys, the port and the kubeconfigs. The port is bound here and handed on bound, so that nobody can
// take it in between.
func prepare(o Options, now time.Time) (Spec, error) {
	files, err := pki.Ensure(pki.Request{
		Dir:       filepath.Join(o.Dir, "pki"),
		ServiceIP: o.Services.Addr().Next(),
		SANs:      o.names(),
		Now:       now,
	})
	if err != nil {
		return Spec{}, err
	}
	listener, err := box.Listen(netip.AddrPortFrom(o.Address, uint16(o.Port)), "--port")
	if err != nil {
		return Spec{}, err
	}
	server := "https://" + listener.Addr().String()
	spec := Spec{
		Listener:         listener,
		Files:            files,
		ControllerAccess: filepath.Join(o.Dir, "pki", "controller-manager.kubeconfig"),
		DataDir:          filepath.Join(o.Dir, "etcd"),
		Services:         o.Services,
		UnsafeNoFsync:    o.UnsafeNoFsync,
	}
	access := []kubeconfig{
		{path: filepath.Join(o.Dir, "kubeconfig"), server: server, ca: files.CA.Cert, user: "admin", client: files.Admin},
		{path: spec.ControllerAccess, server: server, ca: files.CA.Cert, user: "controller-manager", client: files.ControllerManager},
	}
	for _, k := range access {
		if err := k.write(); err != nil {
			_ = listener.Close()
			return Spec{}, err
		}
	}
	return spec, nil
}
