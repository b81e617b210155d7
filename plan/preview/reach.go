// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/plan/pool"
	"minos.dev/minos/plan/virtual"
	"minos.dev/minos/talos/fleet"
)

// A depth is how far a change goes.
type depth int

// How far a change can go.
const (
	nothing depth = iota // no machine notices
	live                 // machines are changed while they run
	replace              // machines are replaced
)

// A target is what the plans make of a state.
type target struct {
	configured pool.Configured
	objects    virtual.Objects
	isVirtual  bool
}

// reach says how far it goes from one state to another: by the names that the plans give to what rolls machines.
func reach(before, after State) (depth, error) {
	was, err := before.target()
	if err != nil {
		return nothing, nil // machines are of some state before this one, which nobody knows here
	}
	is, err := after.target()
	if err != nil {
		return nothing, fmt.Errorf("machines stay as they are: %s", strings.TrimPrefix(err.Error(), "pool "+after.Pool.Name+": "))
	}
	switch {
	case is.isVirtual != was.isVirtual:
		return nothing, nil // it cannot be changed, which is told of elsewhere
	case is.isVirtual && (virtual.Live{Deployment: was.objects.Deployment}).Rolls(is.objects.Deployment) != "":
		return replace, nil
	case !is.isVirtual && was.configured.Rolls != is.configured.Rolls:
		return replace, nil
	case was.configured.Whole != is.configured.Whole:
		return live, nil
	}
	return nothing, nil
}

// target asks the plans.
func (s State) target() (target, error) {
	whole, err := s.fleet()
	if err != nil {
		return target{}, err
	}
	role, err := whole.Role(s.Pool)
	if err != nil {
		return target{}, err
	}
	booted, err := pool.Image(s.Cluster, s.Pool, role)
	if err != nil {
		return target{}, err
	}
	with, err := fleet.Placeholders(role)
	if err != nil {
		return target{}, err
	}
	made := target{isVirtual: s.Pool.Spec.Machine.KubeVirt != nil}
	if made.configured, err = pool.Configure(whole, s.Pool, booted, with); err != nil || !made.isVirtual {
		return made, err
	}
	made.objects, err = virtual.For(virtual.Input{
		Cluster: s.Cluster, Pool: s.Pool, Role: role, Location: s.Location, Revision: names.Revision(s.Pool, made.configured.Revision),
		Configuration: made.configured.Text, Budget: pool.BudgetOf(s.Cluster, s.Pool, role),
	})
	return made, err
}

// fleet is the state as a whole.
func (s State) fleet() (*fleet.Fleet, error) {
	objects := []load.Object{s.Cluster, s.Pool}
	for at := range s.Roles {
		objects = append(objects, &s.Roles[at])
	}
	meta := metav1.ObjectMeta{Name: string(s.Pool.Spec.LocationRef.Name)}
	if s.Pool.Spec.LocationRef.Kind == api.KindClusterLocation {
		return fleet.New(append(objects, &api.ClusterLocation{ObjectMeta: meta, Spec: s.Location}))
	}
	meta.Namespace = s.Pool.Namespace
	return fleet.New(append(objects, &api.Location{ObjectMeta: meta, Spec: s.Location}))
}

// role is the pool's, with what it extends folded in.
func (s State) role() (*api.NodeRole, error) {
	whole, err := s.fleet()
	if err != nil {
		return nil, err
	}
	return whole.Role(s.Pool)
}

// now is a state with the versions that machines have: kubelets those of the API server as long as it has not followed.
func (s State) now() State {
	if kubelet, _, err := pool.Kubelet(s.Cluster); err == nil {
		return s.settled(kubelet)
	}
	return s
}

// ahead is a state as it will be: another version is waited for until the API server runs it. One that was wanted before is not
// this change's doing.
func (s State) ahead(before State) State {
	if s.Cluster.Spec.KubernetesVersion != before.Cluster.Spec.KubernetesVersion {
		return s.settled(s.Cluster.Spec.KubernetesVersion)
	}
	return s.now()
}

// settled is a state with the versions that its machines get. Where there are none, nothing is foretold of them.
func (s State) settled(kubelet api.KubernetesVersion) State {
	s.Cluster = s.Cluster.DeepCopy()
	if found := pool.Settle(s.Cluster, kubelet, s.Pool); found.Talos != "" {
		s.Cluster.Spec.TalosVersion, kubelet = found.Talos, found.Kubernetes
	}
	s.Cluster.Spec.KubernetesVersion = kubelet
	return s
}

// ControlPlane foretells the versions that a hosted control plane goes through when its cluster changes, and why it does not get
// to what is wanted.
func ControlPlane(before, after *api.TalosCluster) (through []api.KubernetesVersion, held string) {
	if after.Spec.ControlPlane.Kamaji == nil || before.Spec.KubernetesVersion == after.Spec.KubernetesVersion {
		return nil, ""
	}
	runs, _, err := pool.Kubelet(before)
	if err != nil {
		runs = before.Spec.KubernetesVersion
	}
	for range 100 { // no two releases are that far apart
		next, why, err := hosted.Next(hosted.Versions{Asked: string(runs), Runs: string(runs), Wanted: after.Spec.KubernetesVersion})
		if err != nil || next == runs {
			return through, why.Why
		}
		through, runs = append(through, next), next
	}
	return through, ""
}

// times is how often machines are replaced: once for each version of the kubelet on the way.
func times(before, after State) int {
	through, _ := ControlPlane(before.Cluster, after.Cluster)
	return max(len(through), 1)
}

// impossible is what a change asks for and does not get.
func impossible(before, after State) []string {
	if before.Cluster == nil || after.Cluster == nil {
		return nil
	}
	if _, held := ControlPlane(before.Cluster, after.Cluster); held != "" {
		return []string{fmt.Sprintf("kubernetesVersion of TalosCluster %s: %s", after.Cluster.Name, held)}
	}
	if found := pool.Settle(after.Cluster, after.Cluster.Spec.KubernetesVersion, after.Pool); found.Refusal != nil && brings(before, after) {
		return []string{found.Refusal.Message}
	}
	return nil
}

// brings says whether a change brings a pool together with versions: either is new.
func brings(before, after State) bool {
	was, is := before.Cluster.Spec, after.Cluster.Spec
	return before.Pool == nil || was.TalosVersion != is.TalosVersion || was.KubernetesVersion != is.KubernetesVersion
}
