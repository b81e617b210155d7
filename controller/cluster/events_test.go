// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

// measured is what all operators of these tests measure.
var measured = metrics.New(nil)

// events are those of the cluster.
func (s *story) events(ctx context.Context) ([]corev1.Event, error) {
	var all corev1.EventList
	err := kubetest.Client(s.t).List(ctx, &all, client.InNamespace(s.Namespace))
	return slices.DeleteFunc(all.Items, func(event corev1.Event) bool {
		return event.InvolvedObject.Kind != "TalosCluster" || event.InvolvedObject.Name != shop || event.Reason == "NodesLeft"
	}), err
}

// heard waits until people heard of something: a type, a reason and the beginning of words each.
func (s *story) heard(want ...string) {
	s.t.Helper()
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error {
		events, err := s.events(ctx)
		if err != nil {
			return err
		}
		var said []string
		for _, event := range events {
			said = append(said, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Message))
		}
		for _, one := range want {
			if !slices.ContainsFunc(said, func(text string) bool { return strings.HasPrefix(text, one) }) {
				return fmt.Errorf("nobody heard %q, but: %s", one, strings.Join(said, "\n"))
			}
		}
		return nil
	})
}

// heardOfBirth expects that people heard how the cluster came to be, each thing once although two operators looked at it many times.
func (s *story) heardOfBirth() {
	s.heard(
		"Normal Born: identity and Talos authority were made", "Normal ControlPlaneReady: v1.35.2 answers at", "Normal SignerReady: the signer answers",
		"Normal TenantReady: permissions", "Normal Renewed: the certificate of signer was renewed until",
	)
	events, err := s.events(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, event := range events {
		counts[event.Reason]++
		if event.Series != nil {
			counts[event.Reason] += int(event.Series.Count)
		}
	}
	for _, reason := range []string{"Born", "ControlPlaneReady", "SignerReady", "TenantReady"} {
		if counts[reason] != 1 {
			s.t.Errorf("people heard %d times of %s", counts[reason], reason)
		}
	}
	want := []string{
		"minos_certificate_expiry_timestamp_seconds kubernetes-authority", "minos_certificate_expiry_timestamp_seconds signer",
		"minos_certificate_expiry_timestamp_seconds talos-authority", "minos_certificate_expiry_timestamp_seconds talosconfig",
		"minos_kubelet_certificate_requests_waiting = 0", "minos_tenant_reachable = 1",
	}
	if diff := cmp.Diff(want, s.measures()); diff != "" {
		s.t.Errorf("measured (-want +got):\n%s", diff)
	}
}

// measures are the series of the cluster: of certificates which, of the others how much.
func (s *story) measures() []string {
	s.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(measured)
	families, err := registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		for _, series := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range series.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if labels["namespace"] != s.Namespace || labels["cluster"] != shop {
				continue
			}
			text := fmt.Sprintf("%s = %v", family.GetName(), series.GetGauge().GetValue())
			if which := labels["certificate"]; which != "" {
				text = family.GetName() + " " + which
				if until := time.Unix(int64(series.GetGauge().GetValue()), 0); until.Before(s.clock.now()) {
					s.t.Errorf("%s expired on %s", text, until)
				}
			}
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return found
}

// renews has the tokens of a pool be renewed in time, and people hear of it.
func (s *story) renews() {
	s.clock.forward(13 * time.Hour)
	s.heard("Normal Renewed: bootstrap tokens were renewed: those of the pools workers")
	kubetest.Eventually(s.t, kamajitest.Within, func(context.Context) error {
		if !slices.Contains(s.measures(), "minos_certificate_expiry_timestamp_seconds bootstrap-token") {
			return fmt.Errorf("when the first token expires is not measured: %v", s.measures())
		}
		return nil
	})
}

// refuses leaves the request of a kubelet that nobody knows, and has people hear of it.
func (s *story) refuses() {
	asked := request(s.t, "stranger", "10.6.6.6")
	if err := s.kubelet("stranger").Create(s.t.Context(), asked); err != nil {
		s.t.Fatal(err)
	}
	s.heard("Warning CertificateRefused: " + asked.Name + " asks for the serving certificate of a kubelet and is not approved: no machine of the cluster is known by the name stranger")
	kubetest.Eventually(s.t, kamajitest.Within, func(context.Context) error {
		if got := s.measures(); !slices.Contains(got, "minos_kubelet_certificate_requests_waiting = 1") {
			return fmt.Errorf("it is not counted: %v", got)
		}
		return nil
	})
	if err := s.inside().Delete(s.t.Context(), asked); err != nil {
		s.t.Fatal(err)
	}
}

// upgrades has people hear that a version is asked for, and that it runs.
func (s *story) upgrades() {
	found := get(s.t, s.Key(shop))
	before := found.DeepCopy()
	found.Spec.KubernetesVersion = "v1.36.1"
	if err := kubetest.Client(s.t).Patch(s.t.Context(), found, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
	s.heard("Normal Upgrades: Kubernetes goes from v1.35.2 to v1.36.1; v1.36.1 is wanted", "Normal Upgraded: the control plane runs v1.36.1, and ran v1.35.2 before")
	condition(s.t, s.Key(shop), api.ConditionReady, "True Ready")
}

// heardOfTrouble expects that people heard of what went wrong, and of its end.
func (s *story) heardOfTrouble() {
	s.heard("Warning SignerNotReady: the signer does not answer", "Warning SecretsNotReady: ", "Normal SecretsReady: ")
}

// heardOfEnd expects that people heard how the cluster went, and that nothing is measured of it any more.
func (s *story) heardOfEnd() {
	s.heard(
		"Normal Deleting: NodePools last still belong to the cluster", "Warning TenantUnreachable: the cluster's API server cannot be reached",
		"Normal Deleting: Cluster shop is being deleted", "Normal Deleted: nothing of the cluster is left",
	)
	kubetest.Eventually(s.t, kamajitest.Within, func(context.Context) error {
		if left := s.measures(); len(left) > 0 {
			return fmt.Errorf("series of a cluster that is gone: %v", left)
		}
		return nil
	})
}
