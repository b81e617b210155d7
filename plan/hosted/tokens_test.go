// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/trust/policy"
	"minos.dev/minos/trust/token"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// pool is a pool of virtual machines.
func pool(name string) api.NodePool {
	return api.NodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Name: name},
		Spec:       api.NodePoolSpec{ClusterName: "shop", Machine: api.Machine{KubeVirt: &api.KubeVirtMachine{}}},
	}
}

// metal is a pool of servers.
func metal(name string) api.NodePool {
	made := pool(name)
	made.Spec.Machine = api.Machine{Metal: &api.MetalMachine{}}
	return made
}

// joinOf is a join Secret.
func joinOf(pool, token, bootstrap string) corev1.Secret {
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: pool + "-join"},
		Data:       map[string][]byte{names.JoinToken: []byte(token), names.JoinBootstrap: []byte(bootstrap)},
	}
}

const good = "web-token-0123456789"

func TestJoins(t *testing.T) {
	tests := map[string]struct {
		pools    []api.NodePool
		secrets  []corev1.Secret
		want     []string
		problems []string // a part of each
	}{
		"none":                       {},
		"a pool without a Secret":    {pools: []api.NodePool{pool("web")}},
		"a Secret without a pool":    {secrets: []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef")}},
		"in the order of their name": {pools: []api.NodePool{pool("web"), pool("db")}, secrets: []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef"), joinOf("db", good+"2", "bbbbbb.0123456789abcdef")}, want: []string{"db", "web"}},
		"a short token":              {pools: []api.NodePool{pool("web")}, secrets: []corev1.Secret{joinOf("web", "secret-word", "aaaaaa.0123456789abcdef")}, problems: []string{"pool web: key token of Secret web-join"}},
		"a token with a line break":  {pools: []api.NodePool{pool("web")}, secrets: []corev1.Secret{joinOf("web", good+"\nadmin: true", "aaaaaa.0123456789abcdef")}, problems: []string{"pool web: key token"}},
		"no bootstrap token":         {pools: []api.NodePool{pool("web")}, secrets: []corev1.Secret{joinOf("web", good, "AAAAAA.0123456789abcdef")}, problems: []string{"key bootstrap-token of Secret web-join is not of the form"}},
		"one breaks no other": {
			pools: []api.NodePool{pool("web"), pool("db")}, secrets: []corev1.Secret{joinOf("web", "", ""), joinOf("db", good, "bbbbbb.0123456789abcdef")},
			want: []string{"db"}, problems: []string{"pool web"},
		},
		"two with one name": {
			pools: []api.NodePool{pool("web"), pool("db")}, secrets: []corev1.Secret{joinOf("web", good, "bbbbbb.1123456789abcdef"), joinOf("db", good, "bbbbbb.0123456789abcdef")},
			want: []string{"db"}, problems: []string{"begins as that of pool db does"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			joins, problems := hosted.Joins(test.pools, test.secrets)
			var got []string
			for _, join := range joins {
				got = append(got, join.Pool.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if len(problems) != len(test.problems) {
				t.Fatalf("problems are %q", problems)
			}
			for at, part := range test.problems {
				if !strings.Contains(problems[at], part) || strings.Contains(problems[at], "secret-word") {
					t.Errorf("problem is %q", problems[at])
				}
			}
		})
	}
}

// TestSignerTokens has the signer itself read what is written for it.
func TestSignerTokens(t *testing.T) {
	joins, _ := hosted.Joins([]api.NodePool{pool("web"), metal("rack")}, []corev1.Secret{
		joinOf("web", good, "aaaaaa.0123456789abcdef"), joinOf("rack", `x: "#'{}[]-0123456789`[3:], "bbbbbb.0123456789abcdef"),
	})
	secret, err := hosted.SignerTokens(shop(), joins)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for name, text := range secret.Data {
		read, err := token.Parse(name, text, policy.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		got[read.Pool] = []string{}
		for _, pattern := range read.Rules.Names {
			got[read.Pool] = append(got[read.Pool], pattern.String())
		}
	}
	if len(got["web"]) == 0 || got["web"][0] != "web-*" || len(got["rack"]) > 0 {
		t.Errorf("the names are %v", got)
	}
	again, _ := hosted.SignerTokens(shop(), joins)
	if diff := cmp.Diff(secret, again); diff != "" {
		t.Errorf("it is another one the second time: %s", diff)
	}
	for _, join := range joins {
		if !hosted.Holds(secret, join) {
			t.Errorf("it does not hold that of %s", join.Pool.Name)
		}
	}
	less, _ := hosted.SignerTokens(shop(), joins[:1])
	if hosted.Holds(less, joins[1]) || len(less.Data) != 1 {
		t.Errorf("a pool that is gone is still there: %v", less.Data)
	}
	other := joins[0]
	other.Token += "x"
	if hosted.Holds(secret, other) {
		t.Error("another token is taken for the same")
	}
}

// TestBootstrapTokensThroughADay looks every ten minutes for two days and counts what is written.
func TestBootstrapTokensThroughADay(t *testing.T) {
	joins, _ := hosted.Joins([]api.NodePool{pool("web")}, []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef")})
	var live []corev1.Secret
	var writes []string
	for now := noon; now.Before(noon.Add(48 * time.Hour)); now = now.Add(10 * time.Minute) {
		plan := hosted.BootstrapTokens(shop(), joins, live, now)
		for _, secret := range plan.Write {
			writes = append(writes, now.Sub(noon).String())
			live = []corev1.Secret{*secret}
		}
		if until := plan.Until["web"]; until.Sub(now) < 12*time.Hour || until.Sub(now) > 24*time.Hour {
			t.Errorf("at %s it is good until %s", now, until)
		}
	}
	if diff := cmp.Diff([]string{"0s", "12h10m0s", "24h20m0s", "36h30m0s"}, writes); diff != "" {
		t.Error(diff)
	}
}

func TestBootstrapTokens(t *testing.T) {
	joins, _ := hosted.Joins([]api.NodePool{pool("web")}, []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef")})
	written := func(cluster *api.TalosCluster) corev1.Secret {
		return *hosted.BootstrapTokens(cluster, joins, nil, noon).Write[0]
	}
	tests := map[string]struct {
		live          func() corev1.Secret
		write, remove []string
	}{
		"as it should be": {live: func() corev1.Secret { return written(shop()) }},
		"another secret half": {live: func() corev1.Secret {
			secret := written(shop())
			secret.Data["token-secret"] = []byte("1111111111111111")
			return secret
		}, write: []string{"bootstrap-token-aaaaaa"}},
		"another group": {live: func() corev1.Secret {
			secret := written(shop())
			secret.Data["auth-extra-groups"] = []byte("system:bootstrappers:admins")
			return secret
		}, write: []string{"bootstrap-token-aaaaaa"}},
		"one that never expires": {live: func() corev1.Secret {
			secret := written(shop())
			delete(secret.Data, "expiration")
			return secret
		}, write: []string{"bootstrap-token-aaaaaa"}},
		"of a pool that is gone": {live: func() corev1.Secret {
			secret := written(shop())
			secret.Name = "bootstrap-token-cccccc"
			return secret
		}, write: []string{"bootstrap-token-aaaaaa"}, remove: []string{"bootstrap-token-cccccc"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := hosted.BootstrapTokens(shop(), joins, []corev1.Secret{test.live()}, noon.Add(time.Hour))
			var write []string
			for _, secret := range plan.Write {
				write = append(write, secret.Name)
			}
			if diff := cmp.Diff(test.write, write); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.remove, plan.Remove); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsAndGrants(t *testing.T) {
	joins, _ := hosted.Joins([]api.NodePool{pool("web")}, []corev1.Secret{joinOf("web", good, "aaaaaa.0123456789abcdef")})
	for _, test := range []struct {
		cluster *api.TalosCluster
		group   string
		grants  []string
	}{
		{shop(), "system:bootstrappers:kubeadm:default-node-token", []string{"system:talos-nodes: system:talos-nodes for system:nodes"}},
		{outside(), "system:bootstrappers:minos", []string{
			"system:talos-nodes: system:talos-nodes for system:nodes",
			"minos:kubelet-bootstrap: system:node-bootstrapper for system:bootstrappers:minos",
			"minos:node-autoapprove-bootstrap: system:certificates.k8s.io:certificatesigningrequests:nodeclient for system:bootstrappers:minos",
			"minos:node-autoapprove-certificate-rotation: system:certificates.k8s.io:certificatesigningrequests:selfnodeclient for system:nodes",
		}},
	} {
		secret := hosted.BootstrapTokens(test.cluster, joins, nil, noon).Write[0]
		if got := string(secret.Data["auth-extra-groups"]); got != test.group {
			t.Errorf("%s: the group is %s", test.cluster.Name, got)
		}
		if secret.Labels[hosted.LabelNamespace] != "tenants" || secret.Labels[names.LabelPool] != "web" || secret.Labels[names.LabelCluster] != test.cluster.Name {
			t.Errorf("labels are %v", secret.Labels)
		}
		var got []string
		for _, grant := range hosted.Grants(test.cluster) {
			got = append(got, grant.Binding.Name+": "+grant.Binding.RoleRef.Name+" for "+grant.Binding.Subjects[0].Name)
			if grant.Role != nil && slices.Contains(grant.Role.Rules[0].Verbs, "update") {
				t.Error("machines may write")
			}
		}
		if diff := cmp.Diff(test.grants, got); diff != "" {
			t.Error(diff)
		}
	}
}
