// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"minos.dev/minos/controller/metrics"
)

// An alert is an example of what to be told of.
type alert struct{ name, when, lasting, summary string }

// alerts are those that matter most. A test holds them to metrics that exist.
var alerts = []alert{
	{
		"MinosCertificateExpires", "minos_certificate_expiry_timestamp_seconds{certificate!=\"bootstrap-token\"} - time() < 7 * 86400", "1h",
		"{{ $labels.certificate }} of cluster {{ $labels.namespace }}/{{ $labels.cluster }} expires in {{ $value | humanizeDuration }} and was not renewed",
	},
	{
		"MinosTenantUnreachable", "minos_tenant_reachable == 0", "10m",
		"the API server of cluster {{ $labels.namespace }}/{{ $labels.cluster }} does not answer: machines are neither replaced nor approved",
	},
	{
		"MinosPoolsHeld", "sum by (backend) (minos_pools{state=\"Held\"}) > 0", "15m",
		"{{ $value }} pools of {{ $labels.backend }} machines replace nothing, because too many failed at once; kubectl get events -A --field-selector reason=Held",
	},
	{
		"MinosMachinesFail", "sum by (backend) (increase(minos_machine_verdicts_total{verdict=\"failed\"}[1h])) > 5", "0m",
		"{{ $value | humanize }} {{ $labels.backend }} machines failed within an hour",
	},
	{
		"MinosJoinsSlow", "histogram_quantile(0.9, sum by (backend, le) (rate(minos_machine_join_duration_seconds_bucket[1h]))) > 900", "30m",
		"one in ten {{ $labels.backend }} machines takes {{ $value | humanizeDuration }} or longer to join: look at minos_machine_join_step_duration_seconds",
	},
}

// metricsPage is the page of metrics.
func metricsPage() []byte {
	var page bytes.Buffer
	page.WriteString("# Metrics\n\n<!-- Generated from controller/metrics by 'make generate'. -->\n\n")
	page.WriteString("What `minos-operator` serves at `--metrics`, beside what controller-runtime tells of its own queues and clients. `backend` is a kind of\n" +
		"machine (`kubevirt`, `sim`, …) and `step` a condition of a [TalosMachine](talosmachine.md); of machines that Cluster API makes three steps\n" +
		"can be seen: `InstanceReady`, `NodeRegistered` and `NetworkReady`.\n\n")
	page.WriteString("| name | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, each := range metrics.Definitions() {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", each.Name, each.Kind, labels(each.Labels), cell(each.Help))
	}
	page.WriteString("\n## Alerts that matter\n\n```yaml\ngroups:\n- name: minos\n  rules:\n")
	for _, each := range alerts {
		fmt.Fprintf(&page, "  - alert: %s\n    expr: %s\n    for: %s\n    annotations:\n      summary: '%s'\n", each.name, each.when, each.lasting, each.summary)
	}
	page.WriteString("```\n")
	return page.Bytes()
}

// labels are those of a metric in a cell.
func labels(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "`" + strings.Join(all, "`, `") + "`"
}
