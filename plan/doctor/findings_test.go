// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

func TestFindings(t *testing.T) {
	waiting, falsely := api.ReasonWaiting, metav1.ConditionFalse
	pool := func(c ...metav1.Condition) func(*Seen) {
		return func(s *Seen) { s.Pools[0].Status.Conditions = but(s.Pools[0].Status.Conditions, c...) }
	}
	cluster := func(c ...metav1.Condition) func(*Seen) {
		return func(s *Seen) { s.Clusters[0].Status.Conditions = but(s.Clusters[0].Status.Conditions, c...) }
	}
	machine := func(step, message string, which ...int) func(*Seen) {
		return func(s *Seen) { waitingFor(s, condition(step, falsely, waiting, message), which...) }
	}
	tests := map[string]struct {
		change func(*Seen)
		want   []string
		look   []string // each is a part of what to look at
	}{
		"all is well": {change: func(*Seen) {}},
		"nobody has looked yet": {
			change: func(s *Seen) {
				s.Pools[0].Status, s.Pools[0].CreationTimestamp, s.Machines = api.NodePoolStatus{}, ago(20*time.Second), nil
			},
			want: []string{"Waiting NodePool/workers Ready/NotYetKnown: it is new, and has not been looked at yet"},
		},
		"nobody looks": {
			change: func(s *Seen) { s.Pools[0].Status, s.Machines = api.NodePoolStatus{}, nil },
			want:   []string{"Problem NodePool/workers Ready/NotYetKnown: nobody has ever looked at it: the operator does not run, or may not read it"},
			look:   []string{"grep minos-operator"},
		},
		"an older spec": {
			change: func(s *Seen) { s.Clusters[0].Generation = 2 },
			want:   []string{"Waiting TalosCluster/shop Ready/NotYetKnown: the newest change of the spec has not been looked at yet"},
		},
		"no such cluster, and one that is near": {
			change: func(s *Seen) {
				s.Pools[0].Spec.ClusterName = "shp"
				pool(condition(api.ConditionClusterReady, falsely, api.ReasonNotFound, "cluster shp does not exist"))(s)
			},
			want: []string{`Problem NodePool/workers ClusterReady/NotFound: there is no TalosCluster "shp" in namespace "acme", did you mean "shop"?`},
			look: []string{"minos cluster list -n acme"},
		},
		"no such cluster, and none near": {
			change: func(s *Seen) {
				s.Clusters = nil
				pool(condition(api.ConditionClusterReady, falsely, api.ReasonNotFound, ""))(s)
			},
			want: []string{`Problem NodePool/workers ClusterReady/NotFound: there is no TalosCluster "shop" in namespace "acme": the pool goes on by itself when it comes`},
		},
		"a pool that waits for its cluster says so once": {
			change: pool(condition(api.ConditionClusterReady, falsely, waiting, "the control plane is not ready"),
				condition(api.ConditionMachinesReady, falsely, waiting, "no machines yet")),
			want: []string{"Waiting NodePool/workers ClusterReady/Waiting: the control plane is not ready"},
			look: []string{"minos doctor shop -n acme"},
		},
		"no room": {
			change: pool(condition(api.ConditionMachinesReady, falsely, api.ReasonNoCapacity, "1 machine finds no room")),
			want: []string{"Problem NodePool/workers MachinesReady/NoCapacity: 1 machine finds no room " +
				"(limits of ClusterLocation hall: 2 a namespace; instance types s, m)"},
			look: []string{"kubectl describe clusterlocation hall", "kubectl -n acme get talosmachines -l minos.dev/pool=workers"},
		},
		"a place that refuses the namespace": {
			change: pool(condition(api.ConditionLocationReady, falsely, api.ReasonDenied, "the place is not for this namespace")),
			want:   []string{"Problem NodePool/workers LocationReady/Denied: the place is not for this namespace"},
			look:   []string{"who set the policy", "kubectl get namespace acme --show-labels"},
		},
		"a place that does not answer": {
			change: func(s *Seen) {
				s.ClusterLocations[0].Status.Conditions = []metav1.Condition{condition(api.ConditionReachable, metav1.ConditionUnknown, api.ReasonUnreadable, "no answer")}
			},
			want: []string{"Problem ClusterLocation/hall Reachable/Unreadable: no answer"},
		},
		"a place that nobody has looked at": {
			change: func(s *Seen) { s.ClusterLocations[0].Status = api.LocationStatus{} },
		},
		"the control plane": {
			change: cluster(condition(api.ConditionControlPlaneReady, falsely, waiting, "0 of 2 replicas")),
			want:   []string{"Waiting TalosCluster/shop ControlPlaneReady/Waiting: 0 of 2 replicas"},
			look:   []string{"kubectl -n acme describe kamajicontrolplane shop"},
		},
		"a control plane elsewhere": {
			change: func(s *Seen) {
				s.Clusters[0].Spec.ControlPlane = api.ControlPlane{External: &api.ExternalControlPlane{KubeconfigSecretRef: api.SecretKeyReference{Name: "admin", Key: "conf"}}}
				cluster(condition(api.ConditionControlPlaneReady, falsely, api.ReasonFailed, "no answer"))(s)
			},
			want: []string{"Problem TalosCluster/shop ControlPlaneReady/Failed: no answer"},
			look: []string{"kubectl -n acme get secret admin", "in its key conf reach the API server at shop.example.com"},
		},
		"trustd is not reachable": {
			change: machine(api.ConditionCertificateIssued, "no answer from 192.0.2.1:50001", 0, 1),
			want: []string{"Waiting NodePool/workers[workers-a workers-b] CertificateIssued/Waiting: " +
				"2 of 2 machines wait for trustd: no answer from 192.0.2.1:50001"},
			look: []string{"nc -vz shop.example.com 50001", "kubectl -n acme logs deployment/shop -c minos-signer"},
		},
		"one machine at each of two steps": {
			change: func(s *Seen) {
				machine(api.ConditionServicesRunning, "ext-tailscale waits for its configuration", 0)(s)
				machine(api.ConditionKubeletAuthorized, "", 1)(s)
			},
			want: []string{
				"Waiting NodePool/workers[workers-b] KubeletAuthorized/Waiting: 1 of 2 machines waits for the kubelet's certificate: nothing has been seen of it yet",
				"Waiting NodePool/workers[workers-a] ServicesRunning/Waiting: 1 of 2 machines waits for extension services: ext-tailscale waits for its configuration",
			},
			look: []string{
				"kubectl -n acme get secret workers-join", "annotation minos.dev/active-until", "talosctl --talosconfig shop.talosconfig -n 192.0.2.7 services",
				"minos role show compute --resolved",
			},
		},
		"a machine that takes too long": {
			change: func(s *Seen) {
				machine(api.ConditionNetworkReady, "cni plugin not initialized", 0)(s)
				s.Clusters[0].Spec.CNI = &api.CNI{Provider: api.CNICilium}
				conditions := s.Machines[0].Status.Conditions
				conditions[len(conditions)-1].LastTransitionTime = ago(21 * time.Minute)
			},
			want: []string{"Problem NodePool/workers[workers-a] NetworkReady/Waiting: 1 of 2 machines waits for the pod network: cni plugin not initialized"},
			look: []string{"spec.nodeName=workers-a", "is Cilium installed in the cluster?"},
		},
		"a machine within the pool's own patience": {
			change: func(s *Seen) {
				seconds := int32(3600)
				s.Pools[0].Spec.Health = &api.Health{StartupTimeoutSeconds: &seconds}
				machine(api.ConditionNodeRegistered, "no Node yet", 0)(s)
				conditions := s.Machines[0].Status.Conditions
				conditions[len(conditions)-1].LastTransitionTime = ago(21 * time.Minute)
			},
			want: []string{"Waiting NodePool/workers[workers-a] NodeRegistered/Waiting: 1 of 2 machines waits for the Node: no Node yet"},
		},
		"a machine beside a pool that serves is a note": {
			change: func(s *Seen) {
				s.Machines[0].Status.Conditions = nil
				s.Machines[0].CreationTimestamp = ago(time.Minute)
			},
			want: []string{"Note NodePool/workers[workers-a] InstanceReady/NotYetKnown: 1 of 2 machines waits for the place to start the instance: nothing has been seen of it yet"},
		},
		"machines of Cluster API": {
			change: func(s *Seen) {
				s.Machines = nil
				s.Pools[0].Spec.Machine = api.Machine{KubeVirt: &api.KubeVirtMachine{}}
				pool(condition(api.ConditionCertificateIssued, falsely, waiting, "2 of 2 machines wait for trustd"),
					condition(api.ConditionMachinesReady, falsely, waiting, "0 of 2"))(s)
			},
			want: []string{"Waiting NodePool/workers CertificateIssued/Waiting: 2 of 2 machines wait for trustd"},
			look: []string{"nc -vz shop.example.com 50001"},
		},
		"a roll-out": {
			change: func(s *Seen) {
				s.Pools[0].Status.Conditions = append(s.Pools[0].Status.Conditions, condition(api.ConditionUpToDate, falsely, api.ReasonProgressing, "1 of 2"))
			},
			want: []string{"Note NodePool/workers UpToDate/Progressing: 1 of 2"},
		},
		"it goes": {
			change: func(s *Seen) {
				gone := ago(time.Minute)
				s.Pools[0].DeletionTimestamp, s.Pools[0].Finalizers, s.Machines = &gone, []string{"minos.dev/clean-up"}, nil
			},
			want: []string{"Waiting NodePool/workers Deleting/Deleting: it is being deleted; held by minos.dev/clean-up"},
			look: []string{"kubectl -n acme get talosmachines -l minos.dev/pool=workers"},
		},
		"it does not go": {
			change: func(s *Seen) {
				gone := ago(time.Hour)
				s.Clusters[0].DeletionTimestamp = &gone
				s.Clusters[0].Status.Conditions = []metav1.Condition{condition(api.ConditionReady, falsely, api.ReasonDeleting, "pool workers remains")}
			},
			want: []string{"Problem TalosCluster/shop Deleting/Deleting: it is being deleted: pool workers remains"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			seen := healthy()
			test.change(&seen)
			found := Findings(seen, now)
			var lines, looks []string
			for _, finding := range found {
				lines = append(lines, short(finding))
				looks = append(looks, finding.Look...)
			}
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, part := range test.look {
				if !slices.ContainsFunc(looks, func(line string) bool { return strings.Contains(line, part) }) {
					t.Errorf("nothing to look at has %q:\n%s", part, strings.Join(looks, "\n"))
				}
			}
		})
	}
}
