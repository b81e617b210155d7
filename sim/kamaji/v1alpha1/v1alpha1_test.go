// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kamaji"
	"minos.dev/minos/sim/kamaji/kamajitest"
	"minos.dev/minos/sim/kubetest"
)

func TestMain(m *testing.M) { kubetest.MainWith(m, kubetest.Options{ClusterAPI: true}) }

// legacy is a control plane with our signer in the place of talos-csr-signer: a token from the environment, and no
// arguments.
const legacy = `
apiVersion: controlplane.cluster.x-k8s.io/v1alpha1
kind: KamajiControlPlane
metadata: {name: shop}
spec:
  version: v1.34.1
  dataStoreName: default
  network:
    serviceType: ClusterIP
    additionalServicePorts: [{name: talos-trustd, port: 50001, targetPort: 50001, protocol: TCP}]
  deployment:
    extraContainers:
      - name: talos-csr-signer
        image: registry.example.com:5000/minos-signer
        env: [{name: TALOS_TOKEN, valueFrom: {secretKeyRef: {name: shop-talos-secrets, key: token}}}]
        ports: [{name: trustd, containerPort: 50001}]
        volumeMounts: [{name: talos-ca, mountPath: /etc/talos-ca}, {name: talos-tls-cert, mountPath: /etc/talos-server-crt}]
    extraVolumes:
      - {name: talos-ca, secret: {secretName: shop-talos-ca}}
      - {name: talos-tls-cert, secret: {secretName: shop-talos-tls-cert}}
`

// open is the definition of the older version, into which anything can be put.
func open() *apiextensionsv1.CustomResourceDefinition {
	yes := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kamajicontrolplanes.controlplane.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1alpha1"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "controlplane.cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "kamajicontrolplanes", Singular: "kamajicontrolplane", Kind: "KamajiControlPlane", ListKind: "KamajiControlPlaneList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &yes,
				}},
			}},
		},
	}
}

// TestTenant has a tenant of the older version held back at first, then slow, then ready for a worker.
func TestTenant(t *testing.T) {
	s := kamajitest.NewSite(t, "v1alpha1") // before there is the kind
	if err := kubetest.Install(t.Context(), kubetest.Client(t), open()); err != nil {
		t.Fatal(err)
	}
	kubetest.InstallModule(t, crds.KubeVirt, "")
	secrets := s.NewSecrets()
	s.Kamaji.Break(s.Key("shop"), kamaji.Faults{Hold: true})
	s.Apply(fmt.Sprintf(kamajitest.Cluster, "shop", "shop"))
	s.Apply(legacy)
	host := s.Host("shop")
	certificate, key := secrets.CA.Serving(t, time.Now(), host)
	s.Keep("shop-talos-secrets", map[string]string{"token": secrets.Token()})
	s.Keep("shop-talos-ca", map[string]string{"tls.crt": string(secrets.CA.CrtPEM), "tls.key": string(secrets.CA.KeyPEM)})
	s.Keep("shop-talos-tls-cert", map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})

	// Its kubeconfig is there when the API server runs; that it is held back is seen from then on.
	s.Exists("shop-admin-kubeconfig")
	if object, err := s.Plane(t.Context(), "shop"); err != nil || initialized(object) {
		t.Errorf("it is initialized although it is held back, %v", err)
	}
	s.Kamaji.Break(s.Key("shop"), kamaji.Faults{Latency: 5 * time.Second})
	s.Initialized("shop")
	s.Eventually("shop", true, "status", "ready")
	hasStatus(t, s)
	s.Join("shop", host, secrets)
}

func initialized(object *unstructured.Unstructured) bool {
	yes, _, _ := unstructured.NestedBool(object.Object, "status", "initialized")
	return yes
}

// hasStatus compares the whole status, without times: the fields of Cluster API's older contract.
func hasStatus(t *testing.T, s *kamajitest.Site) {
	t.Helper()
	object, err := s.Plane(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedMap(object.Object, "status")
	var conditions []string
	for _, condition := range got["conditions"].([]any) {
		conditions = append(conditions, fmt.Sprint(condition.(map[string]any)["type"], "=", condition.(map[string]any)["status"]))
	}
	slices.Sort(conditions)
	got["conditions"] = conditions
	want := map[string]any{
		"initialized": true, "ready": true, "externalManagedControlPlane": true, "version": "v1.34.1",
		"replicas": int64(2), "readyReplicas": int64(2), "updatedReplicas": int64(2), "unavailableReplicas": int64(0),
		"selector": "kamaji.clastix.io/component=deployment,kamaji.clastix.io/name=shop",
		"conditions": []string{
			"ControlPlaneEndpointPatched=True", "InfrastructureClusterPatched=True", "KamajiControlPlaneIsInitialized=True",
			"KamajiControlPlaneIsReady=True", "KubeadmResourcesCreated=True", "TenantControlPlaneAddressReady=True", "TenantControlPlaneCreated=True",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}
