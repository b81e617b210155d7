// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"minos.dev/minos/sim/kubetest"
)

// refusing refuses the first updates, and hands on all else.
type refusing struct {
	next  http.RoundTripper
	with  *apierrors.StatusError
	times int
}

// RoundTrip refuses or hands on.
func (r *refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPut || r.times == 0 {
		return r.next.RoundTrip(request)
	}
	r.times--
	text, err := json.Marshal(r.with.ErrStatus)
	return &http.Response{
		StatusCode: int(r.with.ErrStatus.Code), Header: http.Header{"Content-Type": []string{"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(text))), Request: request,
	}, err
}

// TestMarksAgain refuses labels for a moment, as happens when a controller changes the Node at the same time.
func TestMarksAgain(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", kubetest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	nodes := schema.GroupResource{Resource: "nodes"}
	for name, refusal := range map[string]*apierrors.StatusError{
		"marked-after-a-conflict": apierrors.NewConflict(nodes, "x", nil), "marked-after-a-taint": apierrors.NewForbidden(nodes, "x", nil),
	} {
		t.Run(name, func(t *testing.T) {
			k, err := connect(target{endpoint: at}, &refusing{next: transport, with: refusal, times: 2})
			if err != nil {
				t.Fatal(err)
			}
			node, err := k.core.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := k.mark(t.Context(), node, map[string]string{"example.com/shelf": "top"}, nil); err != nil {
				t.Error(err)
			}
			if node, err = k.core.Nodes().Get(t.Context(), name, metav1.GetOptions{}); err != nil || node.Labels["example.com/shelf"] != "top" {
				t.Errorf("its labels are %v: %v", node.Labels, err)
			}
		})
	}
}
