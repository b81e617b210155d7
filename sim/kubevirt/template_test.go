// SPDX-License-Identifier: Apache-2.0

package kubevirt

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestReadGuest is what a template makes of a machine.
func TestReadGuest(t *testing.T) {
	const url = "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.13.9/"
	tests := map[string]struct {
		template        string
		platform, wrong string
		cpus, memory    int64
		devices         int
	}{
		"by its domain": {
			template: `{dataVolumeTemplates: [{spec: {source: {http: {url: "` + url + `openstack-amd64.raw.xz"}}}}],
				template: {spec: {domain: {cpu: {cores: 2, sockets: 3}, memory: {guest: 4Gi}, devices: {gpus: [{deviceName: nvidia.com/A100}]}}}}}`,
			platform: "openstack", cpus: 6, memory: 4096, devices: 1,
		},
		"by its instance type": {
			template: `{dataVolumeTemplates: [{spec: {source: {http: {url: "` + url + `nocloud-amd64.raw.xz"}}}}], instancetype: {name: u1.xlarge}}`,
			platform: "nocloud", cpus: 4, memory: 16384,
		},
		"by threads, and not by a word that is no series": {
			template: `{dataVolumeTemplates: [{spec: {source: {http: {url: "` + url + `nocloud-amd64.raw.xz"}}}}],
				instancetype: {name: xlarge}, template: {spec: {domain: {cpu: {cores: 2, threads: 4}}}}}`,
			platform: "nocloud", cpus: 8,
		},
		"without a disk": {template: `{template: {}}`, wrong: "dataVolumeTemplates: there is none"},
		"another disk": {
			template: `{dataVolumeTemplates: [{spec: {source: {http: {url: "https://example.com/ubuntu.img"}}}}]}`,
			wrong:    "dataVolumeTemplates[0].spec.source.http.url: https://example.com/ubuntu.img is not a disk image",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("spec: {virtualMachineTemplate: {spec: "+test.template+"}}"), &object.Object); err != nil {
				t.Fatal(err)
			}
			got, err := readGuest(object)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("%v, want %s", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.image.Platform != test.platform || got.cpus != test.cpus || got.memoryMiB != test.memory || len(got.devices) != test.devices {
				t.Errorf("%+v", got)
			}
		})
	}
}
