// SPDX-License-Identifier: Apache-2.0

// Command minos is the command line of Minos.
package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
	"minos.dev/minos/sim/command"
)

// The release build sets them: -ldflags "-X main.version=v1.2.3 -X main.commit=0123abc".
var version, commit = "", ""

func main() {
	// A command lives for less than a second: memory that it need not collect is time that nobody waits for.
	debug.SetGCPercent(400)
	os.Exit(cli.Main(root(), os.Args[1:]))
}

// root is the whole tree: the commands of cli, and those of rooms that cli may not import.
func root() *cobra.Command {
	whole := cli.New(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cli.ReadVersion(version, commit))
	whole.AddCommand(command.New(), command.NewDev())
	return whole
}
