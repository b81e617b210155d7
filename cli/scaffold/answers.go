// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"fmt"

	api "minos.dev/minos/api/v1alpha1"
)

// A Profile is a kind of cluster: it answers every question that nobody else answers.
type Profile string

// The profiles.
const (
	Homelab    Profile = "homelab"    // Homelab is a few machines at home.
	Production Profile = "production" // Production is a rack that others depend on.
	Edge       Profile = "edge"       // Edge is one machine, far away.
	Hosted     Profile = "hosted"     // Hosted is a control plane and virtual machines in a management cluster.
)

// The platforms, in the domain's words.
const (
	Metal   = "metal"
	Virtual = "virtual"
	Cloud   = "cloud"
	AtEdge  = "edge"
)

// The ways in which machine configurations are managed.
const (
	ByGit      = "git"
	ByCI       = "ci"
	ByOperator = "operator"
)

// None is the answer of who wants nothing, wherever that is possible.
const None = "none"

// Answers are the ten decisions about a cluster, and what it takes to write them down.
type Answers struct {
	// Profile answers what nobody else did.
	Profile Profile
	// Name is the name of the cluster.
	Name string
	// Talos and Kubernetes are the versions.
	Talos      api.TalosVersion
	Kubernetes api.KubernetesVersion
	// Architecture is that of all machines.
	Architecture api.Architecture

	// Platform is where the machines are.
	Platform string
	// ControlPlanes is how many machines run the control plane, and Workloads whether others' work runs there too.
	ControlPlanes int
	Workloads     bool
	// Planes and Workers are the machines that were named. WithoutWorkers says that there are none on purpose.
	Planes, Workers []Host
	WithoutWorkers  bool
	// Disk is the disk that Talos is installed on.
	Disk string
	// Management is how machine configurations reach machines.
	Management string
	// CNI is the pod network.
	CNI string
	// Storage is what keeps the data of workloads.
	Storage string
	// Extensions are system extensions for hardware and drivers.
	Extensions []string
	// Recipients are the age recipients of the cluster's secrets. Without any, whoever writes the folder finds some.
	Recipients []string
	// Upgrades is how versions move forward.
	Upgrades string
	// Backup is how etcd is saved, and BackupReason why it is not.
	Backup, BackupReason string
	// Endpoint is where the API server is reached, and Link the network link of an address that control planes share.
	Endpoint, Link string
	// Owner and Date are of every decision.
	Owner, Date string

	facts   Facts
	guessed map[string]bool // by the name of the question: nobody said it, and it must be true of the place
}

// Facts are what the shell knows without asking.
type Facts struct {
	// Folder is the name of the folder, after which the cluster is called.
	Folder string
	// Owner is who sits at the keyboard.
	Owner string
	// Date is today's.
	Date string
	// Minos is the version that pipelines should use.
	Minos string
}

// A Host is a machine that exists.
type Host struct {
	Name, Address string
	// Made says that nobody named it: it stands for a machine, and its address has to be changed.
	Made bool
}

// wrong is an error about an answer, which is called as its flag is.
func wrong(answer, format string, args ...any) error {
	return fmt.Errorf("--%s: %w", answer, fmt.Errorf(format, args...))
}

// preset is the answers of the profile.
func (a *Answers) preset() preset { return presets[a.Profile] }

// hosted says whether the control plane runs in a management cluster, which then makes the machines and the secrets too.
func (a *Answers) hosted() bool { return a.Profile == Hosted }

// production says whether others depend on the cluster.
func (a *Answers) production() bool { return a.preset().environment == api.EnvironmentProduction }

// planes are the machines of the control plane: those that were named, or ones that stand for them.
func (a *Answers) planes() []Host {
	switch {
	case a.hosted():
		return nil
	case len(a.Planes) > 0:
		return a.Planes
	}
	return a.made("cp", 11, a.ControlPlanes)
}

// workers are the machines for workloads. Who names control planes and no worker has none.
func (a *Answers) workers() []Host {
	switch {
	case a.hosted() || a.WithoutWorkers:
		return nil
	case len(a.Workers) > 0:
		return a.Workers
	case len(a.Planes) > 0:
		return nil
	}
	return a.made("w", 21, a.preset().workers(a.ControlPlanes))
}

// made are hosts that stand for those that nobody named.
func (a *Answers) made(kind string, from, count int) []Host {
	var hosts []Host
	for i := range count {
		hosts = append(hosts, Host{
			Name:    fmt.Sprintf("%s-%s-%d", a.Name, kind, i+1),
			Address: fmt.Sprintf("%s%d", a.preset().network, from+i),
			Made:    true,
		})
	}
	return hosts
}
