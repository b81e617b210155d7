// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/charts"
	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/crds"
	"minos.dev/minos/sim/kubetest"
)

// newManagement starts the management cluster of a crowd, with Cluster API and all kinds, and nothing around it.
func newManagement(t testing.TB) *crowd {
	t.Helper()
	c := &crowd{t: t, webhook: freeAddress(t)}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var err error
	if c.plane, err = controlplane.Start(ctx, controlplane.Options{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.plane.Kill)
	c.connect(ctx)
	return c
}

// connect opens the ways to the management cluster, and installs what is needed there.
func (c *crowd) connect(ctx context.Context) {
	c.t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			c.t.Fatal(err)
		}
	}
	config, err := c.plane.Config()
	if err != nil {
		c.t.Fatal(err)
	}
	c.minos, c.clusterAPI = newDoor(c.t, config), newDoor(c.t, config)
	if err := c.plane.StartClusterAPIThrough(ctx, c.clusterAPI.file("")); err != nil {
		c.t.Fatal(err)
	}
	if c.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		c.t.Fatal(err)
	}
	if err := kubetest.InstallCRDs(ctx, c.client, charts.CRDs); err != nil {
		c.t.Fatal(err)
	}
	for module, version := range map[string]string{crds.Kamaji: crds.KamajiVersion, crds.KubeVirt: crds.KubeVirtVersion} {
		definitions, err := crds.Of(ctx, module, version)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, definition := range definitions {
			if err := kubetest.Install(ctx, c.client, definition); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	applyManifests(c.t, c.client)
	c.create("", `{apiVersion: minos.dev/v1alpha1, kind: ClusterLocation, metadata: {name: house}, spec: {kubevirt: {namespaces: {}}}}`)
}

// operate starts the operator, as another process and with just the rights of its manifests.
func (c *crowd) operate() {
	c.t.Helper()
	user := "system:serviceaccount:" + operatorNamespace + ":minos-operator"
	c.operator = startProgram(c.t, "--kubeconfig", c.minos.file(user), "--namespace", operatorNamespace,
		"--signer-image", "registry.example.com/minos-signer:test", "--webhook", c.webhook, "--webhook-service", "",
		"--sim-url", c.cloud, "--refused-networks", "169.254.0.0/16") // or the tenants, which are on this machine, would be refused
}
