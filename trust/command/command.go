// SPDX-License-Identifier: Apache-2.0

// Package command is the program minos-signer: flags, variables, signals and words around the signer. It decides nothing.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"minos.dev/minos/trust"
)

// A Process is what a program is given.
type Process struct {
	Args, Environ []string
	Out, Err      io.Writer
	Version       string
}

// Exit codes: a configuration that cannot be used is 1, a command that makes no sense 2.
const (
	ok       = 0
	failure  = 1
	nonsense = 2
)

// Main runs the program and returns its exit code.
func Main(p Process) int {
	task, err := parse(p.Args, p.Environ, func(path string) bool { _, err := os.Stat(path); return err == nil })
	switch {
	case errors.Is(err, errHelp):
		say(p.Out, "%s", help())
		return ok
	case err != nil:
		say(p.Err, "minos-signer: %v\n", err)
		return nonsense
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	switch task.verb {
	case "version":
		say(p.Out, "minos-signer %s\n", p.Version)
		return ok
	case "check":
		return check(ctx, p, task)
	}
	return serve(ctx, p, task)
}

// serve signs until the context ends.
func serve(ctx context.Context, p Process, task task) int {
	log := slog.New(slog.NewJSONHandler(p.Err, nil))
	log.Info("minos-signer", "version", p.Version)
	for _, warning := range task.warnings {
		log.Warn(warning)
	}
	reload, hush := hangups(ctx)
	defer hush()
	signer, err := trust.Listen(ctx, task.config, trust.World{Audit: p.Out, Log: log, Reload: reload, Now: time.Now})
	if err == nil {
		err = signer.Run(ctx)
	}
	if err != nil {
		log.Error(err.Error())
		return failure
	}
	return ok
}

// hangups turns SIGHUP into nudges. Many of them while files are read are one.
func hangups(ctx context.Context) (<-chan struct{}, func()) {
	signals, nudges := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case <-ctx.Done():
				return
			case nudges <- struct{}{}:
			}
		}
	}()
	return nudges, func() { signal.Stop(signals) }
}

// say prints. Whoever reads may have gone, and then there is nobody to tell.
func say(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(to, format, args...)
}
