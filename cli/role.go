// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
)

// newRole returns the commands about roles.
func newRole() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "role",
		Short: "List, show and recommend node roles",
		Long: `A role says what a machine is for, and so which image it runs. Minos ships a
few; a role of the same name in your folder replaces a built-in one.`,
		Example: "minos role list\nminos role recommend --needs longhorn\nminos role show gateway > gateway.yaml",
		GroupID: GroupFolder,
	}
	cmd.AddCommand(newRoleList(), newRoleRecommend(), newRoleShow())
	return cmd
}

// A listedRole is what the list shows of a role, with what it extends folded in.
type listedRole struct {
	Name        string          `json:"name"`
	Source      string          `json:"source"`
	Extends     api.Name        `json:"extends,omitempty"`
	MachineType api.MachineType `json:"machineType"`
	PerCluster  api.PerCluster  `json:"perCluster"`
	Extensions  []string        `json:"extensions,omitempty"`
	Description string          `json:"description,omitempty"`
}

// newRoleList returns the command that lists roles.
func newRoleList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the roles that a pool can name",
		Long: `Lists the built-in roles and, with DIR, those that the folder declares, each
with everything that it extends.`,
		Example: "minos role list\nminos role list fleet -o json",
	}
	format := OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		declared, err := readRoles(cmd.Context(), args)
		if err != nil {
			return err
		}
		listed, err := declared.list()
		if err != nil {
			return err
		}
		return Print(cmd.OutOrStdout(), *format, listed, func() Table { return roleTable(listed) })
	}
	return cmd
}

// newRoleShow returns the command that shows one role.
func newRoleShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME [DIR]",
		Short: "Show one role, to read it or to start one of your own",
		Long: `Prints a role as YAML: a built-in one with its comments or, with DIR, the one
that the folder declares. With --resolved, everything that it extends is
folded in.`,
		Example: "minos role show compute\nminos role show gateway --resolved",
	}
	resolved := cmd.Flags().Bool("resolved", false, "fold in what the role extends")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		declared, err := readRoles(cmd.Context(), args[1:])
		if err != nil {
			return err
		}
		text, err := declared.show(args[0], *resolved)
		if err != nil {
			return Hint(err, "'minos role list' shows them all")
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

// declaredRoles is the roles that can be named and where they come from.
type declaredRoles struct {
	talos.Roles
	file map[string]string // by name, of those that a folder declares
}

// readRoles returns the built-in roles and those of a folder, if one is named.
func readRoles(ctx context.Context, dirs []string) (*declaredRoles, error) {
	declared := &declaredRoles{file: map[string]string{}}
	var roles []*api.NodeRole
	for _, dir := range dirs {
		found, err := readFolder(ctx, dir)
		if err != nil {
			return nil, err
		}
		if len(found.problems) > 0 {
			return nil, Hint(fmt.Errorf("%s: %s", dir, found.problems[0]), "'minos check "+dir+"' says all that is wrong")
		}
		for _, document := range found.documents {
			if role, ok := document.Object.(*api.NodeRole); ok {
				roles = append(roles, role)
				declared.file[role.Name] = document.File
			}
		}
	}
	known, err := talos.NewRoles(roles...)
	declared.Roles = known
	return declared, err
}

// list returns what the list shows.
func (d *declaredRoles) list() ([]listedRole, error) {
	var listed []listedRole
	for _, name := range d.Names() {
		role, err := d.Get(api.Name(name))
		if err != nil {
			return nil, err
		}
		whole, err := d.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		source := "built-in"
		if file, ok := d.file[name]; ok {
			source = file
		}
		listed = append(listed, listedRole{
			Name: name, Source: source, Extends: role.Spec.Extends,
			MachineType: whole.Spec.MachineType, PerCluster: whole.Spec.PerCluster,
			Extensions: slices.Sorted(slices.Values(whole.Spec.Extensions)), Description: whole.Spec.Description,
		})
	}
	return listed, nil
}

// show returns a role as text.
func (d *declaredRoles) show(name string, resolved bool) ([]byte, error) {
	if resolved {
		role, err := d.Resolve(api.Name(name))
		if err != nil {
			return nil, err
		}
		return yaml.Marshal(role)
	}
	role, err := d.Get(api.Name(name))
	if err != nil {
		return nil, err
	}
	if _, ok := d.file[name]; !ok {
		return talos.BuiltinRole(name)
	}
	return yaml.Marshal(role)
}

// roleTable is the list for people.
func roleTable(listed []listedRole) Table {
	table := Table{Columns: []string{"Name", "Source", "Machines", "Per-cluster", "Extensions"}}
	for _, role := range listed {
		table.Rows = append(table.Rows, []string{
			role.Name, role.Source, string(role.MachineType), string(role.PerCluster), strings.Join(role.Extensions, ","),
		})
	}
	return table
}
