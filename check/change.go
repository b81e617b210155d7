// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// A Change is declared objects as they are before somebody changes them, and as they will be. What is made anew is not among those
// before.
type Change struct {
	Before, After []load.Object
	// Now is when the change is made.
	Now time.Time
}

// Brings are the findings that the change brings: those after it that are at least of a severity and were not there before it. Rules
// that are about files, Git, pipelines or running machines find nothing to judge by, and say nothing. Those about declarations as
// such are left out: where changes are judged, the API server has judged them.
func (c Change) Brings(least rule.Severity) ([]*Finding, error) {
	before, err := c.judge(c.Before, nil, nil)
	if err != nil {
		return nil, err
	}
	after, err := c.judge(c.After, c.Before, NewBaseline(before))
	if err != nil {
		return nil, err
	}
	var brought []*Finding
	for _, finding := range after.Findings {
		if finding.Counts() && finding.Severity >= least {
			brought = append(brought, finding)
		}
	}
	return brought, nil
}

// judge judges objects, which came from others.
func (c Change) judge(objects, from []load.Object, known *Baseline) (*Report, error) {
	source := facts.Source{Now: c.Now}
	var err error
	if source.Files, err = files(objects); err != nil {
		return nil, err
	}
	if source.Before, err = files(from); err != nil {
		return nil, err
	}
	all, err := facts.Read(source)
	if err != nil {
		return nil, err
	}
	rules, err := Select(nil, []string{"MIN"})
	if err != nil {
		return nil, err
	}
	return Judge(all, Options{Rules: rules, Baseline: known}), nil
}

// files are objects as people would write them into files: a file each, without what the API server and controllers add.
func files(objects []load.Object) ([]*facts.File, error) {
	var all []*facts.File
	for _, object := range objects {
		kind := reflect.Indirect(reflect.ValueOf(object)).Type().Name()
		spec := reflect.Indirect(reflect.ValueOf(object)).FieldByName("Spec")
		if !spec.IsValid() {
			return nil, fmt.Errorf("%s declares nothing", kind)
		}
		text, err := yaml.Marshal(map[string]any{
			"apiVersion": api.GroupVersion.String(), "kind": kind, "spec": spec.Interface(),
			"metadata": metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace(), Labels: object.GetLabels(), Annotations: object.GetAnnotations()},
		})
		if err != nil {
			return nil, err
		}
		name := strings.Join([]string{kind, object.GetNamespace(), object.GetName()}, "/")
		all = append(all, &facts.File{Path: strings.ToLower(name) + ".yaml", Text: text})
	}
	return all, nil
}
