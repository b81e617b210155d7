// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// releases are the newest and the previous minor release of Kubernetes, by the name of the cluster that has it.
var releases = map[string]string{"newest": "v1.36.3", "previous": "v1.35.8"}

// accepted is a cluster as the acceptance test of others declares it, in the form of strings.NewReplacer: NAME and VERSION.
const accepted = `
apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: NAME}
spec:
  kubernetesVersion: VERSION
  talosVersion: v1.13.9
  controlPlane: {kamaji: {replicas: 2, apiServer: {resources: {cpu: 1, memory: 2Gi}}}}
---
apiVersion: minos.dev/v1alpha1
kind: NodePool
metadata: {name: NAME-md0}
spec:
  clusterName: NAME
  role: plain
  locationRef: {kind: ClusterLocation, name: acceptance-NS}
  autoscaling: {min: 2, max: 10}
  machine: {kubevirt: {size: {resources: {cpu: 1, memory: 4Gi}}, podCPU: {request: 100m, limit: 2}, serialConsole: Logged}}
`

// TestAcceptance is what others accept a tenant's Kubernetes by, step by step and for two releases at the same time.
//
// Left out is what needs real workloads, or somebody who brings them: an address of a load balancer for the API server and for a
// Service, HTTP through it, storage classes and volumes, the add-ons (pod network, DNS, storage, ingress) and the cloud controller and
// autoscaler beside the control plane. The API server of the double is the one that kube/ builds, whatever release it stands for;
// which release it stands for is what the control plane reports, and what kubelets are.
func TestAcceptance(t *testing.T) {
	s := newStage(t)
	s.apply("apiVersion: minos.dev/v1alpha1\nkind: ClusterLocation\nmetadata: {name: acceptance-NS}\nspec: {kubevirt: {namespaces: {}}}\n")
	for name, version := range releases {
		s.apply(strings.NewReplacer("NAME", name, "VERSION", version).Replace(accepted))
	}
	before := map[string][]string{}
	for number, step := range []struct {
		shows string
		holds func(ctx context.Context, name string) error
	}{
		{"the namespace is active", s.namespaceActive},
		{"the control plane is asked for", s.planeAsked},
		{"Kamaji says that it made it", s.planeMade},
		{"it runs the release", s.planeRuns},
		{"the deployment of machines has two", func(ctx context.Context, name string) error {
			return s.deployment(ctx, name, "replicas")
		}},
		{"the machines are the first ones", func(ctx context.Context, name string) (err error) {
			before[name], err = s.identities(ctx, name)
			return err
		}},
		{"the kubeconfig of the contract works", s.kubeconfigWorks},
		{"two Nodes are Ready, with the release's kubelet", s.kubelets},
		{"a Node takes pods", s.schedulable},
		{"the deployment of machines has two that are ready", func(ctx context.Context, name string) error {
			return errors.Join(s.deployment(ctx, name, "readyReplicas"), s.deployment(ctx, name, "upToDateReplicas"))
		}},
		{"cluster and pool are ready", func(ctx context.Context, name string) error {
			return errors.Join(s.clusterIs(ctx, name), s.poolIs(ctx, name+"-md0", 2))
		}},
		{"no machine was made anew", func(ctx context.Context, name string) error {
			now, err := s.identities(ctx, name)
			if err == nil && !slices.Equal(now, before[name]) {
				err = fmt.Errorf("the machines are %v, and were %v", now, before[name])
			}
			return err
		}},
		{"the serial console is logged", s.consoleLogged},
	} {
		passed := t.Run(fmt.Sprintf("%02d %s", number+1, step.shows), func(t *testing.T) {
			stage := *s
			stage.t = t
			for name := range releases {
				stage.eventually(func(ctx context.Context) error { return step.holds(ctx, name) })
			}
		})
		if !passed {
			t.Fatal("what follows needs this")
		}
	}
	s.drained()
}
