// SPDX-License-Identifier: Apache-2.0

package machine

import "github.com/siderolabs/talos/pkg/machinery/role"

// The roles that may call, from the least that is enough up.
var (
	readers   = role.MakeSet(role.Reader, role.Operator, role.Admin)
	operators = role.MakeSet(role.Operator, role.Admin)
	admins    = role.MakeSet(role.Admin)
	backups   = role.MakeSet(role.EtcdBackup, role.Operator, role.Admin)
)

// rules say who may call what. What is not in it is for administrators alone, as with Talos.
var rules = map[string]role.Set{
	"/machine.MachineService/Version":     readers,
	"/machine.MachineService/ServiceList": readers,
	"/machine.MachineService/Hostname":    readers,
	// In maintenance mode everybody is a reader and may apply; otherwise the handler wants an administrator.
	"/machine.MachineService/ApplyConfiguration": readers,
	"/machine.MachineService/Reboot":             operators,
	"/machine.MachineService/Shutdown":           operators,
	"/machine.MachineService/Upgrade":            admins,
	"/machine.MachineService/Rollback":           admins,
	"/machine.MachineService/Reset":              admins,
	"/machine.MachineService/EtcdSnapshot":       backups,
	"/machine.LifecycleService/Upgrade":          admins,
	"/machine.ImageService/Pull":                 operators,
	"/cosi.resource.State/Get":                   readers,
	"/cosi.resource.State/List":                  readers,
	"/cosi.resource.State/Watch":                 readers,
}
