// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"net/netip"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// TestLead has a kubeconfig lead elsewhere: the address is another, and whom it expects there, and with which credentials, is not.
func TestLead(t *testing.T) {
	const straight = `
apiVersion: v1
kind: Config
clusters: [{name: shop, cluster: {server: "https://127.5.1.1:6443"}}]
users: [{name: admin, user: {token: sesame}}]
contexts: [{name: shop, context: {cluster: shop, user: admin}}]
current-context: shop
`
	led, err := lead([]byte(straight), "127.5.1.1", netip.MustParseAddrPort("127.5.1.9:6443"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(led)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.5.1.9:6443" || config.ServerName != "127.5.1.1" || config.BearerToken != "sesame" {
		t.Errorf("it leads to %s, expects %s there, and has the token %q", config.Host, config.ServerName, config.BearerToken)
	}
}
