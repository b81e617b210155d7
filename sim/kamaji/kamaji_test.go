// SPDX-License-Identifier: Apache-2.0

package kamaji_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) {
	kamajitest.Main()
	kubetest.MainWith(m, kubetest.Options{ClusterAPI: true})
}

// signed is a control plane with the signer beside it, as docs/signer/sidecar.yaml has it, in the form of fmt: its name.
// The signer's serving certificate comes from elsewhere, and its files from a projected volume too.
const signed = `
apiVersion: controlplane.cluster.x-k8s.io/v1alpha2
kind: KamajiControlPlane
metadata: {name: %[1]s}
spec:
  version: 1.36.3
  replicas: 3
  dataStoreName: default
  network:
    serviceType: ClusterIP
    certSANs: [%[1]s.example.com]
    additionalServicePorts: [{name: trustd, port: 50001, targetPort: trustd, protocol: TCP}]
  deployment:
    extraContainers:
      - name: signer
        image: registry.example.com/minos/minos-signer:v1@sha256:0123
        args:
          - --ca-cert=/etc/minos-signer/ca/issuer.crt
          - --ca-key=/etc/minos-signer/ca/private/issuer.key
          - --refuse=kubernetes.default.svc,$(SERVICE)
          - --http=:50080
          - --tls-min=1.3
        env: [{name: SERVICE, value: %[1]s.tenants.svc}]
        ports: [{name: trustd, containerPort: 50001, protocol: TCP}]
        volumeMounts:
          - {name: signer-ca, mountPath: /etc/minos-signer/ca, readOnly: true}
          - {name: signer-tls, mountPath: /etc/minos-signer/tls, readOnly: true}
          - {name: signer-tokens, mountPath: /etc/minos-signer/tokens, readOnly: true}
    extraVolumes:
      - name: signer-ca
        projected:
          sources:
            - secret: {name: %[1]s-talos-ca, items: [{key: tls.crt, path: issuer.crt}]}
            - secret: {name: %[1]s-talos-ca, items: [{key: tls.key, path: private/issuer.key}]}
      - {name: signer-tls, secret: {secretName: %[1]s-talos-tls, defaultMode: 0444}}
      - {name: signer-tokens, secret: {secretName: %[1]s-tokens, defaultMode: 0444}}
`

// unsigned is one whose signer nobody can reach: the Service lacks its port.
const unsigned = `
apiVersion: controlplane.cluster.x-k8s.io/v1alpha2
kind: KamajiControlPlane
metadata: {name: %[1]s, annotations: {kamaji.clastix.io/kubeconfig-secret-key: super-admin.svc}}
spec:
  version: v1.36.3
  dataStoreName: default
  network: {serviceType: ClusterIP}
  deployment:
    extraContainers: [{name: signer, image: minos-signer, args: [--serving-names=bank.example.com]}]
`

// A stage is two tenants side by side: shop, whose control plane has its name, and bank, whose has another.
type stage struct {
	*kamajitest.Site
	t       *testing.T
	secrets kamajitest.Secrets
	host    string // of shop
}

const shop, bank, bankPlane = "shop", "bank", "bank-plane"

// TestTenants tells the life of two tenants on one management cluster. The chapters follow each other, because every
// control plane takes seconds to start.
func TestTenants(t *testing.T) {
	kubetest.InstallModule(t, crds.Kamaji, "")
	kubetest.InstallModule(t, crds.KubeVirt, "")
	s := &stage{Site: kamajitest.NewSite(t, "v1alpha2"), t: t}
	s.secrets = s.NewSecrets()
	for _, chapter := range []struct {
		name string
		tell func(*stage)
	}{
		{"waits for its Secrets", (*stage).waitsForSecrets},
		{"becomes ready", (*stage).becomesReady},
		{"has the status of the provider", (*stage).hasStatus},
		{"has the Secrets of Kamaji and the provider", (*stage).hasSecrets},
		{"kubectl uses it", (*stage).kubectlUsesIt},
		{"another's credentials are refused", (*stage).refusesOthers},
		{"a worker joins", (*stage).workerJoins},
		{"a new token is taken up", (*stage).takesUpToken},
		{"a signer that nobody can reach is not there", (*stage).unreachableSigner},
		{"other arguments restart the signer", (*stage).restartsSigner},
		{"faults come and go", (*stage).faults},
		{"a power cut loses nothing", (*stage).powerCut},
		{"a version is rolled out, and names are added", (*stage).changes},
		{"deleted with its Cluster", (*stage).deletedWithCluster},
		{"deleted after its Cluster", (*stage).deletedAfterCluster},
	} {
		passed := t.Run(chapter.name, func(t *testing.T) {
			began := time.Now()
			s.t, s.Site.T = t, t
			chapter.tell(s)
			t.Logf("%.1fs", time.Since(began).Seconds())
		})
		s.t, s.Site.T = t, t
		if !passed {
			t.Fatal("what follows needs this")
		}
	}
}

