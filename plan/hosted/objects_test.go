// SPDX-License-Identifier: Apache-2.0

package hosted_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shop is a hosted cluster with as little as it needs.
func shop() *api.TalosCluster {
	return &api.TalosCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Name: "shop", UID: "1-2-3", Generation: 7},
		Spec: api.TalosClusterSpec{
			KubernetesVersion: "v1.35.2", TalosVersion: "v1.13.9", ControlPlane: api.ControlPlane{Kamaji: &api.KamajiControlPlane{}},
		},
	}
}

// bank is one that says all that can be said.
func bank() *api.TalosCluster {
	three := int32(3)
	size := func(cpu, memory string) *api.ControlPlaneComponent {
		return &api.ControlPlaneComponent{Resources: api.Resources{CPU: resource.MustParse(cpu), Memory: resource.MustParse(memory)}}
	}
	cluster := shop()
	cluster.Name = "bank"
	cluster.Spec.Endpoint = &api.Endpoint{Host: "bank.example.com", Port: 443}
	cluster.Spec.Network = &api.ClusterNetwork{PodCIDRs: []api.CIDR{"10.1.0.0/16", "fd00:1::/56"}, ServiceCIDRs: []api.CIDR{"10.2.0.0/16", "fd00:2::/112"}, DNSDomain: "bank.local"}
	cluster.Spec.Images = &api.Images{Signer: "mirror.example.com/minos-signer:v2"}
	cluster.Spec.CNI = &api.CNI{Provider: api.CNICilium}
	cluster.Spec.ControlPlane.Kamaji = &api.KamajiControlPlane{
		Replicas: &three, DataStoreName: "gold", CertSANs: []string{"proxy.example.com", "192.0.2.7", "bank.example.com"},
		Service: &api.ControlPlaneService{
			Type: api.ServiceLoadBalancer, Annotations: map[string]string{"pool": "public"}, Labels: map[string]string{"team": "b"},
		},
		APIServer: size("4", "8Gi"), ControllerManager: size("1", "1Gi"), Scheduler: size("5m", "512Mi"),
	}
	return cluster
}

// outside is one whose control plane is somebody else's.
func outside() *api.TalosCluster {
	cluster := shop()
	cluster.Name = "outside"
	cluster.Spec.Endpoint = &api.Endpoint{Host: "192.0.2.1", Port: 6443}
	cluster.Spec.ControlPlane = api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "access", Key: "value"}}}
	return cluster
}

func TestObjects(t *testing.T) {
	tests := map[string]struct {
		cluster *api.TalosCluster
		facts   hosted.Facts
	}{
		"shop": {shop(), hosted.Facts{Served: "v1alpha2", SignerImage: "registry.example.com/minos-signer:v1", KubernetesVersion: "v1.35.2"}},
		"bank": {bank(), hosted.Facts{Served: "v1alpha1", SignerImage: "mirror.example.com/minos-signer:v2", KubernetesVersion: "v1.34.9"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var all [][]byte
			for _, object := range hosted.Objects(test.cluster, test.facts) {
				text, err := yaml.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, text)
			}
			golden(t, name+".golden.yaml", bytes.Join(all, []byte("---\n")))
		})
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestSignerIsNeverAskedWhetherItIsReady holds the sidecar to what would take the API server out of its Service.
func TestSignerIsNeverAskedWhetherItIsReady(t *testing.T) {
	for _, object := range hosted.Objects(shop(), hosted.Facts{Served: "v1alpha2"}) {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "readinessProbe") {
			t.Error("it has a readiness probe")
		}
	}
}

// TestObjectsDoNotShare changes what came out and expects the next to be as the first.
func TestObjectsDoNotShare(t *testing.T) {
	facts := hosted.Facts{Served: "v1alpha2", KubernetesVersion: "v1.35.2"}
	cluster := bank()
	first := hosted.Objects(cluster, facts)
	for _, object := range hosted.Objects(cluster, facts) {
		object.Object["spec"] = nil
		object.GetLabels()["a"] = "b"
	}
	if diff := cmp.Diff(first, hosted.Objects(cluster, facts)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(bank(), cluster); diff != "" {
		t.Errorf("the cluster changed: %s", diff)
	}
}

func TestKinds(t *testing.T) {
	objects := hosted.Objects(shop(), hosted.Facts{Served: "v1alpha2"})
	for at, kind := range hosted.Kinds() {
		if got := objects[at].GroupVersionKind().GroupKind(); got != kind.Kind {
			t.Errorf("object %d is a %s, and the kind in its place is %s", at, got, kind.Kind)
		}
	}
}
