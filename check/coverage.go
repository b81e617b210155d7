// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
)

// A Reason is something that whoever builds and runs clusters on Talos has to settle, to do, to avoid or to watch: why rules exist.
type Reason struct {
	// Code is how rules name it.
	Code string
	// Words say what it is.
	Words string
	// Rules are the IDs of the rules that cover it.
	Rules []string
}

// Reasons returns all reasons, in their order.
func Reasons() []Reason { return slices.Clone(reasons) }

// Source is a reason in words, by the code that a rule names: one of the table, a public issue, or where our own rules come from.
func Source(code string) string {
	for _, one := range reasons {
		if one.Code == code {
			return one.Words
		}
	}
	if words, ok := origins[code]; ok {
		return words
	}
	if repository, number, ok := strings.Cut(code, "#"); ok && strings.Count(repository, "/") == 1 {
		return fmt.Sprintf("https://github.com/%s/issues/%s", repository, number)
	}
	return ""
}

// origins are reasons that are not a subject of their own.
var origins = map[string]string{
	"T":     "how Talos itself works: its documentation, its source and its issues",
	"X":     "what a cluster on Talos has to do with its neighbours",
	"Minos": "what the declarations of Minos promise",
}

// list makes IDs of a short form: list("PLT", 1, 2) is PLT-001 and PLT-002.
func list(group string, numbers ...int) []string {
	var ids []string
	for _, number := range numbers {
		ids = append(ids, fmt.Sprintf("%s-%03d", group, number))
	}
	return ids
}

// reasons are all reasons with the rules that cover them.
var reasons = []Reason{
	{"D1", "decision: where Talos runs, on metal, in a cloud, on a hypervisor, at the edge, or beside another system", list("PLT", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)},
	{"D2", "decision: how many machines run the control plane, and whether they carry workloads", list("CPL", 1, 2, 3, 4, 5, 6, 7, 14)},
	{"D3", "decision: how machine configurations are made, kept and applied", list("CFG", 1, 8, 10, 11, 12, 13)},
	{"D4", "decision: the network of pods", list("NET", 1, 2, 3, 4, 17, 19)},
	{"D5", "decision: where stateful workloads keep their data", list("STO", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)},
	{"D6", "decision: how new versions reach the machines", append(list("UPG", 1, 7, 9, 11, 12, 13), "EXT-011")},
	{"P1", "pattern: configurations rendered from one declaration, kept in Git and applied by a pipeline", list("CFG", 8, 10, 14, 20)},
	{"P2", "pattern: clusters that are made and managed by Cluster API", list("CFG", 12)},
	{"P3", "pattern: everything has a version, and an upgrade is built, applied, proved, and can be taken back", append(list("CFG", 17, 21), "IMG-003", "UPG-016", "UPG-020", "FLT-003")},
	{"P4", "pattern: Talos at home and at the edge, small and without a way in but the API", list("PLT", 11, 15)},
	{"A1", "anti-pattern: Talos handled like an ordinary Linux, with SSH, packages and edited files", list("CFG", 15)},
	{"A2", "anti-pattern: machine configurations with readable secrets", list("SEC", 1, 3, 6)},
	{"A3", "anti-pattern: extensions forgotten that hardware or storage needs", append(list("EXT", 1, 7, 8), "PLT-006", "STO-002", "IMG-004")},
	{"A4", "anti-pattern: configurations applied by hand in production, without review", list("CFG", 2, 3, 8, 9)},
	{"A5", "anti-pattern: upgrades that nobody tried first", list("UPG", 9, 10)},
	{"A6", "anti-pattern: a production cluster whose control plane is one machine", list("CPL", 2)},
	{"F1", "to watch: every machine configuration is in Git", append(list("CFG", 2, 3), "OPS-008")},
	{"F2", "to watch: secrets in configurations are encrypted", list("SEC", 1, 4)},
	{"F3", "to watch: all machines run the same Talos", []string{"UPG-006", "OPS-007", "FLT-002"}},
	{"F4", "to watch: etcd and the API server are healthy", append(list("OPS", 4, 5, 6), "CPL-015")},
	{"F5", "to watch: extensions fit the version of Talos", append(list("EXT", 1, 2, 14), "IMG-009", "UPG-007")},
	{"F6", "to watch: machines are ready again after an upgrade", list("UPG", 14)},
	{"C1", "checklist: the platform", list("PLT", 1)},
	{"C2", "checklist: the topology of the control plane", list("CPL", 1)},
	{"C3", "checklist: how machine configurations are managed", list("CFG", 1)},
	{"C4", "checklist: the network of pods", list("NET", 1)},
	{"C5", "checklist: storage for stateful workloads", list("STO", 1)},
	{"C6", "checklist: extensions for hardware and drivers", list("EXT", 1, 7)},
	{"C7", "checklist: encryption of the secrets in configurations", list("SEC", 1, 2)},
	{"C8", "checklist: how upgrades are done, written down", list("UPG", 1)},
	{"C9", "checklist: backup of etcd and of what is critical", append(list("OPS", 1, 2, 3), "UPG-015")},
	{"C10", "checklist: a virtual address or a load balancer before the control plane", list("CPL", 8, 9, 10)},
	{"X Kubernetes", "neighbour: Kubernetes, whose own decisions remain, with less freedom on the host", list("CFG", 15)},
	{"X ArgoCD", "neighbour: ArgoCD, which owns what lies above Kubernetes while Talos owns what lies below", list("CFG", 20)},
	{"X multi-cluster", "neighbour: other clusters, with names, identities, networks and roles of a fleet", append(list("FLT", 1, 2, 3, 4), "SEC-022")},
	{"X Nix", "neighbour: Nix, which gives everybody the same tools", list("CFG", 14)},
	{"X infrastructure", "neighbour: tools that configure ordinary machines, whose place the API takes", list("CFG", 15)},
	{"ADR", "images by role: a machine gets the extensions that its role needs and no others", append(list("ROL", 1, 2, 5, 7), "SEC-006", "STO-008", "IMG-012", "IMG-013", "EXT-003", "EXT-005", "EXT-012", "EXT-014", "EXT-015", "NET-011")},
	{"ADR test 01", "images by role, first proof: a cluster of compute machines forms", []string{"ROL-003", "EXT-003", "EXT-005", "CPL-001", "CPL-002", "EXT-015"}},
	{"ADR test 02", "images by role, second proof: machines of several roles form a cluster", []string{"ROL-002", "ROL-012", "EXT-015"}},
	{"ADR test 03", "images by role, third proof: the gateway routes", []string{"ROL-006", "ROL-007", "ROL-008", "NET-011"}},
	{"ADR test 04", "images by role, fourth proof: extensions of one role do not touch another", []string{"ROL-004", "EXT-014", "IMG-013"}},
	{"C1-C10", "checklist: every line has a decision, with its date and its owner", list("FLT", 4)},
	{"ADR-0005", "graphics processors that are given to workloads one by one, on machines of one vendor", list("GPU", 8)},
}
