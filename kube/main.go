// SPDX-License-Identifier: Apache-2.0

// Command minos-kube is a whole Kubernetes control plane, kubectl and the core of Cluster API in one program.
package main

import (
	"os"

	"minos.dev/minos/kube/box"
	"minos.dev/minos/kube/capi"
	"minos.dev/minos/kube/capi/manager"
	"minos.dev/minos/kube/dev"
	"minos.dev/minos/kube/dev/plane"
	"minos.dev/minos/kube/upstream"
)

func main() {
	own := []box.Command{dev.Command(plane.Run), capi.Command(manager.Run), box.Version()}
	os.Exit(box.Main(os.Args, append(own, upstream.Commands()...)))
}
