// SPDX-License-Identifier: Apache-2.0

// Command release builds what is delivered, the same bytes wherever it is built: the programs for every platform, an archive
// and a bill of materials for each, and checksums of all. It runs at the root of the checkout: go run ./release -version v0.1.0.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	order, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = order.deliver(ctx)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// An order is what is to be delivered.
type order struct {
	version, commit string
	made            time.Time // the time that files in archives carry: that of the commit, and not of the build
	tree, out       string    // the checkout, and where the release goes
	targets         []target
	words           io.Writer
}

// parse reads the flags.
func parse(args []string, words io.Writer) (order, error) {
	given := order{tree: ".", targets: targets, words: words}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.SetOutput(words)
	epoch := set.String("epoch", os.Getenv("SOURCE_DATE_EPOCH"), "`SECONDS` since 1970 that files in archives carry [SOURCE_DATE_EPOCH]")
	set.StringVar(&given.version, "version", "", "`VERSION` that the programs say, such as v0.1.0")
	set.StringVar(&given.commit, "commit", "", "`COMMIT` that they say")
	set.StringVar(&given.out, "out", "out/release", "`FOLDER` for all of it; what was there before is removed")
	if err := set.Parse(args); err != nil {
		return given, err
	}
	seconds, err := strconv.ParseInt(*epoch, 10, 64)
	switch {
	case given.version == "" || strings.ContainsAny(given.version+given.commit, " /'\""):
		return given, fmt.Errorf("-version %q with -commit %q is no version: give one such as v0.1.0", given.version, given.commit)
	case err != nil:
		return given, fmt.Errorf("-epoch %q is not a number of seconds: give that of the commit, git log -1 --format=%%ct", *epoch)
	}
	given.made = time.Unix(seconds, 0).UTC()
	return given, nil
}

// deliver makes the release. The folder is there as a whole at the end, or not at all.
func (o order) deliver(ctx context.Context) error {
	if strings.HasSuffix(o.version, "-dirty") {
		o.say("%s has changes that are in no commit: nobody can build the same again", o.version)
	}
	final := o.out
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	var err error
	if o.out, err = os.MkdirTemp(filepath.Dir(final), "release-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(o.out) }() // gone when it was renamed
	for _, one := range o.targets {
		if err := o.make(ctx, one); err != nil {
			return err
		}
	}
	licence, err := os.ReadFile(filepath.Join(o.tree, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "LICENSE"), licence, 0o644); err != nil {
		return err
	}
	if err := writeChecksums(o.out); err != nil {
		return err
	}
	if err := os.Chmod(o.out, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(o.out, final)
}

// make builds and packs what is delivered for a target.
func (o order) make(ctx context.Context, one target) error {
	o.say("%s: %s", one, strings.Join(one.programs, ", "))
	if err := o.build(ctx, one); err != nil {
		return err
	}
	for _, program := range one.programs {
		if err := o.pack(ctx, one, program); err != nil {
			return fmt.Errorf("%s for %s: %w", program, one, err)
		}
	}
	return nil
}

// say tells whoever waits.
func (o order) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.words, "release: "+format+"\n", args...)
}

// pack writes what accompanies a built program: its bill of materials, and an archive with both and the licence.
func (o order) pack(ctx context.Context, one target, program string) error {
	licences, err := o.licences(ctx, one, program)
	if err != nil {
		return err
	}
	binary := filepath.Join(o.out, one.folder(), program)
	bill, err := billOf(binary, o.version, licences)
	if err != nil {
		return err
	}
	name := program + "-" + o.version + "-" + one.folder()
	if err := os.WriteFile(filepath.Join(o.out, name+billSuffix), bill, 0o644); err != nil {
		return err
	}
	return archive{
		path: filepath.Join(o.out, name+".tar.gz"), folder: name, made: o.made,
		members: []member{
			{name: "LICENSE", path: filepath.Join(o.tree, "LICENSE"), mode: 0o644},
			{name: program, path: binary, mode: 0o755},
			{name: program + billSuffix, path: filepath.Join(o.out, name+billSuffix), mode: 0o644},
		},
	}.write()
}
