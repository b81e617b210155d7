// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"strings"
)

// Values are the values of a Helm chart: those of a release that Flux or Argo CD makes, or a file of values.
type Values struct {
	// Chart is the name of the chart, as far as it is known: of a file of values it is guessed from its path.
	Chart string
	// Document is where they stand, and Prefix the path of the values in it, with a dot at its end if there is any.
	Document *Document
	Prefix   string
	// Body is the values.
	Body map[string]any
}

// Get returns a value by its path; nil if there is none.
func (v *Values) Get(path string) any { return Get(v.Body, path) }

// String returns a text by its path; empty if there is none.
func (v *Values) String(path string) string { return Text(v.Get(path)) }

// valuesOf finds Helm values in an object: a HelmRelease of Flux, a HelmChart of k3s, or an Application of Argo CD.
func valuesOf(document *Document) *Values {
	switch {
	case document.Kind() == "HelmRelease" && strings.HasPrefix(document.APIVersion(), "helm.toolkit.fluxcd.io/"):
		chart := document.String("spec.chart.spec.chart")
		if chart == "" {
			chart = document.String("spec.chartRef.name")
		}
		return newValues(document, chart, "spec.values")
	case document.Kind() == "Application" && strings.HasPrefix(document.APIVersion(), "argoproj.io/"):
		return newValues(document, document.String("spec.source.chart"), "spec.source.helm.valuesObject")
	}
	return nil
}

// newValues takes the map at a path of a document as the values of a chart.
func newValues(document *Document, chart, path string) *Values {
	body := document.Map(path)
	if body == nil || chart == "" {
		return nil
	}
	return &Values{Chart: chart, Document: document, Prefix: path + ".", Body: body}
}

// charts are those that rules know values of. A file of values is taken for one of them when its path has the name.
var charts = []string{"cilium", "calico", "tigera-operator", "longhorn", "rook-ceph", "gpu-operator", "nvidia-device-plugin", "mayastor", "openebs", "linstor", "piraeus"}

// fileOfValues takes a file for one of Helm values: by its name, and by a chart's name in its path.
func fileOfValues(document *Document) *Values {
	if document.Kind() != "" || !strings.Contains(document.File.Base(), "values") {
		return nil
	}
	for _, chart := range charts {
		if strings.Contains(strings.ToLower(document.File.Path), chart) {
			return &Values{Chart: chart, Document: document, Body: document.Body}
		}
	}
	return nil
}
