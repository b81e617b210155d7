// SPDX-License-Identifier: Apache-2.0

// Command minos-signer signs the certificates of Talos workers where the control plane does not run on Talos.
package main

import (
	"os"

	"minos.dev/minos/trust/command"
)

// The release build sets it: -ldflags "-X main.version=v1.2.3".
var version = "unknown"

func main() {
	os.Exit(command.Main(command.Process{
		Args: os.Args[1:], Environ: os.Environ(), Out: os.Stdout, Err: os.Stderr, Version: version,
	}))
}