// waitsForSecrets expects that a control plane has an endpoint at once, and does not start before its volumes are there.
func (s *stage) waitsForSecrets() {
	s.Keep("shop-talos-ca", map[string]string{"tls.crt": string(s.secrets.CA.CrtPEM), "tls.key": string(s.secrets.CA.KeyPEM)})
	s.Keep("shop-tokens", map[string]string{"workers": s.secrets.Token()})
	for _, one := range [][3]string{{shop, shop, signed}, {bank, bankPlane, unsigned}} {
		s.Apply(fmt.Sprintf(kamajitest.Cluster, one[0], one[1]))
		s.Apply(fmt.Sprintf(one[2], one[1]))
	}
	s.host = s.Host(shop)
	s.Initialized(bank)
	object, err := s.Plane(s.t.Context(), shop)
	if err != nil {
		s.t.Fatal(err)
	}
	if yes, _, _ := unstructured.NestedBool(object.Object, "status", "initialization", "controlPlaneInitialized"); yes || s.listens(6443) {
		s.t.Error("it started without its volumes")
	}
	if s.Secret("shop-ca").Data["ca.crt"] == nil {
		s.t.Error("its authority is not there yet, although Kamaji makes it first")
	}
	certificate, key := s.secrets.CA.Serving(s.t, time.Now(), s.host)
	s.Keep("shop-talos-tls", map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})
}

func (s *stage) becomesReady() {
	for cluster, plane := range map[string]string{shop: shop, bank: bankPlane} {
		s.Initialized(cluster)
		s.Eventually(plane, true, "status", "ready")
	}
}

