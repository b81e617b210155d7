// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

// The VPN of gateways, and the role that has it.
const (
	vpn     = "tailscale"
	gateway = "gateway"
)

// common are labels of roles that say nothing about what a machine is for.
var common = []string{"control-plane", "master", "worker", "node"}

// Purpose is the role of a machine that runs, and how that is known: by its declaration, by its Node's labels, by what it does, or by
// what is in its image. Empty if it cannot be told.
func (m *Machine) Purpose() (role, by string) {
	if m.Pool != nil {
		return string(m.Pool.Object.Spec.Role), "declared: pool " + m.Pool.Object.Name
	}
	if label := m.label(); label != "" {
		return label, "label " + RoleLabel + label
	}
	switch has := m.HasExtension(vpn); {
	case m.routes():
		return gateway, "it advertises routes"
	case has && m.Config == nil:
		return gateway, "the extension " + vpn + " in its image; its configuration is not known"
	case m.ControlPlane:
		return "control-plane", "it runs the control plane"
	case has, !m.ExtensionsKnown: // an image with a VPN that leads nowhere is of no role
		return "", ""
	}
	if role := roleWith(m.Extensions); role != "" {
		return role, "the extensions of its image"
	}
	return "", ""
}

// Guessed says whether it is taken for a gateway by its image alone, which may as well be a mistake.
func (m *Machine) Guessed() bool {
	return m.Running != nil && m.Pool == nil && m.label() == "" && m.Config == nil && m.HasExtension(vpn)
}

// label is the role that the labels of its Node say; empty if they say none.
func (m *Machine) label() string {
	if m.Running == nil || m.Running.Node == nil {
		return ""
	}
	for _, label := range m.Running.Node.roles() {
		if !slices.Contains(common, label) {
			return label
		}
	}
	return ""
}

// routes says whether it is told to advertise routes.
func (m *Machine) routes() bool {
	environment, _ := m.ServiceConfig(vpn)
	return slices.ContainsFunc(environment, func(line string) bool { return strings.HasPrefix(line, "TS_ROUTES=") && line != "TS_ROUTES=" })
}

// roleWith is the built-in role for workers whose image has just these extensions; empty if there is none.
func roleWith(extensions []string) string {
	roles, err := talos.NewRoles()
	if err != nil {
		return ""
	}
	for _, name := range roles.Names() {
		role, err := roles.Resolve(api.Name(name))
		if err == nil && role.Spec.MachineType == api.MachineWorker && slices.Equal(extensions, slices.Sorted(slices.Values(image.Extensions(role)))) {
			return name
		}
	}
	return ""
}
