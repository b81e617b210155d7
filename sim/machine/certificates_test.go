// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"context"
	stdx509 "crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/sim/machine"
)

// requestsOf returns the signing requests that a Node made itself, for a signer.
func (s *site) requestsOf(m *machine.Machine, signer string) []certificatesv1.CertificateSigningRequest {
	s.t.Helper()
	var all certificatesv1.CertificateSigningRequestList
	if err := kubetest.Client(s.t).List(s.t.Context(), &all); err != nil {
		s.t.Fatal(err)
	}
	var own []certificatesv1.CertificateSigningRequest
	for _, request := range all.Items {
		if request.Spec.SignerName == signer && request.Spec.Username == "system:node:"+m.Status().Node {
			own = append(own, request)
		}
	}
	return own
}

// renewedAt is when a machine's lease was renewed last.
func (s *site) renewedAt(m *machine.Machine) time.Time {
	s.t.Helper()
	lease := &coordinationv1.Lease{}
	at := client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: m.Status().Node}
	if err := kubetest.Client(s.t).Get(s.t.Context(), at, lease); err != nil {
		s.t.Fatal(err)
	}
	return lease.Spec.RenewTime.Time
}

// renews waits until a machine's lease was renewed so many times more.
func (s *site) renews(m *machine.Machine, times int) {
	s.t.Helper()
	for range times {
		before := s.renewedAt(m)
		s.eventually(func() bool { return s.renewedAt(m).After(before) }, "a renewal of the lease")
	}
}

// TestRotates has a kubelet replace its client certificate early: the Node asks with what it has, and goes on with what it gets.
func TestRotates(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Lease: 20 * time.Millisecond, Rotate: 300 * time.Millisecond})
	disk := machine.NewMemory(s.image())
	m := s.add(rack, machine.Options{UserData: s.configuration("plain", nil), Disk: disk})
	s.reaches(m, machine.StepKubelet)
	first, err := disk.Load()
	if err != nil {
		t.Fatal(err)
	}
	s.reaches(m, machine.StepReady)
	uid := s.node(m).UID
	s.eventually(func() bool {
		now, err := disk.Load()
		return err == nil && !bytes.Equal(now.Kubelet.Certificate, first.Kubelet.Certificate) && !bytes.Equal(now.Kubelet.Key, first.Kubelet.Key)
	}, "another certificate for another key")
	requests := s.requestsOf(m, certificatesv1.KubeAPIServerClientKubeletSignerName)
	if len(requests) == 0 || len(requests[0].Status.Certificate) == 0 {
		t.Fatalf("the Node asked %d times itself", len(requests))
	}
	s.eventually(func() bool { return s.said(m.Name(), "rotated the client certificate") }, "a word about it")
	s.renews(m, 3)
	if node := s.node(m); node.UID != uid || conditionOf(node, corev1.NodeReady) != corev1.ConditionTrue {
		t.Error("the Node is another, or not Ready")
	}
}

// TestServingCertificate has a kubelet ask for a certificate to serve with, which somebody must approve.
func TestServingCertificate(t *testing.T) {
	s := newSite(t, "v1.14.1")
	disk := machine.NewMemory(s.image())
	text := strings.Replace(string(s.configuration("plain", nil)), "kind: KubeletConfig\n", "kind: KubeletConfig\nextraArgs: {rotate-server-certificates: \"true\"}\n", 1)
	m := s.add(s.rack, machine.Options{
		UserData: []byte(text), Disk: disk, Addresses: []netip.Addr{netip.MustParseAddr("10.5.0.7"), netip.MustParseAddr("fd00::7")},
	})
	s.reaches(m, machine.StepReady) // a Node is Ready without
	var request certificatesv1.CertificateSigningRequest
	s.eventually(func() bool {
		found := s.requestsOf(m, certificatesv1.KubeletServingSignerName)
		if len(found) == 1 {
			request = found[0]
		}
		return len(found) == 1
	}, "a request")
	if diff := cmp.Diff([]certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth}, request.Spec.Usages); diff != "" {
		t.Error(diff)
	}
	block, _ := pem.Decode(request.Spec.Request)
	asked, err := stdx509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(asked.Subject.CommonName, asked.Subject.Organization, asked.DNSNames, asked.IPAddresses, asked.EmailAddresses, asked.URIs)
	if want := fmt.Sprintf("system:node:%s[system:nodes] [%s] [10.5.0.7 fd00::7] [] []", m.Name(), m.Name()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if content, err := disk.Load(); err != nil || len(content.Serving.Certificate) > 0 || len(content.Serving.Key) == 0 {
		t.Errorf("before anybody approved, the disk must hold the key alone: %v", err)
	}
	m.Kill()
	m.Power()
	s.becomes(m, func(status machine.Status) bool { return status.Boots == 2 && status.Reached(machine.StepReady) })
	s.approve(request)
	s.eventually(func() bool { content, err := disk.Load(); return err == nil && len(content.Serving.Certificate) > 0 }, "a serving certificate")
	if found := s.requestsOf(m, certificatesv1.KubeletServingSignerName); len(found) != 1 {
		t.Errorf("after a reboot the kubelet asked again: %d requests", len(found))
	}
}

// approve approves a request, as a cluster's administrator.
func (s *site) approve(request certificatesv1.CertificateSigningRequest) {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := clientset.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "ByHand", Message: "approved by a test",
	})
	requests := all.CertificatesV1().CertificateSigningRequests()
	if _, err := requests.UpdateApproval(s.t.Context(), request.Name, &request, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// TestSilent has a kubelet that does not renew its lease, beside one that does and by which the time is told.
func TestSilent(t *testing.T) {
	s := newSite(t, "v1.14.1")
	rack := s.newRack(machine.Durations{Lease: 20 * time.Millisecond})
	text := s.configuration("plain", nil)
	silent, other := s.add(rack, machine.Options{UserData: text}), s.add(rack, machine.Options{UserData: text})
	s.reaches(silent, machine.StepReady)
	s.reaches(other, machine.StepReady)
	s.renews(silent, 1)
	silent.Set(func(k *machine.Knobs) { k.Silent = true })
	s.renews(other, 3) // a renewal may be under way
	last := time.Time{}
	kubetest.Eventually(t, within/4, func(context.Context) error {
		before := s.renewedAt(silent)
		s.renews(other, 5)
		if last = s.renewedAt(silent); !last.Equal(before) {
			return fmt.Errorf("it was renewed at %s", last)
		}
		return nil
	})
	silent.Set(func(k *machine.Knobs) { k.Silent = false })
	s.eventually(func() bool { return s.renewedAt(silent).After(last) }, "a renewal after the silence")
}