// hasStatus compares the whole status, without times.
func (s *stage) hasStatus() {
	object, err := s.Plane(s.t.Context(), shop)
	if err != nil {
		s.t.Fatal(err)
	}
	got, _, _ := unstructured.NestedMap(object.Object, "status")
	var conditions []string
	for _, condition := range got["conditions"].([]any) {
		c := condition.(map[string]any)
		conditions = append(conditions, fmt.Sprint(c["type"], "=", c["status"], " ", c["reason"]))
	}
	slices.Sort(conditions)
	got["conditions"] = conditions
	want := map[string]any{
		"ready": true, "initialization": map[string]any{"controlPlaneInitialized": true}, "externalManagedControlPlane": true,
		"replicas": int64(3), "readyReplicas": int64(3), "availableReplicas": int64(3), "upToDateReplicas": int64(3),
		"selector": "kamaji.clastix.io/component=deployment,kamaji.clastix.io/name=shop", "version": "v1.36.3",
		"conditions": []string{
			"Available=True Available", "ControlPlaneEndpointPatched=True Succeeded", "InfrastructureClusterPatched=True Succeeded",
			"KamajiControlPlaneIsInitialized=True Succeeded", "KamajiControlPlaneIsReady=True Succeeded", "KubeadmResourcesCreated=True Succeeded",
			"TenantControlPlaneAddressReady=True Succeeded", "TenantControlPlaneCreated=True Succeeded",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("status (-want +got):\n%s", diff)
	}
	infrastructure, err := s.Get(s.t.Context(), "infrastructure.cluster.x-k8s.io/v1alpha1", "KubevirtCluster", shop)
	if err != nil {
		s.t.Fatal(err)
	}
	endpoint, _, _ := unstructured.NestedMap(infrastructure.Object, "spec", "controlPlaneEndpoint")
	ready, _, _ := unstructured.NestedBool(infrastructure.Object, "status", "ready")
	if diff := cmp.Diff(map[string]any{"host": s.host, "port": int64(6443)}, endpoint); diff != "" || !ready {
		s.t.Errorf("the infrastructure is ready: %v; its endpoint (-want +got):\n%s", ready, diff)
	}
}

// hasSecrets lists the Secrets that belong to the control planes.
func (s *stage) hasSecrets() {
	want := []string{
		"bank-ca cluster.x-k8s.io/secret bank: tls.crt tls.key",
		"bank-kubeconfig cluster.x-k8s.io/secret bank: value",
		"bank-plane-admin-kubeconfig Opaque : admin.conf admin.svc super-admin.conf super-admin.svc",
		"bank-plane-ca Opaque : ca.crt ca.key tls.crt tls.key",
		"shop-admin-kubeconfig Opaque : admin.conf admin.svc super-admin.conf super-admin.svc",
		"shop-ca Opaque : ca.crt ca.key tls.crt tls.key",
		"shop-kubeconfig cluster.x-k8s.io/secret shop: value",
	}
	if diff := cmp.Diff(want, s.owned()); diff != "" {
		s.t.Errorf("Secrets (-want +got):\n%s", diff)
	}
	copied, made := s.Secret("bank-ca"), s.Secret("bank-plane-ca")
	if !bytes.Equal(copied.Data["tls.crt"], made.Data["ca.crt"]) || !bytes.Equal(copied.Data["tls.key"], made.Data["ca.key"]) {
		s.t.Error("the copy of the authority is another one")
	}
}

// owned are the Secrets that belong to a control plane, in words.
func (s *stage) owned() (found []string) {
	var secrets corev1.SecretList
	if err := kubetest.Client(s.t).List(s.t.Context(), &secrets, client.InNamespace(s.Namespace)); err != nil {
		s.t.Fatal(err)
	}
	for _, secret := range secrets.Items {
		if owner := metav1.GetControllerOf(&secret); owner != nil && owner.Kind == "KamajiControlPlane" {
			var keys []string
			for key := range secret.Data {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			found = append(found, fmt.Sprintf("%s %s %s: %s", secret.Name, secret.Type, secret.Labels["cluster.x-k8s.io/cluster-name"], strings.Join(keys, " ")))
		}
	}
	return found
}

// kubectlUsesIt works with a tenant as a user does.
func (s *stage) kubectlUsesIt() {
	s.kubectl(shop, "create", "configmap", "kept", "--from-literal=a=b")
	if got := s.kubectl(shop, "get", "configmap", "kept", "-o", "jsonpath={.data.a}"); got != "b" {
		s.t.Errorf("got %q", got)
	}
	if got := s.kubectl(shop, "create", "service", "clusterip", "web", "--tcp=80", "-o", "jsonpath={.spec.clusterIP}"); !strings.HasPrefix(got, "10.95.") {
		s.t.Errorf("a service has the address %s, which is not in the Cluster's network", got)
	}
	if got := s.kubectl(bank, "get", "configmap", "--ignore-not-found", "kept"); got != "" {
		s.t.Errorf("the other tenant has it too: %s", got)
	}
}

// kubectl runs the real one with the kubeconfig that Cluster API has.
func (s *stage) kubectl(cluster string, arguments ...string) string {
	s.t.Helper()
	program, err := controlplane.Program()
	if err != nil {
		s.t.Fatal(err)
	}
	command := exec.CommandContext(s.t.Context(), program, append([]string{"kubectl", "--kubeconfig", s.Kubeconfig(cluster)}, arguments...)...)
	var words bytes.Buffer
	command.Stderr = &words
	out, err := command.Output()
	if err != nil {
		s.t.Fatalf("kubectl %v: %v: %s", arguments, err, &words)
	}
	return string(out)
}

// refusesOthers shows shop's credentials to bank.
func (s *stage) refusesOthers() {
	own, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(shop))
	if err != nil {
		s.t.Fatal(err)
	}
	other, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig(bank))
	if err != nil {
		s.t.Fatal(err)
	}
	if bytes.Equal(own.CAData, other.CAData) || own.Host == other.Host {
		s.t.Errorf("they share an authority, or the address %s", own.Host)
	}
	other.CertData, other.KeyData = own.CertData, own.KeyData
	clients, err := kubernetes.NewForConfig(other)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := clients.CoreV1().Namespaces().List(s.t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		s.t.Errorf("shop's administrator asks bank: %v", err)
	}
	other.CAData = own.CAData
	if clients, err = kubernetes.NewForConfig(other); err != nil {
		s.t.Fatal(err)
	}
	if _, err := clients.CoreV1().Namespaces().List(s.t.Context(), metav1.ListOptions{}); !isUnknownAuthority(err) {
		s.t.Errorf("bank shows itself to one who trusts shop: %v", err)
	}
}

func isUnknownAuthority(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}

// listens says whether there is something at a port of shop's address.
func (s *stage) listens(port int) bool { return listens(s.t, s.host, port) }

func listens(t *testing.T, host string, port int) bool {
	t.Helper()
	dialer := net.Dialer{Timeout: 10 * time.Second}
	connection, err := dialer.DialContext(t.Context(), "tcp4", net.JoinHostPort(host, fmt.Sprint(port)))
	if err == nil {
		_ = connection.Close()
		return true
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%s:%d: %v", host, port, err)
	}
	return false
}

// until waits for something to be so.
func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	kubetest.Eventually(s.t, kamajitest.Within, func(context.Context) error {
		if !holds() {
			return errors.New("still not so: " + what)
		}
		return nil
	})
}
