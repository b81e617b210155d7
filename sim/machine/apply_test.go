// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"minos.dev/minos/sim/machine"
)

// TestApply changes the configuration of a machine that runs, in every mode.
func TestApply(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{})
	c := s.call(m, role.Admin)
	apply := func(label string, mode machineapi.ApplyConfigurationRequest_Mode, dry bool) error {
		text := strings.ReplaceAll(string(s.configuration("plain", nil)), "example.com/shelf: top", "example.com/shelf: "+label)
		_, err := c.ApplyConfiguration(t.Context(), &machineapi.ApplyConfigurationRequest{
			Data: []byte(text), Mode: mode, DryRun: dry, TryModeTimeout: durationpb.New(time.Minute),
		})
		return err
	}
	shelf := func(want string) {
		t.Helper()
		s.eventually(func() bool { return s.node(m).Labels["example.com/shelf"] == want }, "shelf "+want)
	}
	if err := errors.Join(apply("dry", machineapi.ApplyConfigurationRequest_AUTO, true), apply("auto", machineapi.ApplyConfigurationRequest_AUTO, false)); err != nil {
		t.Fatal(err)
	}
	shelf("auto")
	if err := apply("tried", machineapi.ApplyConfigurationRequest_TRY, false); err != nil {
		t.Fatal(err)
	}
	s.eventually(func() bool { return s.said(m.Name(), "is reverted") }, "a reverted try")
	shelf("auto")
	if err := apply("rebooted", machineapi.ApplyConfigurationRequest_REBOOT, false); talosclient.StatusCode(err) != codes.Unimplemented { //nolint:staticcheck // that is the question
		t.Errorf("1.14 has no such mode: %v", err)
	}
	if err := errors.Join(apply("staged", machineapi.ApplyConfigurationRequest_STAGED, false), c.Reboot(t.Context())); err != nil {
		t.Fatal(err)
	}
	shelf("staged")
	if m.Status().Boots != 2 {
		t.Errorf("boots: %d", m.Status().Boots)
	}
}

// TestNewNamesNewCertificate adds a name to the certificate of a machine that runs.
func TestNewNamesNewCertificate(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{})
	text := strings.Replace(string(s.configuration("plain", nil)), "certSANs: []", "certSANs: [extra.example.com]", 1)
	if _, err := s.call(m, role.Admin).ApplyConfiguration(t.Context(), &machineapi.ApplyConfigurationRequest{Data: []byte(text), Mode: machineapi.ApplyConfigurationRequest_AUTO}); err != nil {
		t.Fatal(err)
	}
	s.eventually(func() bool {
		connection, err := tls.Dial("tcp", m.Status().API, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // to look at it
		if err != nil {
			return false
		}
		defer func() { _ = connection.Close() }()
		return slices.Contains(connection.ConnectionState().PeerCertificates[0].DNSNames, "extra.example.com")
	}, "a certificate with the new name")
}

// TestWatch follows a machine's stage through the API.
func TestWatch(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{})
	events := make(chan state.Event)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := s.call(m, role.Reader).COSI.Watch(ctx, runtime.NewMachineStatus().Metadata(), events); err != nil {
		t.Fatal(err)
	}
	ready := func(want bool) {
		t.Helper()
		for {
			select {
			case event := <-events:
				if status, ok := event.Resource.(*runtime.MachineStatus); ok && status.TypedSpec().Status.Ready == want {
					return
				}
			case <-ctx.Done():
				t.Fatalf("never ready: %t", want)
			}
		}
	}
	ready(true)
	m.Set(func(k *machine.Knobs) { k.NoCNI = true })
	ready(false)
}
