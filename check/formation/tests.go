// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"strings"

	"minos.dev/minos/check/facts"
)

// A test is some rules that show something together.
type test struct {
	name, title string
	// rules must hold by what is declared and configured; live by what running machines say, where that is known.
	rules, live []string
	// running must hold by what the machines of a running cluster are seen to be: what is foretold otherwise is looked at there.
	// Declared is what is asked beside them where it is declared what each machine is for.
	running, declared []string
	// seen is what was seen of a machine of a running cluster that the test is about; empty if it is not about it.
	seen func(sight) string
	// applies says whether it is about a cluster, and otherwise why it is not.
	applies   func(*facts.Cluster, said) bool
	otherwise string
}

// The names of tests that are asked for elsewhere.
const (
	routing   = "03-tailscale-routing"
	isolation = "04-extension-isolation"
)

// tests are all tests, in their order.
var tests = []test{
	{
		name: "01-compute-only-cluster", title: "a cluster of compute machines forms",
		rules: []string{"ROL-003", "EXT-003", "EXT-005", "CPL-001", "CPL-002"}, live: []string{"EXT-015"},
		running: []string{"ROL-003", "CPL-001", "EXT-015", "UPG-014"}, declared: []string{"EXT-014"}, seen: sight.standing,
		applies: func(cluster *facts.Cluster, rules said) bool {
			return len(rules["ROL-003"]) > 0 && !lacksGateway(cluster)
		},
		otherwise: "the cluster has a gateway, or no machines",
	},
	{
		name: "02-mixed-role-cluster", title: "machines of several roles form a cluster together",
		rules: []string{"ROL-002", "ROL-012"}, live: []string{"EXT-015"},
		running: []string{"ROL-002", "EXT-015", "UPG-014"}, seen: sight.standing,
		applies: mixed, otherwise: "all workers of the cluster have one role",
	},
	{
		name: routing, title: "the gateway routes the networks of the cluster",
		rules: []string{"ROL-006", "ROL-007", "ROL-008", "NET-011"},
		// Which routes a gateway has is not among what is saved of it: what it is told to advertise has to do.
		running: []string{"ROL-006", "ROL-007", "ROL-008", "NET-011"}, seen: sight.routing,
		applies: func(cluster *facts.Cluster, rules said) bool {
			return len(rules["ROL-006"]) > 0 || lacksGateway(cluster)
		},
		otherwise: "the cluster has no gateway",
	},
	{
		name: isolation, title: "extensions of one role do not disturb another",
		rules: []string{"ROL-004", "IMG-013"}, live: []string{"EXT-014"},
		running: []string{"ROL-004"}, declared: []string{"EXT-014"}, seen: sight.image,
		applies:   func(_ *facts.Cluster, rules said) bool { return len(rules["ROL-004"]) > 0 },
		otherwise: "the cluster has no machines beside gateways",
	},
}

// mixed says whether the workers of a cluster are of several roles: by their pools, by what is in their images, or because some are
// gateways and others are not.
func mixed(cluster *facts.Cluster, rules said) bool {
	if len(rules["ROL-006"]) > 0 && len(rules["ROL-004"]) > 0 {
		return true
	}
	if cluster.Running && cluster.Object != nil { // also machines that are missing are of a role
		return len(declaredRoles(cluster)) > 1
	}
	roles := map[string]bool{}
	for _, machine := range cluster.Workers() {
		switch {
		case machine.Pool != nil:
			roles[string(machine.Pool.Object.Spec.Role)] = true
		case machine.ExtensionsKnown:
			roles[strings.Join(machine.Extensions, " ")] = true
		default: // what is in it is not known, and two images are not one role until somebody says so
			roles[machine.InstallImage()] = true
		}
	}
	return len(roles) > 1
}
