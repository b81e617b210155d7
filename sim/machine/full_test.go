// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/role"
	corev1 "k8s.io/api/core/v1"

	"minos.dev/minos/sim/machine"
)

// TestDiskFull fills the disk of a machine that runs: it goes on, says so, and takes nothing more until there is room.
func TestDiskFull(t *testing.T) {
	s := newSite(t, "v1.14.1")
	s.factory.Extensions["abc"] = nil
	disk := machine.NewMemory(s.image())
	m := s.joined(machine.Options{Disk: disk})
	m.Set(func(k *machine.Knobs) { k.DiskFull = true })
	pressure := func(want corev1.ConditionStatus) {
		t.Helper()
		s.eventually(func() bool { return conditionOf(s.node(m), corev1.NodeDiskPressure) == want }, "disk pressure "+string(want))
	}
	pressure(corev1.ConditionTrue)
	if got := conditionOf(s.node(m), corev1.NodeReady); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s: a full disk alone does not change it", got)
	}
	before, err := disk.Load()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(s.configuration("plain", nil)), "example.com/shelf: top", "example.com/shelf: full")
	apply := func() error {
		_, err := s.call(m, role.Admin).ApplyConfiguration(t.Context(), &machineapi.ApplyConfigurationRequest{Data: []byte(text), Mode: machineapi.ApplyConfigurationRequest_AUTO})
		return err
	}
	const reference = "factory.example.com/nocloud-installer/abc:v1.14.2"
	for what, err := range map[string]error{"apply": apply(), "pull": pull(t.Context(), s.call(m, role.Admin), reference)} {
		if err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("%s: %v", what, err)
		}
	}
	//nolint:staticcheck // the old form answers before it fails
	if _, err := s.call(m, role.Admin).UpgradeWithOptions(t.Context(), talosclient.WithUpgradeImage(reference)); err != nil {
		t.Error(err)
	}
	s.eventually(func() bool { return s.said(m.Name(), "upgrading failed: write to the disk: no space left on device") }, "a failed upgrade")
	if after, err := disk.Load(); err != nil || string(after.Config) != string(before.Config) || after.Slots != before.Slots {
		t.Errorf("something was written: %v", err)
	}
	m.Kill()
	m.Power()
	s.becomes(m, func(status machine.Status) bool { return status.Boots == 2 && status.Reached(machine.StepReady) }) // all it needs is there
	m.Set(func(k *machine.Knobs) { k.DiskFull = false })
	pressure(corev1.ConditionFalse)
	if err := apply(); err != nil {
		t.Error(err)
	}
}

// pull has an image pulled.
func pull(ctx context.Context, c *talosclient.Client, reference string) error {
	stream, err := c.ImageClient.Pull(ctx, &machineapi.ImageServicePullRequest{ImageRef: reference})
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// TestDiskFullFromTheStart gives a machine no room for its configuration: it does nothing with what it could not keep, and goes
// on when there is room.
func TestDiskFullFromTheStart(t *testing.T) {
	s := newSite(t, "v1.14.1")
	disk := machine.NewMemory(s.image())
	text := s.configuration("plain", nil)
	m := s.add(s.rack, machine.Options{UserData: text, Disk: disk, Knobs: machine.Knobs{DiskFull: true, NoKubeletImage: true}})
	s.stopsAt(m, machine.StepConfig, "no space left on device")
	if node := m.Status().Node; node != "" {
		t.Errorf("it took its name %q from a configuration that is not on the disk", node)
	}
	m.Set(func(k *machine.Knobs) { k.DiskFull = false })
	s.reaches(m, machine.StepConfig)
	if content, err := disk.Load(); err != nil || string(content.Config) != string(text) {
		t.Errorf("the configuration is in force and not on the disk: %v", err)
	}
	s.stopsAt(m, machine.StepKubelet, "image cannot be pulled")
	m.Set(func(k *machine.Knobs) { k.DiskFull, k.NoKubeletImage = true, false })
	s.stopsAt(m, machine.StepKubelet, "no space left on device")
	m.Set(func(k *machine.Knobs) { k.DiskFull = false })
	s.reaches(m, machine.StepReady)
}
