// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"io"
	"testing"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/config"
)

// next is an installer of the release after.
const next = "factory.example.com/nocloud-installer/" + schematic + ":v1.14.1"

// upgradeSite is a site whose factory has the next image, which has an extension that the present one does not.
func upgradeSite(t *testing.T, version api.TalosVersion) *site {
	t.Helper()
	s := newSite(t, version)
	s.factory.Extensions[schematic] = []string{"drbd"}
	return s
}

// TestUpgrade upgrades in the old form, with every outcome.
func TestUpgrade(t *testing.T) {
	tests := map[string]struct {
		outcome machine.Outcome
		staged  bool
		want    string // of the version that runs
		boots   int
	}{
		"succeeds":            {machine.UpgradeSucceeds, false, "v1.14.1", 2},
		"succeeds, staged":    {machine.UpgradeSucceeds, true, "v1.14.1", 3},
		"falls back silently": {machine.UpgradeFallsBack, false, "v1.13.9", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := upgradeSite(t, "v1.13.9")
			m := s.joined(machine.Options{Knobs: machine.Knobs{Upgrade: test.outcome}})
			//nolint:staticcheck // the old form is what 1.12 has
			if _, err := s.call(m, role.Admin).UpgradeWithOptions(t.Context(), talosclient.WithUpgradeImage(next), talosclient.WithUpgradeStage(test.staged)); err != nil {
				t.Fatal(err)
			}
			status := s.becomes(m, func(status machine.Status) bool {
				return status.Boots == test.boots && status.Reached(machine.StepReady)
			})
			if status.Image.Version != test.want {
				t.Errorf("it runs %s", status.Image.Version)
			}
			s.eventually(func() bool { return s.node(m).Status.NodeInfo.OSImage == "Talos ("+test.want+")" }, "a Node that says so")
			if got := s.node(m).Labels["extensions.talos.dev/drbd"] != ""; got != (test.want == "v1.14.1") {
				t.Errorf("the label of the new extension is there: %t", got)
			}
		})
	}
}

// TestUpgradeFails goes on with what runs, and says so.
func TestUpgradeFails(t *testing.T) {
	s := upgradeSite(t, "v1.13.9")
	m := s.joined(machine.Options{Knobs: machine.Knobs{Upgrade: machine.UpgradeFails}})
	c := s.call(m, role.Admin)
	//nolint:staticcheck // the old form is what 1.12 has
	if _, err := c.UpgradeWithOptions(t.Context(), talosclient.WithUpgradeImage("factory.example.com/x/unknown:v1.14.1")); err == nil {
		t.Error("an image that is not there is accepted")
	}
	//nolint:staticcheck // the old form is what 1.12 has
	if _, err := c.UpgradeWithOptions(t.Context(), talosclient.WithUpgradeImage(next)); err != nil {
		t.Fatal(err)
	}
	s.eventually(func() bool { return s.said(m.Name(), "upgrading failed: installer exited with code 1") }, "a failure that is told")
	status := s.becomes(m, func(status machine.Status) bool { return status.Stage == "running" })
	if status.Image.Version != "v1.13.9" || status.Boots != 1 {
		t.Errorf("boot %d runs %s", status.Boots, status.Image.Version)
	}
}

// TestLifecycleUpgrade upgrades in the form of 1.13: pull, upgrade, reboot; and then rolls back.
func TestLifecycleUpgrade(t *testing.T) {
	s := upgradeSite(t, "v1.13.9")
	m := s.joined(machine.Options{})
	c := s.call(m, role.Admin)
	upgrade := func() (int32, error) {
		stream, err := c.LifecycleClient.Upgrade(t.Context(), &machineapi.LifecycleServiceUpgradeRequest{Source: &machineapi.InstallArtifactsSource{ImageName: next}})
		if err != nil {
			return 0, err
		}
		lines, err := drained(stream.Recv)
		if err != nil {
			return 0, err
		}
		return lines[len(lines)-1].GetProgress().GetExitCode(), nil
	}
	if _, err := upgrade(); talosclient.StatusCode(err) != codes.NotFound {
		t.Errorf("an image that was not pulled: %v", err)
	}
	pulled, err := c.ImageClient.Pull(t.Context(), &machineapi.ImageServicePullRequest{ImageRef: next})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drained(pulled.Recv); err != nil {
		t.Fatal(err)
	}
	m.Set(func(k *machine.Knobs) { k.Upgrade = machine.UpgradeFails })
	if code, err := upgrade(); err != nil || code != 1 {
		t.Errorf("code %d, %v", code, err)
	}
	m.Set(func(k *machine.Knobs) { k.Upgrade = "" })
	if code, err := upgrade(); err != nil || code != 0 {
		t.Fatalf("code %d, %v", code, err)
	}
	if status := m.Status(); status.Boots != 1 || status.Image.Version != "v1.13.9" {
		t.Errorf("it did not wait for a reboot: %+v", status)
	}
	if err := c.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(m, func(status machine.Status) bool {
		return status.Image.Version == "v1.14.1" && status.Reached(machine.StepReady)
	})
	s.eventually(func() bool { return c.Rollback(t.Context()) == nil }, "a rollback") // the connection may still be the old one
	s.becomes(m, func(status machine.Status) bool {
		return status.Image.Version == "v1.13.9" && status.Reached(machine.StepReady)
	})
}

