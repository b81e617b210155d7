// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/cluster"
	"minos.dev/minos/controller/tenant"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

const shop = "shop"

// A story is the life of one hosted cluster.
type story struct {
	*kamajitest.Site
	t     *testing.T
	clock *clock
	stop  func()
	// kept is the identity as it was born.
	kept []byte
}

// TestHosted tells the life of a hosted cluster. The chapters follow each other, because a control plane takes seconds to start.
func TestHosted(t *testing.T) {
	s := &story{Site: kamajitest.NewSite(t, "v1alpha2"), t: t, clock: &clock{}}
	s.stop = operate(t, s.clock)
	t.Cleanup(func() { s.stop() })
	for _, chapter := range []struct {
		name string
		tell func(*story)
	}{
		{"waits for kinds that nobody serves yet", (*story).waitsForKinds},
		{"becomes ready", (*story).becomesReady},
		{"a second pass writes nothing", (*story).writesNothing},
		{"the operator is killed and started again", (*story).startedAgain},
		{"people heard of its birth", (*story).heardOfBirth},
		{"a pool's tokens reach signer and tenant", (*story).invites},
		{"they are renewed in time", (*story).renews},
		{"a machine joins with them", (*story).joins},
		{"a kubelet that nobody knows is left", (*story).refuses},
		{"a pool that is gone loses them", (*story).withdraws},
		{"its signer is away for a while", (*story).signerAway},
		{"Kubernetes goes up", (*story).upgrades},
		{"an identity that cannot be read is not made anew", (*story).unreadable},
		{"an identity that is gone is not made anew", (*story).gone},
		{"people heard of the trouble", (*story).heardOfTrouble},
		{"a pool holds the deletion", (*story).held},
		{"all of it goes, although its API server is dead", (*story).goes},
		{"people heard of its end", (*story).heardOfEnd},
	} {
		passed := t.Run(chapter.name, func(t *testing.T) {
			began := time.Now()
			s.t, s.Site.T = t, t
			chapter.tell(s)
			t.Logf("%.1fs", time.Since(began).Seconds())
		})
		s.t, s.Site.T = t, t
		if !passed {
			t.Fatal("what follows needs this")
		}
	}
}

// declared is the cluster as a user writes it.
func (s *story) declared() *api.TalosCluster {
	return &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: shop},
		Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.35.2", TalosVersion: kamajitest.TalosVersion,
			ControlPlane: api.ControlPlane{Kamaji: &api.KamajiControlPlane{CertSANs: []string{"shop.example.com"}}},
		},
	}
}

// pool is a pool of it.
func (s *story) pool(name string) *api.NodePool { return poolOf(s.Key(shop), name) }

// waitsForKinds declares a cluster before Kamaji's kinds are there. In a second run of the tests they are.
func (s *story) waitsForKinds() {
	create(s.t, s.declared())
	if _, err := kubetest.Client(s.t).RESTMapper().RESTMapping(hosted.ControlPlaneKind.Kind); meta.IsNoMatchError(err) {
		seen := condition(s.t, s.Key(shop), api.ConditionControlPlaneReady, "False Waiting")
		if !strings.Contains(seen.Message, "install ") {
			s.t.Errorf("it does not say what to install: %s", seen.Message)
		}
	}
	condition(s.t, s.Key(shop), api.ConditionSecretsReady, "True Ready")
	kubetest.InstallModule(s.t, crds.KubeVirt, "")
	kubetest.InstallModule(s.t, crds.Kamaji, "")
}

func (s *story) becomesReady() {
	condition(s.t, s.Key(shop), api.ConditionReady, "True Ready")
	found := get(s.t, s.Key(shop))
	host := s.Host(shop)
	if diff := cmp.Diff(&api.Endpoint{Host: host, Port: 6443}, found.Status.Endpoint); diff != "" {
		s.t.Errorf("endpoint (-want +got):\n%s", diff)
	}
	if found.Status.KubernetesVersion != "v1.35.2" || found.Status.Network.DNSDomain != "cluster.local" || *found.Status.Pools != 0 {
		s.t.Errorf("status is %+v", found.Status)
	}
	s.signerServes(host)
	if err := s.inside().Get(s.t.Context(), client.ObjectKey{Name: hosted.TalosNodes}, &rbacv1.ClusterRole{}); err != nil {
		s.t.Error(err)
	}
	identity := s.Secret(names.Identity(found))
	if identity.Immutable == nil || !*identity.Immutable || !metav1.IsControlledBy(identity, found) || bytes.Contains(identity.Data[names.IdentityKey], []byte("k8saggregator:\n")) {
		s.t.Errorf("the identity is %v, of %v", identity.Immutable, identity.OwnerReferences)
	}
	s.kept = identity.Data[names.IdentityKey]
	if s.Secret(names.Talosconfig(found)).Data[cluster.TalosconfigKey] == nil {
		s.t.Error("there is no talosconfig")
	}
}

// signerServes shakes hands with the signer as a worker does.
func (s *story) signerServes(host string) {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Secret(shop + "-talos-ca").Data[corev1.TLSCertKey])
	connection, err := tls.Dial("tcp", host+":50001", &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS13})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	served := hosted.CertificateNames(connection.ConnectionState().PeerCertificates[0])
	want := []string{host, shop + "." + s.Namespace + ".svc", shop + "." + s.Namespace + ".svc.cluster.local"}
	slices.Sort(want)
	if diff := cmp.Diff(want, served); diff != "" {
		s.t.Errorf("names of the signer (-want +got):\n%s", diff)
	}
}

