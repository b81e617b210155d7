// SPDX-License-Identifier: Apache-2.0

package kamaji_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

// faults breaks shop and mends it.
func (s *stage) faults() {
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{SignerDown: true})
	s.until("the signer is down", func() bool { return !s.listens(50001) })
	if !s.listens(6443) {
		s.t.Error("the API server is down too")
	}
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{})
	s.signs()

	s.Kamaji.Break(s.Key(shop), kamaji.Faults{ServerDown: true})
	s.until("the API server is down", func() bool { return !s.listens(6443) && !s.listens(50001) })
	s.Eventually(shop, false, "status", "ready")
	s.Eventually(shop, int64(0), "status", "readyReplicas")
	s.Eventually(shop, true, "status", "initialization", "controlPlaneInitialized")
	if !listens(s.t, s.Host(bankPlane), 6443) {
		s.t.Error("bank is down too")
	}
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{})
	s.Eventually(shop, true, "status", "ready")
	s.signs()
}

// powerCut ends the double without a word, and starts it again on its folder. Then its whole process is killed: its API
// servers notice only afterwards that they are alone, and the next double meets them on their way out.
func (s *stage) powerCut() {
	before := map[string]*corev1.Secret{"shop-ca": s.Secret("shop-ca"), "bank-ca": s.Secret("bank-ca")}
	s.Cut()
	if s.listens(6443) || s.listens(50001) {
		s.t.Error("something is left of it")
	}
	kill := s.Process()
	s.until("shop is back at its address", func() bool { return s.listens(6443) && s.listens(50001) })
	s.kubectl(shop, "create", "configmap", "late")
	kill()
	s.Start()
	s.signs()
	for name, secret := range before {
		if diff := cmp.Diff(secret, s.Secret(name)); diff != "" {
			s.t.Errorf("%s was written again (-before +after):\n%s", name, diff)
		}
	}
	if got := s.kubectl(shop, "get", "configmap", "kept", "late", "-o", "jsonpath={.items[0].data.a}"); got != "b" {
		s.t.Errorf("got %q", got)
	}
	s.until("bank is back", func() bool { return listens(s.t, s.Host(bankPlane), 6443) })
	s.Eventually(shop, true, "status", "ready")
}

// changes changes what matters in a spec.
func (s *stage) changes() {
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{Hold: true})
	s.Patch(shop, `{"spec":{"version":"v1.37.1","replicas":5,"network":{"certSANs":["shop.example.com","new.example.com"]}}}`)
	s.Eventually(shop, int64(5), "status", "replicas")
	s.Eventually(shop, "v1.36.3", "status", "version")
	s.Kamaji.Break(s.Key(shop), kamaji.Faults{})
	s.Eventually(shop, "v1.37.1", "status", "version")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.Secret("shop-ca").Data["ca.crt"])
	for _, name := range []string{"new.example.com", "shop." + s.Namespace + ".svc", s.host} {
		kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
			dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name}}
			connection, err := dialer.DialContext(ctx, "tcp4", net.JoinHostPort(s.host, "6443"))
			if err == nil {
				_ = connection.Close()
			}
			return err
		})
	}
	s.signs()
}

// gone expects that nothing of a control plane is left.
func (s *stage) gone(plane, host string) {
	s.t.Helper()
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		if _, err := s.Plane(ctx, plane); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there, %w", err)
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(s.Folder, s.Namespace, plane)); !errors.Is(err, fs.ErrNotExist) {
		s.t.Errorf("its folder is still there: %v", err)
	}
	for _, port := range []int{6443, 50001, 50080} {
		if listens(s.t, host, port) {
			s.t.Errorf("something listens on port %d", port)
		}
	}
	for _, secret := range s.owned() {
		if strings.HasPrefix(secret, plane+"-") {
			s.t.Errorf("Secret %s is still there", secret)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.Folder, "loopback.json")); err != nil || strings.Contains(string(text), host) {
		s.t.Errorf("its address was not given back, %v: %s", err, text)
	}
}

// deletedWithCluster deletes a Cluster, and Cluster API deletes what it consists of.
func (s *stage) deletedWithCluster() {
	host := s.Host(bankPlane)
	object, err := s.Get(s.t.Context(), "cluster.x-k8s.io/v1beta2", "Cluster", bank)
	if err == nil {
		err = kubetest.Client(s.t).Delete(s.t.Context(), object)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.gone(bankPlane, host)
	if !s.listens(6443) {
		s.t.Error("shop is gone too")
	}
}

// deletedAfterCluster has a Cluster that is gone before anybody deletes its control plane: Cluster API was told to leave it
// alone, and somebody took its finalizers away. Kubernetes collects the rest.
func (s *stage) deletedAfterCluster() {
	ctx, c := s.t.Context(), kubetest.Client(s.t)
	object, err := s.Get(ctx, "cluster.x-k8s.io/v1beta2", "Cluster", shop)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, patch := range []string{`{"spec":{"paused":true}}`, `{"metadata":{"finalizers":null}}`} {
		if err := c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := c.Delete(ctx, object); err != nil {
		s.t.Fatal(err)
	}
	s.gone(shop, s.host)
	if _, err := os.Stat(filepath.Join(s.Folder, s.Namespace)); !errors.Is(err, fs.ErrNotExist) {
		s.t.Errorf("the folder of the namespace is still there: %v", err)
	}
}
