// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/controller/metrics"
)

var metricName = regexp.MustCompile(`minos_[a-z_]+`)

// TestMetricsPage holds the page to what it is made from.
func TestMetricsPage(t *testing.T) {
	written, err := os.ReadFile("metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), string(metricsPage())); diff != "" {
		t.Errorf("run make generate (-written +made):\n%s", diff)
	}
}

// TestAlerts holds every alert to metrics and labels that exist, and all of them to YAML.
func TestAlerts(t *testing.T) {
	for _, each := range alerts {
		for _, name := range metricName.FindAllString(each.when+each.summary, -1) {
			at := slices.IndexFunc(metrics.Definitions(), func(d metrics.Definition) bool {
				return d.Name == name || d.Kind == metrics.Histogram && d.Name+"_bucket" == name
			})
			if at < 0 {
				t.Errorf("%s speaks of %s, which does not exist", each.name, name)
				continue
			}
			for _, label := range regexp.MustCompile(`\$labels\.([a-z]+)`).FindAllStringSubmatch(each.summary, -1) {
				if !slices.Contains(metrics.Definitions()[at].Labels, label[1]) {
					t.Errorf("%s speaks of label %s, which %s does not have", each.name, label[1], name)
				}
			}
		}
	}
	_, block, _ := strings.Cut(string(metricsPage()), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var read struct {
		Groups []struct {
			Rules []struct{ Alert, Expr, For string }
		}
	}
	if err := yaml.Unmarshal([]byte(block), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Groups) != 1 || len(read.Groups[0].Rules) != 5 || read.Groups[0].Rules[1].Expr != "minos_tenant_reachable == 0" {
		t.Errorf("%+v", read)
	}
}
