// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"errors"
	"strings"

	"github.com/blang/semver/v4"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/talos"
)

// skew is how many minor versions a kubelet may be older than the API server.
const skew = 3

// planes are the versions of Kubernetes that the control plane runs or ran: by a note, by the state before, by what the operator saw;
// or, if nothing of that is there, by the newest kubelet, than which it cannot be older.
func (m *move) planes(before *api.TalosCluster) []semver.Version {
	var texts []string
	texts = append(texts, m.cluster.Notes[facts.NoteKubernetesFrom])
	if before != nil {
		texts = append(texts, string(before.Spec.KubernetesVersion))
	}
	if m.cluster.Object != nil {
		texts = append(texts, string(m.cluster.Object.Status.KubernetesVersion))
	}
	var found []semver.Version
	for _, text := range texts {
		if version, err := parse(text); err == nil {
			found = append(found, version)
		}
	}
	if kubelets := m.kubelets(); len(found) == 0 && len(kubelets) > 0 {
		found = kubelets[len(kubelets)-1:]
	}
	return distinct(found)
}

// kubelets are the versions of kubelets that run, the oldest first.
func (m *move) kubelets() []semver.Version {
	var found []semver.Version
	for _, one := range m.running {
		if version, err := parse(one.Kubernetes); err == nil {
			found = append(found, version)
		}
	}
	return distinct(found)
}

// supported wants every Talos on the way to run the Kubernetes that runs there.
func supported(all *facts.Facts, sheet *rule.Sheet) {
	for _, m := range movesOf(all) {
		wanted, err := parse(m.cluster.KubernetesVersion())
		if err != nil {
			sheet.Unknown(m.place(), "which Kubernetes cluster %s should have is not known", m.cluster.Title())
			continue
		}
		if m.unknown != "" {
			m.ends(sheet, wanted)
			continue
		}
		now := m.planes(all.Earlier(m.cluster))
		if len(now) == 0 {
			now = []semver.Version{wanted}
		}
		if len(m.routes) == 0 && now[0].NE(wanted) {
			m.routes = [][]semver.Version{{m.target}}
		}
		for _, route := range m.routes {
			for _, version := range now {
				m.inSomeOrder(sheet, route, version, wanted)
			}
		}
	}
}

// ends judges only what is wanted, where what is now is not known.
func (m *move) ends(sheet *rule.Sheet, wanted semver.Version) {
	unsupported := &talos.UnsupportedError{}
	if err := runs(wanted, m.target); m.target.Major > 0 && errors.As(err, &unsupported) && unsupported.Newest > 0 {
		sheet.Fail(m.place(), "cluster %s: %v", m.cluster.Title(), err)
		return
	}
	sheet.Unknown(m.place(), "%s", m.unknown)
}

// inSomeOrder wants one upgrade or the other to be possible first: Talos with the Kubernetes that runs now, or Kubernetes with the
// Talos that runs now.
func (m *move) inSomeOrder(sheet *rule.Sheet, route []semver.Version, now, wanted semver.Version) {
	first := errors.Join(runs(now, route...), runs(wanted, m.target))
	second := runs(wanted, route...)
	switch {
	case first == nil || second == nil:
		sheet.Pass(m.place())
	case unsure(first):
		sheet.Unknown(m.place(), "cluster %s: %s", m.cluster.Title(), line(first))
	case now.EQ(wanted):
		sheet.Fail(m.place(), "cluster %s: %s", m.cluster.Title(), line(first))
	default:
		sheet.Fail(m.place(), "cluster %s: neither Talos nor Kubernetes can be upgraded first: %s, and %s", m.cluster.Title(), line(first), line(second))
	}
}

// runs says which of some versions of Talos does not run a Kubernetes; nil if all do.
func runs(kubernetes semver.Version, route ...semver.Version) error {
	for _, version := range route {
		if err := talos.Supports(api.TalosVersion(show(version)), api.KubernetesVersion(show(kubernetes))); err != nil {
			return err
		}
	}
	return nil
}

// unsure says whether nothing is known, rather than known to be wrong.
func unsure(err error) bool {
	unsupported := &talos.UnsupportedError{}
	return !errors.As(err, &unsupported) || unsupported.Newest == 0
}

// line is the first line of an error.
func line(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// gradual wants Kubernetes to move by one minor version, and kubelets to stay near.
func gradual(all *facts.Facts, sheet *rule.Sheet) {
	for _, m := range movesOf(all) {
		place := m.cluster.At("spec.kubernetesVersion")
		strayed := m.strayed(sheet)
		wanted, err := parse(m.cluster.KubernetesVersion())
		now := m.planes(all.Earlier(m.cluster))
		switch {
		case strayed:
		case err != nil:
			sheet.Unknown(place, "which Kubernetes cluster %s should have is not known", m.cluster.Title())
		case len(now) == 0:
			sheet.Unknown(place, "which Kubernetes cluster %s runs now is not known: note it as check.minos.dev/kubernetes-from, give the state before, or save what runs", m.cluster.Title())
		default:
			m.step(sheet, place, now, wanted)
		}
	}
}

// step judges the change of the control plane, and what its kubelets would be to it.
func (m *move) step(sheet *rule.Sheet, place facts.Place, now []semver.Version, wanted semver.Version) {
	oldest := now[0]
	if kubelets := m.kubelets(); len(kubelets) > 0 {
		oldest = kubelets[0]
	}
	switch step := far(now[0], wanted); {
	case step > 1:
		sheet.Fail(place, "cluster %s goes from Kubernetes %s to %s at once: it moves one minor version at a time", m.cluster.Title(), show(now[0]), show(wanted))
	case far(now[len(now)-1], wanted) < 0:
		sheet.Fail(place, "cluster %s goes from Kubernetes %s back to %s: what newer versions stored, older ones do not read", m.cluster.Title(), show(now[len(now)-1]), show(wanted))
	case far(oldest, wanted) > skew:
		sheet.Fail(place, "a kubelet of cluster %s is of %s, more than %d minor versions older than %s", m.cluster.Title(), show(oldest), skew, show(wanted))
	default:
		sheet.Pass(place)
	}
}

// strayed finds kubelets that configurations put too far from the API server, and says whether there are any.
func (m *move) strayed(sheet *rule.Sheet) bool {
	server, found := m.server(), false
	for _, machine := range m.cluster.Machines {
		kubelet, err := parse(machine.KubernetesVersion)
		if err != nil || server.Major == 0 {
			continue
		}
		if distance := far(kubelet, server); distance < 0 || distance > skew {
			found = true
			sheet.Fail(machine.At("machine.kubelet.image"), "the kubelet of %s is of %s, and the API server of %s: it may be up to %d minor versions older, and never newer", machine.Name, show(kubelet), show(server), skew)
		}
	}
	return found
}

// server is the oldest version of API servers that configurations name; zero if none does.
func (m *move) server() semver.Version {
	var oldest semver.Version
	for _, machine := range m.cluster.ControlPlanes() {
		if machine.Config == nil || machine.Config.K8sAPIServerConfig() == nil {
			continue
		}
		_, tag, _ := strings.Cut(machine.Config.K8sAPIServerConfig().Image(), ":v")
		if version, err := parse(tag); err == nil && (oldest.Major == 0 || version.LT(oldest)) {
			oldest = version
		}
	}
	return oldest
}