// inside reaches the tenant.
func (s *story) inside() client.Client {
	s.t.Helper()
	found, err := tenant.New(kubetest.Client(s.t)).Client(s.t.Context(), get(s.t, s.Key(shop)))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// startedAgain expects that nothing is made anew.
func (s *story) startedAgain() {
	before := s.Secret(shop + "-signer-tls").Data[corev1.TLSCertKey]
	s.stop = operate(s.t, s.clock)
	create(s.t, s.pool("probe"))
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		found := &api.TalosCluster{}
		if err := kubetest.Client(s.t).Get(ctx, s.Key(shop), found); err != nil || *found.Status.Pools != 1 {
			return fmt.Errorf("it has not looked again: %w", err)
		}
		return nil
	})
	if !bytes.Equal(s.kept, s.Secret(shop + "-talos-secrets").Data[names.IdentityKey]) {
		s.t.Error("the identity is another one")
	}
	if !bytes.Equal(before, s.Secret(shop + "-signer-tls").Data[corev1.TLSCertKey]) {
		s.t.Error("the signer's certificate is another one")
	}
	condition(s.t, s.Key(shop), api.ConditionPoolsReady, "False Progressing")
	remove(s.t, s.pool("probe"))
}

// join is the join Secret of a pool of it.
func (s *story) join(pool, token, bootstrap string) *corev1.Secret {
	return joinOf(s.Key(shop), pool, token, bootstrap)
}

func (s *story) invites() {
	create(s.t, s.pool("workers"), s.join("workers", token, bootstrap))
	create(s.t, s.pool("broken"), s.join("broken", "short", bootstrap))
	active(s.t, s.Key(shop), "workers")
	invited, err := secretOf(s.t.Context(), s.inside(), "kube-system", "bootstrap-token-abcdef")
	if err != nil {
		s.t.Fatal(err)
	}
	if until := s.Secret("workers-join").Annotations[names.AnnotationActiveUntil]; string(invited.Data["expiration"]) != until {
		s.t.Errorf("it is good until %s, and is said to be until %s", invited.Data["expiration"], until)
	}
	tokens := s.Secret(shop + "-signer-tokens").Data
	want := "token: " + token + "\npool: workers\nnames:\n    - workers-*\n"
	if len(tokens) != 1 || !bytes.HasPrefix(tokens["workers"], []byte(want)) {
		s.t.Errorf("tokens of the signer are %s; want %s", tokens, want)
	}
	seen := condition(s.t, s.Key(shop), api.ConditionPoolsReady, "False Invalid")
	if !strings.Contains(seen.Message, "broken-join") || strings.Contains(seen.Message, "short") {
		s.t.Errorf("the broken Secret is told as %q", seen.Message)
	}
	if s.Secret("broken-join").Annotations[names.AnnotationActiveUntil] != "" {
		s.t.Error("a pool whose tokens nobody knows is active")
	}
	remove(s.t, s.pool("broken"))
	remove(s.t, s.join("broken", "", ""))
}

// joins has a simulated machine join, and expects the certificate of its kubelet once the machine is known.
func (s *story) joins() {
	join(s.t, get(s.t, s.Key(shop)), s.pool("workers"))
	s.kubeletServes()
}

func (s *story) withdraws() {
	remove(s.t, s.pool("workers"))
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		tokens, err := secretOf(ctx, kubetest.Client(s.t), s.Namespace, shop+"-signer-tokens")
		if err != nil || len(tokens.Data) > 0 {
			return fmt.Errorf("the signer still knows %d tokens, %w", len(tokens.Data), err)
		}
		if _, err := secretOf(ctx, s.inside(), "kube-system", "bootstrap-token-abcdef"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the tenant still knows the token: %w", err)
		}
		return nil
	})
	remove(s.t, s.join("workers", "", ""))
}

// signerAway expects that a signer that does not answer is told, and touches nothing else.
func (s *story) signerAway() {
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{SignerDown: true})
	seen := condition(s.t, s.Key(shop), api.ConditionTrustReady, "False Failed")
	if !strings.Contains(seen.Message, "look at container minos-signer of Deployment shop") {
		s.t.Errorf("it does not say where to look: %s", seen.Message)
	}
	condition(s.t, s.Key(shop), api.ConditionTenantReady, "True Ready")
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{})
	condition(s.t, s.Key(shop), api.ConditionReady, "True Ready")
}

func (s *story) held() {
	create(s.t, s.pool("last"))
	remove(s.t, s.declared())
	seen := condition(s.t, s.Key(shop), api.ConditionReady, "False Deleting")
	if !strings.Contains(seen.Message, "NodePools last still belong") {
		s.t.Errorf("it does not name the pool: %s", seen.Message)
	}
	s.signerServes(s.Host(shop))
}

func (s *story) goes() {
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{ServerDown: true})
	condition(s.t, s.Key(shop), api.ConditionTenantReady, "Unknown Unreadable")
	remove(s.t, s.pool("last"))
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		err := kubetest.Client(s.t).Get(ctx, s.Key(shop), &api.TalosCluster{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there, %w", err)
		}
		return nil
	})
	for kind, version := range map[string]string{
		"Cluster": "cluster.x-k8s.io/v1beta2", "KamajiControlPlane": "controlplane.cluster.x-k8s.io/v1alpha2",
		"KubevirtCluster": "infrastructure.cluster.x-k8s.io/v1alpha1", "Secret": "v1",
	} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(version)
		list.SetKind(kind + "List")
		if err := kubetest.Client(s.t).List(s.t.Context(), list, client.InNamespace(s.Namespace)); err != nil {
			s.t.Error(err)
		}
		for _, item := range list.Items {
			s.t.Errorf("%s %s is left behind", kind, item.GetName())
		}
	}
}
