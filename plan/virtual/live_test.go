// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
)

// read reads a story: objects of all kinds, each in its own document.
func read(t *testing.T, story string) virtual.Live {
	t.Helper()
	var live virtual.Live
	for _, document := range strings.Split(story, "---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		switch object.GetKind() {
		case "MachineDeployment":
			live.Deployment = &object
		case "MachineSet":
			live.Sets = append(live.Sets, object)
		case "Machine":
			live.Machines = append(live.Machines, object)
		case "KubevirtMachine":
			live.Virtual = append(live.Virtual, object)
		}
	}
	return live
}

// deployment is the pool as it should be.
const deployment = `
kind: MachineDeployment
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers, generation: 3}
spec: {replicas: 4, template: {spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-2}}}}
status: {observedGeneration: 3}
`

// rolling is a pool in the middle of a roll-out.
const rolling = deployment + `---
kind: MachineSet
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-a}
spec: {replicas: 0, template: {spec: {bootstrap: {dataSecretName: workers-older}, infrastructureRef: {name: workers-0}}}}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-a-1}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-old}, infrastructureRef: {name: workers-a-1}}
status: {nodeRef: {name: workers-a-1}, conditions: [{type: BootstrapConfigReady, status: "True"}, {type: InfrastructureReady, status: "True"}, {type: NodeReady, status: "True"}]}
---
kind: KubevirtMachine
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
metadata: {name: workers-a-1, annotations: {cluster.x-k8s.io/cloned-from-name: workers-1}}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-b-1}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-b-1}}
status: {nodeRef: {name: workers-b-1}, conditions: [{type: BootstrapConfigReady, status: "True"}, {type: InfrastructureReady, status: "True"}, {type: NodeReady, status: "True"}]}
---
kind: KubevirtMachine
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
metadata: {name: workers-b-1, annotations: {cluster.x-k8s.io/cloned-from-name: workers-2}}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-b-2}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-b-2}}
status: {conditions: [{type: BootstrapConfigReady, status: "True"}, {type: InfrastructureReady, status: "False", message: "waits"}]}
---
kind: KubevirtMachine
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
metadata: {name: workers-b-2, annotations: {cluster.x-k8s.io/cloned-from-name: workers-2}}
status: {conditions: [{type: VMProvisioned, status: "False", message: "exceeded quota for workers-b-2"}]}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-b-3}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-b-3}}
status: {conditions: [{type: BootstrapConfigReady, status: "True"}, {type: InfrastructureReady, status: "True"}, {type: NodeReady, status: "Unknown"}]}
---
kind: KubevirtMachine
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
metadata: {name: workers-b-3, annotations: {cluster.x-k8s.io/cloned-from-name: workers-2}}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-b-4}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-b-4}}
status:
  nodeRef: {name: workers-b-4}
  conditions:
  - {type: BootstrapConfigReady, status: "True"}
  - {type: InfrastructureReady, status: "True"}
  - {type: NodeReady, status: "False", message: "* Node.Ready: the network of workers-b-4 is not ready\n* more"}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-a-2, deletionTimestamp: "2026-11-15T09:00:00Z"}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-old}, infrastructureRef: {name: workers-a-2}}
status: {conditions: [{type: Deleting, status: "True", message: "Drain not completed yet"}]}
---
kind: Machine
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: workers-b-5}
spec: {version: v1.35.2, bootstrap: {dataSecretName: workers-new}, infrastructureRef: {name: workers-b-5}}
status: {conditions: [{type: HealthCheckSucceeded, status: "False", message: "Health check failed: no Node in time"}]}
`

func TestSeen(t *testing.T) {
	want := pool.Seen{Desired: 4, Replicas: 7, Ready: 2, UpToDate: 3, Passing: 3, Machines: []pool.Machine{
		{Name: "workers-a-1", Ready: true},
		{Name: "workers-b-1", Ready: true},
		{Name: "workers-b-2", Waits: "its virtual machine", Why: "exceeded quota for the machine"},
		{Name: "workers-b-3", Waits: "its Node", Why: "the virtual machine runs and has not joined yet; its console says how far it is"},
		{Name: "workers-b-4", Waits: "its Node", Why: "Node.Ready: the network of the machine is not ready, more"},
		{Name: "workers-a-2", Waits: "its end", Why: "Drain not completed yet"},
		{Name: "workers-b-5", Failed: true, Waits: "its replacement", Why: "Health check failed: no Node in time"},
	}}
	if diff := gocmp.Diff(want, read(t, rolling).Seen()); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(pool.Seen{}, virtual.Live{}.Seen()); diff != "" {
		t.Error(diff)
	}
}

func TestUnused(t *testing.T) {
	live := read(t, rolling)
	templates := []string{"workers-2", "workers-1", "workers-0", "workers-x", "workers-2x"}
	// A set without machines could still make one; a machine that goes away may still need its template.
	if got := live.Unused(templates); !slices.Equal(got, []string{"workers-2x", "workers-x"}) {
		t.Errorf("templates %v", got)
	}
	if got := live.UnusedRevisions([]string{"workers-new", "workers-old", "workers-older", "workers-gone"}); !slices.Equal(got, []string{"workers-gone"}) {
		t.Errorf("revisions %v", got)
	}
	adopted := read(t, strings.ReplaceAll(deployment, "dataSecretName: workers-new", "configRef: {name: workers-new}"))
	if got := adopted.UnusedRevisions([]string{"workers-new", "workers-gone"}); !slices.Equal(got, []string{"workers-gone"}) {
		t.Errorf("revisions of a TalosConfigTemplate %v", got)
	}
	if !live.Settled() || live.Uniform("workers-2") {
		t.Error("Cluster API has seen it, and an old set is there")
	}
	live.Deployment.SetGeneration(4)
	if live.Settled() {
		t.Error("Cluster API has not seen the newest generation")
	}
}

func TestRolls(t *testing.T) {
	live := read(t, deployment)
	tests := map[string]struct{ from, to, want string }{
		"nothing":       {"", "", ""},
		"more machines": {"replicas: 4", "replicas: 5", ""},
		"a template":    {"workers-2", "workers-3", "machines are replaced within the limits of rollout, because the machine is another: workers-3 instead of workers-2"},
		"a revision":    {"workers-new", "workers-newer", "machines are replaced within the limits of rollout, because the configuration is another: workers-newer instead of workers-new"},
		"a version":     {"v1.35.2", "v1.36.0", "machines are replaced within the limits of rollout, because the Kubernetes version is another: v1.36.0 instead of v1.35.2"},
	}
	for name, test := range tests {
		wanted := read(t, strings.Replace(deployment, test.from, test.to, 1)).Deployment
		if diff := gocmp.Diff(test.want, live.Rolls(wanted)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestWith keeps the number of machines that the autoscaler chose.
func TestWith(t *testing.T) {
	live := read(t, deployment)
	wanted := objects(t, input(t, "shop-general")).Deployment
	if got := live.With(wanted); got.Desired() != 4 || !got.Autoscaled() || live.Autoscaled() {
		t.Errorf("%d machines, autoscaled %v", got.Desired(), got.Autoscaled())
	}
	fixed := objects(t, input(t, "shop-gateway")).Deployment
	if got := live.With(fixed); got.Desired() != 1 || !got.Settled() {
		t.Errorf("%d machines", got.Desired())
	}
}
