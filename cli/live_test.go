// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
)

// TestColumns holds the lists to the columns that kubectl shows of the same kinds.
func TestColumns(t *testing.T) {
	for file, listed := range map[string]listing{
		"talosclusters": clusterListing(nil, time.Time{}),
		"nodepools":     poolListing(nil, time.Time{}),
	} {
		text, err := fs.ReadFile(charts.CRDs, "minos/crds/minos.dev_"+file+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, definition); err != nil {
			t.Fatal(err)
		}
		narrow, wide := []string{"Name"}, []string{}
		for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
			if column.Priority == 0 {
				narrow = append(narrow, column.Name)
			} else {
				wide = append(wide, column.Name)
			}
		}
		if diff := cmp.Diff(append(narrow, wide...), listed.columns); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		if listed.narrow != len(narrow) {
			t.Errorf("%s: %d columns, want %d", file, listed.narrow, len(narrow))
		}
	}
}

// TestExplain turns what the API server says into one line.
func TestExplain(t *testing.T) {
	pools := schema.GroupResource{Group: api.Group, Resource: "nodepools"}
	unserved := apierrors.NewNotFound(schema.GroupResource{}, "")
	unserved.ErrStatus.Details = nil
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                     {nil, "<nil>"},
		"the end was asked for":       {context.Canceled, "context canceled"},
		"a kind that is not known":    {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: api.Group, Kind: "NodePool"}}, "the cluster at there does not know the kinds of minos.dev"},
		"a path that is not served":   {unserved, "the cluster at there does not know the kinds of minos.dev"},
		"an object that is not there": {apierrors.NewNotFound(pools, "x"), `nodepools.minos.dev "x" not found`},
		"credentials":                 {apierrors.NewUnauthorized("no"), "the cluster at there does not accept the credentials of the kubeconfig"},
		"a right": {
			apierrors.NewForbidden(pools, "", errors.New(`User "jo" cannot list resource "nodepools" in API group "minos.dev" at the cluster scope`)),
			`user "jo" may not list nodepools.minos.dev in all namespaces`,
		},
		"a guard": {
			apierrors.NewForbidden(pools, "x", errors.New("it has machines")), `nodepools.minos.dev "x" is forbidden: it has machines`,
		},
		"a webhook": {
			apierrors.NewForbidden(pools, "x", errors.New(`admission webhook "guard.minos.dev" denied the request: there is a gateway already`)),
			"there is a gateway already",
		},
		"fields": {
			apierrors.NewInvalid(schema.GroupKind{Group: api.Group, Kind: "NodePool"}, "x", field.ErrorList{
				field.Required(field.NewPath("spec", "role"), ""), field.Invalid(nil, nil, "some validation rules were not checked"),
			}), "spec.role: Required value",
		},
		"silence": {&url.Error{Op: "Get", URL: "https://there", Err: errors.New("EOF")}, "the API server at there cannot be asked: EOF"},
		"no time": {&url.Error{Op: "Get", URL: "https://there", Err: context.DeadlineExceeded}, "the API server at there cannot be asked: no answer within 15s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint((&live{host: "there"}).explain(test.err)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestIsReady wants Ready to be about the newest spec.
func TestIsReady(t *testing.T) {
	ready := metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 2}
	gone := metav1.Now()
	for name, test := range map[string]struct {
		object   metav1.ObjectMeta
		observed int64
		change   func(*metav1.Condition)
		want     bool
	}{
		"ready":             {metav1.ObjectMeta{Generation: 2}, 2, nil, true},
		"of the old spec":   {metav1.ObjectMeta{Generation: 3}, 3, nil, false},
		"an older status":   {metav1.ObjectMeta{Generation: 2}, 1, nil, false},
		"not ready":         {metav1.ObjectMeta{Generation: 2}, 2, func(c *metav1.Condition) { c.Status = metav1.ConditionFalse }, false},
		"not looked at":     {metav1.ObjectMeta{Generation: 2}, 2, func(c *metav1.Condition) { c.Type = "Other" }, false},
		"ready and leaving": {metav1.ObjectMeta{Generation: 2, DeletionTimestamp: &gone}, 2, nil, false},
	} {
		condition := ready
		if test.change != nil {
			test.change(&condition)
		}
		if got := isReady(&test.object, test.observed, []metav1.Condition{condition}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestGoesOnWaiting waits on while nobody answers.
func TestGoesOnWaiting(t *testing.T) {
	looks := 0
	waiting := errand{"pool x", "Ready", func(context.Context) (look, error) {
		if looks++; looks == 1 {
			return look{}, Hint(&silence{"nobody answers"}, "")
		}
		return look{}, errors.New("forbidden")
	}}
	if seen, err := waiting.glance(t.Context()); err != nil || seen.line != "nobody answers" {
		t.Errorf("%+v %v", seen, err)
	}
	if _, err := waiting.glance(t.Context()); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("%v", err)
	}
}
