// SPDX-License-Identifier: Apache-2.0

// Command minos is the command line of Minos.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"minos.dev/minos/cli"
)

// The release build sets them: -ldflags "-X main.version=v1.2.3 -X main.commit=0123abc".
var version, commit = "", ""

func main() {
	os.Exit(cli.Main(root(), os.Args[1:]))
}

// root is the whole tree: the commands of cli, and those of rooms that cli may not import.
func root() *cobra.Command {
	return cli.New(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cli.ReadVersion(version, commit))
}
