// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
)

// A Need is what some work wants of its machine, by the word that people have for it.
type Need struct {
	// Name is the word, and Means what it stands for.
	Name, Means string

	controlPlane bool          // whether the machine runs the control plane
	gpu          api.GPUVendor // whose driver has to be there
	extensions   []string      // that have to be in the image
}

// Needs are the words, in the order in which a page would list them. The name of an extension that a role of workers has is a word too.
func Needs() []Need {
	return []Need{
		{Name: "control-plane", Means: "the cluster's own control plane, on machines", controlPlane: true},
		{Name: "nvidia", Means: "work on graphics processors of NVIDIA", gpu: api.GPUNVIDIA},
		{Name: "amd", Means: "work on graphics processors of AMD", gpu: api.GPUAMD},
		{Name: "intel", Means: "work on graphics processors of Intel", gpu: api.GPUIntel},
		{Name: "tailscale", Means: "a way from a Tailscale network to pods and services", extensions: []string{"tailscale"}},
		{Name: "linstor", Means: "volumes of LINSTOR, by DRBD", extensions: []string{"drbd"}},
		{Name: "zfs", Means: "file systems of ZFS", extensions: []string{"zfs"}},
		{Name: "spin", Means: "WebAssembly with Spin", extensions: []string{"spin"}},
		{Name: "longhorn", Means: "volumes of Longhorn", extensions: []string{"iscsi-tools", "util-linux-tools"}},
		{Name: "iscsi", Means: "volumes over iSCSI", extensions: []string{"iscsi-tools"}},
		{Name: "ceph", Means: "disks or volumes of Ceph"},
		{Name: "nfs", Means: "volumes over NFS"},
	}
}

// A Recommendation is which roles to take for some needs, and why not the others.
type Recommendation struct {
	// Take are the roles to take: one that has all of it or, if there is none, one for each pool.
	Take []Taken `json:"take"`
	// Leave are the other roles.
	Leave []Left `json:"leave,omitempty"`
}

// A Taken role is one to take.
type Taken struct {
	// Role is the role, and For the needs that it is for.
	Role string   `json:"role"`
	For  []string `json:"for,omitempty"`
	// Because says why it fits, and Asks what it wants of its machines and of who makes the pool.
	Because string   `json:"because"`
	Asks    []string `json:"asks,omitempty"`
}

// A Left role is one not to take, and why.
type Left struct {
	Role    string `json:"role"`
	Because string `json:"because"`
}

// Recommend returns the smallest role that has all that is needed. Where no role has it all, the needs are split: machines of two roles
// are two pools. Without a need it is the smallest role of all.
func (r Roles) Recommend(words ...string) (Recommendation, error) {
	roles, err := r.resolved()
	if err != nil {
		return Recommendation{}, err
	}
	needs, err := needsOf(roles, words)
	if err != nil {
		return Recommendation{}, err
	}
	chosen := map[string][]Need{}
	for _, pool := range split(roles, needs) {
		role := smallest(roles, pool)
		if role == nil {
			return Recommendation{}, fmt.Errorf("no role has what %q needs: declare one that has", pool[0].Name)
		}
		chosen[role.Name] = pool
	}
	return explain(roles, needs, chosen), nil
}

// split puts needs together as long as one role has them all. What no role has stays alone.
func split(roles []*api.NodeRole, needs []Need) [][]Need {
	if smallest(roles, needs) != nil {
		return [][]Need{needs}
	}
	var pools [][]Need
	for _, need := range needs {
		at := slices.IndexFunc(pools, func(pool []Need) bool { return smallest(roles, append(slices.Clone(pool), need)) != nil })
		if at < 0 {
			pools = append(pools, []Need{need})
			continue
		}
		pools[at] = append(pools[at], need)
	}
	return pools
}

// resolved are all roles with what they extend, by name.
func (r Roles) resolved() ([]*api.NodeRole, error) {
	var all []*api.NodeRole
	for _, name := range r.Names() {
		role, err := r.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		all = append(all, role)
	}
	return all, nil
}

// needsOf reads words, each once.
func needsOf(roles []*api.NodeRole, words []string) ([]Need, error) {
	known := Needs()
	for _, role := range roles {
		if role.Spec.Hardware != nil || role.Spec.MachineType != api.MachineWorker {
			continue // its extensions are of no use without the hardware, which has a word of its own
		}
		for _, name := range extensionsOf(role) {
			if !slices.ContainsFunc(known, func(need Need) bool { return need.Name == name }) {
				known = append(known, Need{Name: name, extensions: []string{name}})
			}
		}
	}
	var found []Need
	for _, word := range words {
		at := slices.IndexFunc(known, func(need Need) bool { return need.Name == strings.ToLower(word) })
		if at < 0 {
			return nil, unknownNeed(word, known)
		}
		if !slices.ContainsFunc(found, func(need Need) bool { return need.Name == known[at].Name }) {
			found = append(found, known[at])
		}
	}
	return found, nil
}

// unknownNeed says of a word that it is none, and which there are.
func unknownNeed(word string, known []Need) error {
	var names, common []string
	for _, need := range known {
		names = append(names, need.Name)
		if need.Means != "" {
			common = append(common, need.Name)
		}
	}
	if hint := nearest.Hint(word, names); hint != "" {
		return fmt.Errorf("%q is no need that is known%s", word, hint)
	}
	return fmt.Errorf("%q is no need that is known: it is one of %s, or an extension of a role", word, strings.Join(common, ", "))
}

// smallest is the role that has all that is needed and the least beside it; nil if none has it.
func smallest(roles []*api.NodeRole, needs []Need) *api.NodeRole {
	var fitting []*api.NodeRole
	for _, role := range roles {
		if missing(role, needs) == "" {
			fitting = append(fitting, role)
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	return slices.MinFunc(fitting, func(a, b *api.NodeRole) int {
		return cmp.Compare(len(beside(a, needs)), len(beside(b, needs)))
	})
}
