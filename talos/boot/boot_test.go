// SPDX-License-Identifier: Apache-2.0

package boot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/talos/boot"
	"minos.dev/minos/talos/extension"
)

// nvidia is an image for machines with a graphics processor of NVIDIA.
var nvidia = []string{"nvidia-container-toolkit-lts", "nvidia-open-gpu-kernel-modules-lts"}

func TestPredict(t *testing.T) {
	loaded := []string{"nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset"}
	tests := map[string]struct {
		extensions []string
		around     boot.Surroundings
		want       string
	}{
		"no service at all":          {[]string{"drbd", "spin"}, boot.Surroundings{}, "provided"},
		"one that does not exist":    {[]string{"frobnicator"}, boot.Surroundings{}, "provided"},
		"zfs":                        {[]string{"zfs"}, boot.Surroundings{}, "missing; ext-zfs-service: missing path /dev/zfs"},
		"zfs with its module":        {[]string{"zfs"}, boot.Surroundings{Modules: []string{"zfs"}}, "provided; ext-zfs-service: provided"},
		"tailscale":                  {[]string{"tailscale"}, boot.Surroundings{}, "missing; ext-tailscale: missing configuration tailscale"},
		"tailscale configured":       {[]string{"tailscale"}, boot.Surroundings{Configured: []string{"tailscale"}}, "provided; ext-tailscale: provided"},
		"the configuration of other": {[]string{"lldpd"}, boot.Surroundings{Configured: []string{"tailscale"}}, "missing; ext-lldpd: missing configuration lldpd"},
		"a channel that is there":    {[]string{"qemu-guest-agent"}, boot.Surroundings{Devices: []string{boot.PathGuestChannel}}, "provided; ext-qemu-guest-agent: provided"},
		"a channel, perhaps":         {[]string{"qemu-guest-agent"}, boot.Surroundings{Unsure: []string{boot.PathGuestChannel}}, "unknown; ext-qemu-guest-agent: unknown"},
		"Hyper-V":                    {[]string{"hyperv-guest-agent"}, boot.Surroundings{Platform: "azure"}, "provided; ext-hyperv-kvp: provided; ext-hyperv-vss: provided"},
		"not Hyper-V": {
			[]string{"hyperv-guest-agent"}, boot.Surroundings{Platform: "metal"},
			"missing; ext-hyperv-kvp: missing path /dev/vmbus/hv_kvp; ext-hyperv-vss: missing path /dev/vmbus/hv_vss",
		},
		"NVIDIA": {
			nvidia, boot.Surroundings{GPU: "nvidia", Modules: loaded}, "provided; ext-nvidia-cdi-gen: provided; ext-nvidia-persistenced: provided",
		},
		"NVIDIA without the processor": {
			nvidia, boot.Surroundings{Modules: loaded},
			"missing; ext-nvidia-cdi-gen: missing service ext-nvidia-persistenced; ext-nvidia-persistenced: missing path /sys/bus/pci/drivers/nvidia",
		},
		"NVIDIA without its modules": {
			nvidia, boot.Surroundings{GPU: "nvidia"},
			"missing; ext-nvidia-cdi-gen: missing service ext-nvidia-persistenced; ext-nvidia-persistenced: missing path /sys/bus/pci/drivers/nvidia",
		},
		"NVIDIA without the driver in the image": {
			nvidia[:1], boot.Surroundings{GPU: "nvidia", Modules: loaded},
			"missing; ext-nvidia-cdi-gen: missing service ext-nvidia-persistenced; ext-nvidia-persistenced: missing path /sys/bus/pci/drivers/nvidia",
		},
		"NVIDIA, perhaps": {
			nvidia, boot.Surroundings{Modules: loaded, Unsure: []string{boot.PathNVIDIA}}, "unknown; ext-nvidia-cdi-gen: unknown; ext-nvidia-persistenced: unknown",
		},
		"one service after another": {[]string{"nfs-utils"}, boot.Surroundings{}, "provided; ext-rpc-statd: provided; ext-rpcbind: provided"},
	}
	catalogue, err := extension.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, summary(boot.Predict(catalogue, test.extensions, test.around))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// summary is a prediction in a line.
func summary(prediction boot.Prediction) string {
	parts := []string{string(prediction.State())}
	for _, service := range prediction.Services {
		part := fmt.Sprintf("%s: %s", service.Name, service.State)
		if need, lacks := service.Lacking(); lacks {
			part += fmt.Sprintf(" %s %s", need.Kind, need.Name)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// TestServicesThatWaitForEachOther expects an end, and the truth: none of them starts.
func TestServicesThatWaitForEachOther(t *testing.T) {
	catalogue := &extension.Catalogue{Extensions: []extension.Extension{{Name: "circle", Services: []extension.Service{
		{Name: "a", WaitsForServices: []string{"ext-b"}}, {Name: "b", WaitsForServices: []string{"ext-a"}}, {Name: "c", WaitsForServices: []string{"ext-nobody"}},
	}}}}
	want := "missing; ext-a: missing service ext-b; ext-b: missing service ext-a; ext-c: missing service ext-nobody"
	if diff := cmp.Diff(want, summary(boot.Predict(catalogue, []string{"circle"}, boot.Surroundings{}))); diff != "" {
		t.Error(diff)
	}
}

// TestLoop holds what is said to Talos's own time.
func TestLoop(t *testing.T) {
	for _, upgrade := range []bool{false, true} {
		if text := strings.Join(boot.Loop(upgrade), " "); !strings.Contains(text, "70 minutes") {
			t.Errorf("the loop does not say when: %s", text)
		}
	}
}
