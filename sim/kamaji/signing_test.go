// SPDX-License-Identifier: Apache-2.0

package kamaji_test

import (
	"context"
	"encoding/json"
	"net"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
	"minos.dev/minos/trust/trusttest"
)

func (s *stage) workerJoins() { s.Join(shop, s.host, s.secrets) }

// takesUpToken changes a Secret, and expects the signer that runs to know the new token and no other.
func (s *stage) takesUpToken() {
	const fresh = "zyxwvu.0123456789abcdef"
	s.Keep("shop-tokens", map[string]string{"new": fresh})
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error { return s.ask(ctx, fresh) })
	if err := s.ask(s.t.Context(), s.secrets.Token()); err == nil {
		s.t.Error("the old token is still good")
	}
	s.Keep("shop-tokens", map[string]string{"new": fresh, "workers": s.secrets.Token()})
	s.signs()
}

// signs waits until the signer gives certificates.
func (s *stage) signs() {
	s.t.Helper()
	kubetest.Eventually(s.t, kamajitest.Within, func(ctx context.Context) error { return s.ask(ctx, s.secrets.Token()) })
}

// ask asks the signer of shop once.
func (s *stage) ask(ctx context.Context, token string) error {
	request, _, err := trusttest.NewRequest(s.secrets.CA, "worker-9")
	if err != nil {
		return err
	}
	stranger := trusttest.Stranger{Endpoint: net.JoinHostPort(s.host, "50001"), Trust: []trusttest.CA{s.secrets.CA}}
	connection := stranger.Dial(s.t)
	defer func() { _ = connection.Close() }()
	_, err = trusttest.Ask(ctx, connection, token, request.X509CertificateRequestPEM)
	return err
}

// unreachableSigner has bank's signer declared all along, and gives its Service the port only now.
func (s *stage) unreachableSigner() {
	host := s.Host(bankPlane)
	if listens(s.t, host, 50001) {
		s.t.Error("workers reach a signer although the Service has no port for them")
	}
	s.Patch(bankPlane, `{"spec":{"network":{"additionalServicePorts":[{"name":"trustd","port":50001,"targetPort":50001,"protocol":"TCP"}]}}}`)
	s.until("bank's signer is reached", func() bool { return listens(s.t, host, 50001) })
}

// restartsSigner takes the signer's container away and brings another one.
func (s *stage) restartsSigner() {
	object, err := s.Plane(s.t.Context(), shop)
	if err != nil {
		s.t.Fatal(err)
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "deployment", "extraContainers")
	s.Patch(shop, `{"spec":{"deployment":{"extraContainers":[]}}}`)
	s.until("the signer is gone", func() bool { return !s.listens(50001) })

	s.declare(containers, "--names=shop-*")
	s.until("the new signer is there", func() bool { return s.listens(50001) })
	if err := s.ask(s.t.Context(), s.secrets.Token()); status.Code(err) != codes.PermissionDenied {
		s.t.Errorf("it does not know its new argument: %v", err)
	}
	s.declare(containers)
	s.signs()
}

// declare gives shop containers, the first of them with further arguments.
func (s *stage) declare(containers []any, arguments ...any) {
	s.t.Helper()
	changed := runtime.DeepCopyJSONValue(containers).([]any)
	container := changed[0].(map[string]any)
	container["args"] = append(container["args"].([]any), arguments...)
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"deployment": map[string]any{"extraContainers": changed}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Patch(shop, string(text))
}
