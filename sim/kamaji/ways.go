// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"net/netip"

	"k8s.io/client-go/tools/clientcmd"

	"minos.dev/minos/sim/hosted"
)

// Ways lead whoever has the kubeconfig of a control plane to it, by another way than straight. Machines know the endpoint itself.
type Ways interface {
	// Open returns where the way to an address begins. One of the same name that is open stays.
	Open(name string, to netip.AddrPort) (netip.AddrPort, error)
	// Close ends a way. One that is not there is no mistake.
	Close(name string) error
}

// access is the administrator's kubeconfig, as it is handed out.
func (u *turn) access() ([]byte, error) {
	straight := u.pod.plane.Kubeconfig()
	if u.kamaji.options.Ways == nil {
		return straight, nil
	}
	at, err := u.kamaji.options.Ways.Open(u.key.String(), netip.AddrPortFrom(u.address, hosted.Port))
	if err != nil {
		return nil, err
	}
	return lead(straight, u.address.String(), at)
}

// lead has a kubeconfig lead to an address, and expect there who is at the one before.
func lead(kubeconfig []byte, name string, to netip.AddrPort) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	for _, cluster := range config.Clusters {
		cluster.Server, cluster.TLSServerName = "https://"+to.String(), name
	}
	return clientcmd.Write(*config)
}
