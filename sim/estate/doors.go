// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"net/netip"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"minos.dev/minos/sim/door"
)

// through is where the way of the operator to an address begins: at a door, if there are doors.
func (e *Estate) through(link door.Link, to netip.AddrPort) (netip.AddrPort, error) {
	if e.options.Doors == nil {
		return to, nil
	}
	at, err := e.at("door "+string(link), to.Port())
	if err != nil {
		return netip.AddrPort{}, err
	}
	return at, e.options.Doors.Add(link, at, to)
}

// lead has the operator's kubeconfig lead through a door, if there are doors, behind which it expects who was there before.
func (e *Estate) lead(access *clientcmdapi.Config) error {
	straight, err := e.at("management", 6443)
	if err != nil {
		return err
	}
	at, err := e.through(door.ToManagement, straight)
	if err != nil || at == straight {
		return err
	}
	for _, cluster := range access.Clusters {
		cluster.Server, cluster.TLSServerName = "https://"+at.String(), straight.Addr().String()
	}
	return nil
}
