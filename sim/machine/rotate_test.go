// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/x509"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// TestRotateAt tells when a client certificate is replaced.
func TestRotateAt(t *testing.T) {
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		life, taken, longest, want time.Duration
	}{
		"after four fifths of a day":           {life: 24 * time.Hour, want: 19*time.Hour + 12*time.Minute},
		"after four fifths, if taken late":     {life: 10 * time.Hour, taken: 9 * time.Hour, want: 8 * time.Hour},
		"when it was used for long enough":     {life: 10 * time.Hour, taken: time.Hour, longest: 2 * time.Hour, want: 3 * time.Hour},
		"after four fifths, if that is sooner": {life: 10 * time.Hour, taken: 7 * time.Hour, longest: 2 * time.Hour, want: 8 * time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			certificate := &x509.Certificate{NotBefore: begin, NotAfter: begin.Add(test.life)}
			if got := rotateAt(certificate, begin.Add(test.taken), test.longest).Sub(begin); got != test.want {
				t.Errorf("after %s, want %s", got, test.want)
			}
		})
	}
}

// TestSubject names whom the certificate of the Talos API is for.
func TestSubject(t *testing.T) {
	security := &v1alpha1.MachineConfig{MachineCertSANs: []string{"extra.example.com", "10.5.0.7", "192.0.2.1"}}
	provider, err := container.New(&v1alpha1.Config{MachineConfig: security})
	if err != nil {
		t.Fatal(err)
	}
	who := subjectOf(provider, "worker", []netip.Addr{netip.MustParseAddr("10.5.0.7")})
	var ips []string
	for _, ip := range who.ips {
		ips = append(ips, ip.String())
	}
	if diff := cmp.Diff([]string{"10.5.0.7", "192.0.2.1", "127.0.0.1"}, ips); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"worker", "extra.example.com"}, who.names); diff != "" {
		t.Error(diff)
	}
}
