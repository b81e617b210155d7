// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
)

const benchPool = `apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata:
  name: pool-%d
spec:
  clusterName: shop
  role: compute
  locationRef:
    kind: ClusterLocation
    name: house
  replicas: 3
  machine:
    kubevirt:
      size:
        instanceType: u1.medium
  config:
    labels:
      example.com/team: shop
`

// BenchmarkRead measures what strictness costs: reading and judging pools, beside merely decoding the same text into the
// same types. The ratio is what to look at; it must not grow with the number of documents.
func BenchmarkRead(b *testing.B) {
	reader := newReader(b)
	for _, n := range []int{10, 100, 1000} {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(benchPool, i))
		}
		text := []byte(strings.Join(parts, "---\n"))
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			var plain time.Duration
			for b.Loop() {
				if documents, problems := reader.Read("pools.yaml", text); len(documents) != n || len(problems) > 0 {
					b.Fatal(problems)
				}
				b.StopTimer()
				start := time.Now()
				kept := make([]*api.NodePool, n) // as the reader keeps them: what is kept, the collector has to look at
				for at, part := range parts {
					kept[at] = &api.NodePool{}
					if err := yaml.UnmarshalStrict([]byte(part), kept[at]); err != nil {
						b.Fatal(err)
					}
				}
				plain += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/pool")
			b.ReportMetric(float64(b.Elapsed())/float64(plain), "x-decode")
		})
	}
}
