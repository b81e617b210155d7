// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestRefusalsAreToldOnce looks at requests that are not approved, again and again, and from a second operator.
func TestRefusalsAreToldOnce(t *testing.T) {
	noon := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	shop, other := types.NamespacedName{Name: "shop"}, types.NamespacedName{Name: "other"}
	request := func(name string, made time.Duration) refusal {
		return refusal{types.UID(name), name, noon.Add(made), errors.New("nobody knows it")}
	}
	first, second := &left{}, &left{}
	for _, look := range []struct {
		why     string
		who     *left
		cluster types.NamespacedName
		at      time.Duration
		refused []refusal
		want    []string
	}{
		{"nobody asks", first, shop, 0, nil, nil},
		{"a machine that was just made", first, shop, time.Minute, []refusal{request("a", 0)}, nil},
		{"it is still not known", first, shop, overdue, []refusal{request("a", 0)}, []string{"a"}},
		{"it was told of", first, shop, overdue + time.Minute, []refusal{request("a", 0)}, nil},
		{"that of another cluster was not", first, other, overdue + time.Minute, []refusal{request("a", 0)}, []string{"a"}},
		{"another one", first, shop, 2*overdue + time.Minute, []refusal{request("a", 0), request("b", time.Minute), request("c", 2*overdue)}, []string{"b"}},
		{"an operator that starts when it was told of", second, shop, 3 * overdue, []refusal{request("a", 0), request("c", 3*overdue)}, nil},
		{"and works on", second, shop, 4 * overdue, []refusal{request("a", 0), request("c", 3*overdue)}, []string{"c"}},
	} {
		var got []string
		for _, one := range look.who.news(look.cluster, look.refused, noon.Add(look.at)) {
			got = append(got, one.name)
		}
		if diff := cmp.Diff(look.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", look.why, diff)
		}
	}
	first.news(shop, nil, noon.Add(5*overdue))
	first.forget(other)
	if len(first.told) > 0 {
		t.Errorf("it remembers what is gone: %v", first.told)
	}
}
