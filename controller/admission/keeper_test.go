// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/admission"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m) }

// An operator is one of several, as far as the webhook's certificate goes.
type operator struct {
	admission.Keeper
	mutex   sync.Mutex
	trusted []byte
}

// newOperator returns one on a namespace, at a time.
func newOperator(t *testing.T, namespace string, now *time.Time) *operator {
	t.Helper()
	o := &operator{}
	o.Keeper = admission.Keeper{
		Client: kubetest.Client(t), Secret: client.ObjectKey{Namespace: namespace, Name: "minos-admission"}, Names: []string{"minos.system.svc", "127.0.0.1"},
		Now: func() time.Time { return *now },
		Trust: func(_ context.Context, authorities []byte) error {
			o.mutex.Lock()
			defer o.mutex.Unlock()
			o.trusted = authorities
			return nil
		},
	}
	return o
}

// trusts says whether whoever trusts what one operator told accepts what another serves with.
func (o *operator) trusts(t *testing.T, server *operator, now time.Time) bool {
	t.Helper()
	served, err := server.Certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(served.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(o.trusted)
	for _, name := range o.Names {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: now}); err != nil {
			return false
		}
	}
	return true
}

func ensure(t *testing.T, operators ...*operator) {
	t.Helper()
	for _, o := range operators {
		if err := o.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeeper lets two operators share a certificate through its whole life: at no time is one served that callers do not trust.
func TestKeeper(t *testing.T) {
	now := time.Now()
	namespace := kubetest.Namespace(t)
	first, second := newOperator(t, namespace, &now), newOperator(t, namespace, &now)
	if _, err := first.Certificate(nil); err == nil {
		t.Error("it serves without a certificate")
	}
	ensure(t, first, second)
	served := func(o *operator) string {
		certificate, err := o.Certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(certificate.Certificate[0])
	}
	before := served(first)
	if before != served(second) || !second.trusts(t, first, now) {
		t.Error("they do not share a certificate")
	}
	now = now.Add(50 * 24 * time.Hour)
	ensure(t, first, second)
	if served(first) != before {
		t.Error("it was replaced too early")
	}
	now = now.Add(15 * 24 * time.Hour) // two thirds are over
	ensure(t, first)
	if served(first) == before {
		t.Error("it was not replaced in time")
	}
	if !first.trusts(t, second, now) {
		t.Error("what the other operator still serves with is no longer trusted")
	}
	ensure(t, second)
	if served(second) != served(first) || !second.trusts(t, first, now) {
		t.Error("the other operator did not follow")
	}
}

// TestKeeperRace lets many operators begin at the same time.
func TestKeeperRace(t *testing.T) {
	now := time.Now()
	namespace := kubetest.Namespace(t)
	var all []*operator
	var work sync.WaitGroup
	for range 8 {
		all = append(all, newOperator(t, namespace, &now))
	}
	for _, o := range all {
		work.Go(func() {
			if err := o.Ensure(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	for _, o := range all {
		if !all[0].trusts(t, o, now) {
			t.Error("they do not share a certificate")
		}
	}
}

// TestKeeperKeeps never makes anew what it cannot read.
func TestKeeperKeeps(t *testing.T) {
	now := time.Now()
	namespace := kubetest.Namespace(t)
	o := newOperator(t, namespace, &now)
	ensure(t, o)
	secret := &corev1.Secret{}
	if err := o.Client.Get(t.Context(), o.Secret, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data[corev1.TLSCertKey] = []byte("rubbish")
	if err := o.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := o.Ensure(t.Context()); err == nil {
		t.Error("rubbish is as good as a certificate")
	}
	if _, err := o.Certificate(&tls.ClientHelloInfo{}); err != nil {
		t.Errorf("it no longer serves with what it had: %v", err)
	}
	if err := o.Client.Get(t.Context(), o.Secret, secret); err != nil || string(secret.Data[corev1.TLSCertKey]) != "rubbish" {
		t.Errorf("it was written over: %v", err)
	}
}
