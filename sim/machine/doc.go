// SPDX-License-Identifier: Apache-2.0

// Package machine is a simulated Talos machine. It reads its configuration with Talos's own loader, asks trustd with
// Talos's own client, gets a kubelet's identity by real signing requests, registers a real Node and keeps its lease, serves
// the Talos API over mutual TLS, and keeps a disk: what it was told survives its reboots and its death.
//
//	rack := machine.NewRack(machine.Environment{Scale: 100, Registry: images})
//	defer rack.Close()
//	m, err := rack.Add(machine.Options{Name: "worker-1", Disk: machine.NewMemory(image), UserData: text})
//	err = m.WaitFor(ctx, machine.StepReady)
//
// What it decides is in pure functions: what is on the disk after an upgrade (disk.go), which services keep a boot from
// ending (services.go), what a Node looks like (node.go), who may call what (roles.go). What it does to the world is in thin
// shells around them: identity.go, kubelet.go, register.go and the api files.
package machine
