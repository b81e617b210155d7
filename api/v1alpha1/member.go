// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Member is the name of the member of a union that is set, as people write it.
type Member string

// The kinds of places, and so of machines. A pool's machine and its location must have the same.
const (
	MemberKubeVirt Member = "kubevirt"
	MemberMetal    Member = "metal"
	MemberSim      Member = "sim"
)

// Member returns the member that is set, or nothing.
func (m Machine) Member() Member {
	switch {
	case m.KubeVirt != nil:
		return MemberKubeVirt
	case m.Metal != nil:
		return MemberMetal
	case m.Sim != nil:
		return MemberSim
	}
	return ""
}

// Member returns the member that is set, or nothing.
func (s LocationSpec) Member() Member {
	switch {
	case s.KubeVirt != nil:
		return MemberKubeVirt
	case s.Metal != nil:
		return MemberMetal
	case s.Sim != nil:
		return MemberSim
	}
	return ""
}

// Place returns what every kind of place has.
func (s LocationSpec) Place() Place {
	switch {
	case s.KubeVirt != nil:
		return s.KubeVirt.Place
	case s.Metal != nil:
		return s.Metal.Place
	case s.Sim != nil:
		return s.Sim.Place
	}
	return Place{}
}
