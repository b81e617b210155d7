// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"testing"

	"minos.dev/minos/check"
)

const benchCluster = `apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: c%[1]d}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  environment: Homelab
  network: {podCIDRs: [10.%[2]d.%[3]d.0/24], serviceCIDRs: [11.%[2]d.%[3]d.0/24]}
  endpoint: {host: 172.20.0.10}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: l%[1]d}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: p%[1]d}
spec:
  clusterName: c%[1]d
  role: control-plane
  locationRef: {kind: Location, name: l%[1]d}
  machine: {metal: {hosts: [{name: m%[1]d, address: 172.16.%[2]d.%[4]d, disk: {path: /dev/sda}}]}}
`

// BenchmarkClusters shows how the cost of a cluster changes with their number: a fleet of many small clusters is where what compares
// everything with everything would show.
func BenchmarkClusters(b *testing.B) {
	var first float64
	for _, clusters := range []int{100, 1000} {
		files := map[string]string{}
		for i := range clusters {
			files[fmt.Sprintf("c%d.yaml", i)] = fmt.Sprintf(benchCluster, i, i/250, i%250, i%250+1)
		}
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			for b.Loop() {
				if report := check.Judge(read(b, files), check.Options{}); report.Summary.Objects != 3*clusters {
					b.Fatalf("%+v", report.Summary)
				}
			}
			each := float64(b.Elapsed().Microseconds()) / float64(b.N*clusters)
			if first == 0 {
				first = each
			}
			b.ReportMetric(each, "µs/cluster")
			b.ReportMetric(each/first, "times-that-of-100")
		})
	}
}
