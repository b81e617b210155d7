// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"fmt"
	"time"
)

// A Snapshot is what was seen at about the same time. Instances are looked at before machines, and machines before pools, so that
// what is let go in that order is not missed.
type Snapshot struct {
	// At is when, since the soak began.
	At        time.Duration
	Clusters  []Cluster
	Pools     []Pool
	Machines  []Machine
	Instances []Instance
	Nodes     []Node
	Secrets   []Secret
	// Unseen are the clusters whose API server was not asked or did not answer: nothing is known of their Nodes.
	Unseen []string
	// Going are the MachineDeployments that are being deleted, by cluster and pool: their machines will go, and may not know it yet.
	Going []string
}

// A Cluster is a TalosCluster.
type Cluster struct {
	Name     string
	Deleting bool
	// Ready says that it is, for what it declares now; Says is its reason and message.
	Ready bool
	Says  string
}

// A Pool is a NodePool.
type Pool struct {
	Cluster, Name string
	// Identity tells it from one of the same name before.
	Identity string
	// Exclusive says that a cluster has one machine of its role at most.
	Exclusive bool
	Revision  string
	// Desired is how many machines are declared. Surge, Unavailable and Unhealthy are its budgets.
	Desired, Surge, Unavailable, Unhealthy int
	Deleting                               bool
	// Ready says that it is, for what it declares now, with as many machines of the newest revision as are declared. Denied says
	// that another pool has its role. Says is its reason and message.
	Ready, Denied bool
	Says          string
	// Label is what its Nodes should be labelled with.
	Label string
}

// A Machine is a TalosMachine, or a Machine of Cluster API.
type Machine struct {
	Cluster, Pool, Name string
	// Identity tells it from one of the same name before.
	Identity string
	// Instance is what its instance is called, as a Node says it; empty if it has none.
	Instance string
	// Available says that it does its work, Deleting that it is on its way out, Kept that it failed and is kept for study, and
	// Unhealthy that it counts as failed.
	Available, Deleting, Kept, Unhealthy bool
	// Virtual says that it is Cluster API's, which does not count a machine on its way out when it makes another.
	Virtual bool
}

// An Instance is what a place has.
type Instance struct {
	// Name is that of its machine, which is given once.
	Place, Name string
	// ID is what it is called, as a Node says it.
	ID string
	// Ending says that the place is removing it.
	Ending bool
}

// A Node is one of a tenant.
type Node struct {
	Cluster, Name string
	// Instance is what it says of its place; empty if it says nothing.
	Instance string
	Ready    bool
	// Label is what it is labelled with.
	Label string
}

// A Secret is one that is written once.
type Secret struct {
	Cluster, Name string
	// Owner is the identity of what it was made for: a cluster or a pool of the same name later has another.
	Owner string
	// Sum stands for what it holds.
	Sum string
}

// A Violation is something that must never be.
type Violation struct {
	// Invariant is what must hold, and Evidence what was seen instead.
	Invariant string `json:"invariant"`
	Evidence  string `json:"evidence"`
}

// The invariants.
const (
	Budgets   = "budgets are never exceeded"
	Gateways  = "a cluster never has two gateways"
	Once      = "an instance is made once for a machine"
	Unchanged = "no secret changes"
	Orphans   = "no instance is left without a machine"
	Homeless  = "no Node is left without an instance"
	Secrecy   = "no token and no private key is written anywhere"
	Converges = "everything comes to be as declared"
	Removed   = "nothing is left of what was removed"
)

// All are all of them.
func All() []string {
	return []string{Budgets, Gateways, Once, Unchanged, Orphans, Homeless, Secrecy, Converges, Removed}
}

// String is it in one line.
func (v Violation) String() string { return v.Invariant + ": " + v.Evidence }

// violation says that something is wrong.
func violation(invariant, format string, args ...any) Violation {
	return Violation{Invariant: invariant, Evidence: fmt.Sprintf(format, args...)}
}

// key is what a pool is called.
func (p Pool) key() string { return p.Cluster + "/" + p.Name }

// in says whether a machine is one of a pool.
func (m Machine) in(pool Pool) bool {
	return m.Cluster == pool.Cluster && m.Pool == pool.Name && !m.Kept
}
