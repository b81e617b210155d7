// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/crypto/x509"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	talosresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"

	"minos.dev/minos/sim/machine"
)

// call returns Talos's own client, with a certificate in these roles.
func (s *site) call(m *machine.Machine, roles ...role.Role) *talosclient.Client {
	s.t.Helper()
	issuing := &x509.PEMEncodedCertificateAndKey{Crt: s.ca.CrtPEM, Key: s.ca.KeyPEM}
	signed, err := secrets.NewAdminCertificateAndKey(time.Now(), issuing, role.MakeSet(roles...), time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.connect(m, signed)
}

// connect returns Talos's own client with a certificate.
func (s *site) connect(m *machine.Machine, signed *x509.PEMEncodedCertificateAndKey) *talosclient.Client {
	s.t.Helper()
	pair, err := tls.X509KeyPair(signed.Crt, signed.Key)
	if err != nil {
		s.t.Fatal(err)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.ca.Pool(), Certificates: []tls.Certificate{pair}}
	return s.client(talosclient.WithEndpoints(m.Status().API), talosclient.WithTLSConfig(secure))
}

// client returns Talos's own client.
func (s *site) client(options ...talosclient.OptionFunc) *talosclient.Client {
	s.t.Helper()
	c, err := talosclient.New(s.t.Context(), options...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// joined returns a machine that is ready.
func (s *site) joined(options machine.Options) *machine.Machine {
	s.t.Helper()
	if options.UserData == nil {
		options.UserData = s.configuration("plain", nil)
	}
	m := s.add(s.rack, options)
	s.reaches(m, machine.StepReady)
	return m
}

// TestAPIReads asks a machine what it is.
func TestAPIReads(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{Disk: machine.NewMemory(s.image("drbd", "zfs")), Devices: []string{"/dev/zfs"}})
	c := s.call(m, role.Reader)
	version, err := c.Version(t.Context())
	if err != nil || version.GetMessages()[0].GetVersion().GetTag() != "v1.14.1" {
		t.Errorf("%v, %v", version, err)
	}
	list, err := c.ServiceList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var services []string
	for _, service := range list.GetMessages()[0].GetServices() {
		services = append(services, service.GetId()+" "+service.GetState())
	}
	for _, want := range []string{"apid Running", "kubelet Running", "ext-zfs-service Finished"} {
		if !slices.Contains(services, want) {
			t.Errorf("no %s among %v", want, services)
		}
	}
	status, err := safe.StateGetByID[*runtime.MachineStatus](t.Context(), c.COSI, runtime.MachineStatusID)
	if err != nil || status.TypedSpec().Stage != runtime.MachineStageRunning || !status.TypedSpec().Status.Ready {
		t.Errorf("%+v, %v", status, err)
	}
	extensions, err := safe.StateListAll[*runtime.ExtensionStatus](t.Context(), c.COSI)
	if err != nil || extensions.Len() != 3 { // and the schematic
		t.Errorf("%d extensions, %v", extensions.Len(), err)
	}
	if _, err := c.ResolveResourceKind(t.Context(), new(""), "extensions"); err != nil {
		t.Errorf("talosctl does not find the kind: %v", err)
	}
}

// TestRoles has certificates with less than a call wants.
func TestRoles(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{})
	reader, operator := s.call(m, role.Reader), s.call(m, role.Operator)
	ctx := t.Context()
	refused := map[string]error{
		"a reader reboots":     reader.Reboot(ctx),
		"a reader shuts down":  reader.Shutdown(ctx),
		"an operator resets":   operator.Reset(ctx, false, true),
		"an operator rolls":    operator.Rollback(ctx),
		"nobody asks the time": func() error { _, err := s.call(m, "os:nothing").Version(ctx); return err }(),
	}
	_, refused["a reader applies"] = reader.ApplyConfiguration(ctx, &machineapi.ApplyConfigurationRequest{Data: s.configuration("plain", nil)})
	_, refused["an operator applies"] = operator.ApplyConfiguration(ctx, &machineapi.ApplyConfigurationRequest{Data: s.configuration("plain", nil)})
	//nolint:staticcheck // the old form is what 1.12 has
	_, refused["an operator upgrades"] = operator.UpgradeWithOptions(ctx, talosclient.WithUpgradeImage("x"))
	_, refused["a reader sees secrets"] = safe.StateListAll[*talosresource.MachineConfig](ctx, reader.COSI)
	for name, err := range refused {
		if talosclient.StatusCode(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := safe.StateListAll[*talosresource.MachineConfig](ctx, s.call(m, role.Admin).COSI); err != nil {
		t.Errorf("an administrator does not see the configuration: %v", err)
	}
	if m.Status().Boots != 1 {
		t.Error("it rebooted nevertheless")
	}
}

// TestServerCertificateIsNoClient is the attack of CVE-2022-36103: a certificate that is good for more than calling.
func TestServerCertificateIsNoClient(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{})
	pair, err := x509.NewKeyPair(s.ca.CertificateAuthority, x509.Organization(string(role.Admin)),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth, stdx509.ExtKeyUsageClientAuth}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.connect(m, x509.NewCertificateAndKeyFromKeyPair(pair)).Version(t.Context()); err == nil {
		t.Error("it is accepted")
	}
}

// TestMaintenance starts without a configuration and gets one over the API.
func TestMaintenance(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.add(s.rack, machine.Options{})
	s.becomes(m, func(status machine.Status) bool { return status.Stage == "maintenance" })
	c := s.client(talosclient.WithMaintenanceMode(m.Status().API, nil))
	if _, err := c.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Reset(t.Context(), false, true); talosclient.StatusCode(err) != codes.PermissionDenied {
		t.Errorf("anybody resets it: %v", err)
	}
	if _, err := c.ApplyConfiguration(t.Context(), &machineapi.ApplyConfigurationRequest{Data: []byte("machine: {a: b}")}); talosclient.StatusCode(err) != codes.InvalidArgument {
		t.Errorf("a broken configuration: %v", err)
	}
	if _, err := c.ApplyConfiguration(t.Context(), &machineapi.ApplyConfigurationRequest{Data: s.configuration("plain", nil)}); err != nil {
		t.Fatal(err)
	}
	s.reaches(m, machine.StepReady)
	if _, err := s.client(talosclient.WithMaintenanceMode(m.Status().API, nil)).Version(t.Context()); err == nil {
		t.Error("it still answers everybody")
	}
	if _, err := s.call(m, role.Reader).Version(t.Context()); err != nil {
		t.Error(err)
	}
}

// drained reads a stream to its end.
func drained[T any](receive func() (T, error)) ([]T, error) {
	var all []T
	for {
		one, err := receive()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
}
