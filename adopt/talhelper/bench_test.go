// SPDX-License-Identifier: Apache-2.0

package talhelper_test

import (
	"fmt"
	"strings"
	"testing"

	"minos.dev/minos/adopt"
)

// BenchmarkImport measures what one more machine costs.
func BenchmarkImport(b *testing.B) {
	for _, machines := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(machines), func(b *testing.B) {
			var config strings.Builder
			config.WriteString(small)
			for i := range machines - 1 {
				fmt.Fprintf(&config, "  - {hostname: w-%d, ipAddress: 10.1.%d.%d, installDisk: /dev/sda, nodeLabels: {n: '%d'}, nameservers: [10.0.0.1]}\n", i, i/200, i%200+1, i)
			}
			config.WriteString("patches: ['machine: {sysctls: {a: b}}', 'machine: {kubelet: {extraArgs: {event-qps: \"1\"}}}']\n")
			for b.Loop() {
				source, err := read(b, map[string]string{"talconfig.yaml": config.String()})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := adopt.Convert(source, adopt.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