// TestOldReleaseHasNoLifecycle lets talosctl fall back to the old form.
func TestOldReleaseHasNoLifecycle(t *testing.T) {
	s := newSite(t, "v1.12.7")
	stream, err := s.call(s.joined(machine.Options{}), role.Admin).LifecycleClient.Upgrade(t.Context(), &machineapi.LifecycleServiceUpgradeRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if talosclient.StatusCode(err) != codes.Unimplemented {
		t.Error(err)
	}
}

// TestReset wipes the configuration, and then everything.
func TestReset(t *testing.T) {
	s := newSite(t, "v1.14.1")
	disk := machine.NewMemory(s.image())
	m := s.joined(machine.Options{Disk: disk})
	wipe := &machineapi.ResetRequest{Reboot: true, SystemPartitionsToWipe: []*machineapi.ResetPartitionSpec{{Label: "STATE", Wipe: true}, {Label: "EPHEMERAL", Wipe: true}}}
	if err := s.call(m, role.Admin).ResetGeneric(t.Context(), wipe); err != nil {
		t.Fatal(err)
	}
	// It boots the same image again, and reads its user data.
	s.becomes(m, func(status machine.Status) bool { return status.Boots == 2 && status.Reached(machine.StepReady) })
	if err := s.call(m, role.Admin).Reset(t.Context(), false, false); err != nil {
		t.Fatal(err)
	}
	s.becomes(m, func(status machine.Status) bool { return status.Stage == "off" })
	content, err := disk.Load()
	if err != nil || content.Config != nil || content.Slots != [2]*machine.Image{} {
		t.Errorf("%+v, %v", content, err)
	}
	m.Power()
	s.stopsAt(m, machine.StepConfig, "no operating system")
}

// TestShutdown switches off, and stays so when the rack comes again.
func TestShutdown(t *testing.T) {
	s := newSite(t, "v1.14.1")
	disk := machine.NewMemory(s.image())
	m := s.joined(machine.Options{Disk: disk})
	if err := s.call(m, role.Operator).Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(m, func(status machine.Status) bool { return status.Stage == "off" })
	again := s.add(s.newRack(machine.Durations{}), machine.Options{Name: m.Name(), Disk: disk})
	again.Power()
	s.reaches(again, machine.StepReady)
}

// TestMetal boots from the network, installs what its configuration names, and boots that.
func TestMetal(t *testing.T) {
	s := upgradeSite(t, "v1.14.1")
	text := s.configuration("plain", func(in *config.Input) { in.Installer = next })
	text = append(text, "---\napiVersion: v1alpha1\nkind: UnattendedInstallConfig\ninstaller: {image: "+next+"}\nprovisioning: {diskSelector: {match: disk.transport == 'nvme'}}\n"...)
	m := s.add(s.rack, machine.Options{Platform: "metal", Disk: machine.NewMemory(), Netboot: new(s.image()), UserData: text})
	s.reaches(m, machine.StepReady)
	if status := m.Status(); status.Boots != 2 || status.Image.Reference != next {
		t.Errorf("boot %d runs %+v", status.Boots, status.Image)
	}
}

// TestControlPlane signs its own certificate, and gives a snapshot that a worker has not.
func TestControlPlane(t *testing.T) {
	s := newSite(t, "v1.14.1")
	m := s.joined(machine.Options{UserData: s.configuration("control-plane", func(in *config.Input) {
		in.Cluster.Spec.ControlPlane = api.ControlPlane{Talos: &api.TalosControlPlane{}}
	})})
	snapshot := func(m *machine.Machine) ([]byte, error) {
		reader, err := s.call(m, role.EtcdBackup).EtcdSnapshot(t.Context(), &machineapi.EtcdSnapshotRequest{})
		if err != nil {
			return nil, err
		}
		return io.ReadAll(reader)
	}
	if text, err := snapshot(m); err != nil || !bytes.Contains(text, []byte(m.Name())) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := snapshot(s.joined(machine.Options{})); err == nil {
		t.Error("a worker has no etcd")
	}
}
