// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/token"
)

// TestMachineNames has the signer judge what machines of a pool may be called: by their own name, in whichever domain the network
// puts them, and never by a name of another pool or of the control plane.
func TestMachineNames(t *testing.T) {
	joins, problems := hosted.Joins([]api.NodePool{pool("web")}, []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef")})
	secret, err := hosted.SignerTokens(shop(), joins)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	read, err := token.Parse("web", secret.Data["web"], policy.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := policy.NewOwn([]string{"web-api.tenants.svc", "10.0.0.5"})
	if err != nil {
		t.Fatal(err)
	}
	for name, allowed := range map[string]bool{
		"web-x7f2p-abcde": true, "WEB-x7f2p-abcde": true,
		"web-x7f2p-abcde.tenants.svc.cluster.local": true, "web-x7f2p-abcde.example.com": true, "web-x7f2p-abcde.local.": true,
		"web-x7f2p-abcde.a.very.deep.domain.of.some.house.example.com": true,
		"db-x7f2p-abcde": false, "db-x7f2p-abcde.tenants.svc.cluster.local": false, "web": false, "web.tenants.svc.cluster.local": false,
		"db-1.web-1.example.com": false, "website-1": false, "webs-1.example.com": false, "web-api.tenants.svc": false, "10.0.0.5": false,
		"*.example.com": false, "web-*.example.com": false,
		"web-gpu-x7f2p-abcde": true, // of a pool web-gpu too: names do not tell them apart
	} {
		for asked, subject := range map[string]policy.Asked{"a name": {Names: []string{name}}, "the common name": {CommonName: name}} {
			_, refusal := policy.Judge(own, policy.Refuse, read.Rules, subject)
			if (refusal == nil) != allowed {
				t.Errorf("%s as %s: %v", name, asked, refusal)
			}
		}
	}
}

// TestTalosMayFindTheAPIServer wants machines of every cluster to read, and no more, where the API server is: Talos asks for it with
// the kubelet's certificate.
func TestTalosMayFindTheAPIServer(t *testing.T) {
	for _, cluster := range []*api.TalosCluster{shop(), outside()} {
		found := map[string]bool{}
		for _, grant := range hosted.Grants(cluster) {
			if grant.Role == nil || grant.Binding.Subjects[0].Name != "system:nodes" || grant.Binding.RoleRef.Name != grant.Role.Name {
				continue
			}
			for _, rule := range grant.Role.Rules {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						found[group+"/"+resource] = slices.Equal(rule.Verbs, []string{"get", "list", "watch"})
					}
				}
			}
		}
		if len(found) != 2 || !found["/endpoints"] || !found["discovery.k8s.io/endpointslices"] {
			t.Errorf("machines of %s may %v", cluster.Name, found)
		}
	}
}
