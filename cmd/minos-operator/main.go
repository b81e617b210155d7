// SPDX-License-Identifier: Apache-2.0

// Command minos-operator brings the clusters and pools that a management cluster declares into being.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

// The release build sets it: -ldflags "-X main.version=v1.2.3".
var version = "unknown"

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Environ(), os.Stderr))
}
