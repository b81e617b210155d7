// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/load"
	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// folderFlag gives a command --folder.
func folderFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("folder", ".", "folder that declares the cluster")
}

// A declaredCluster is a cluster that a folder declares.
type declaredCluster struct {
	*api.TalosCluster
	dir     string // of the file that declares it
	objects []load.Object
}

// findCluster finds a cluster by its name. That something else in the folder is wrong is said, and no hindrance: who needs
// to get at a cluster may be the one who repairs it.
func findCluster(cmd *cobra.Command, dir, name string) (*declaredCluster, error) {
	found, err := readFolder(cmd.Context(), dir)
	if err != nil {
		return nil, err
	}
	var declared *declaredCluster
	var names []string
	for _, document := range found.documents {
		cluster, ok := document.Object.(*api.TalosCluster)
		if !ok {
			continue
		}
		names = append(names, cluster.Name)
		switch {
		case cluster.Name != name:
		case declared != nil:
			return nil, fmt.Errorf("cluster %s is declared more than once in %q", name, dir)
		default:
			declared = &declaredCluster{TalosCluster: cluster, dir: folderOf(dir, document.File)}
		}
	}
	if len(found.problems) > 0 {
		say(cmd, "warning: %s in %s: 'minos check %s' says which", count(len(found.problems), "problem"), dir, dir)
	}
	if declared == nil {
		hint := "give the folder that declares it with --folder"
		if len(found.problems) > 0 {
			hint = "it may be what is wrong: 'minos check " + dir + "' says what that is"
		}
		return nil, Hint(fmt.Errorf("no cluster %s is declared in %q%s", name, dir, nearest.Hint(name, names)), hint)
	}
	declared.objects = found.objects()
	return declared, nil
}

// folderOf is where a file lies that was read from a folder, or was given itself.
func folderOf(root, file string) string {
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		return filepath.Dir(root)
	}
	return filepath.Join(root, filepath.Dir(filepath.FromSlash(file)))
}

// need is how much of the secrets the cluster needs here.
func (d *declaredCluster) need() pki.Need {
	if d.Spec.ControlPlane.Talos != nil {
		return pki.NeedAll
	}
	return pki.NeedWorkers
}

// ownsSecrets says why secrets cannot be made for a cluster here, or nothing.
func (d *declaredCluster) ownsSecrets() error {
	plane := d.Spec.ControlPlane
	switch {
	case plane.Kamaji != nil:
		return fmt.Errorf("the control plane of cluster %s is hosted: its secrets are made in the management cluster, and kept there", d.Name)
	case plane.External != nil:
		return fmt.Errorf("the control plane of cluster %s is not of Talos: its authorities exist already, where it runs", d.Name)
	}
	return nil
}

// howToGetSecrets is the hint where there are none.
func (d *declaredCluster) howToGetSecrets() string {
	if err := d.ownsSecrets(); err != nil {
		return err.Error()
	}
	if d.dir == "." {
		return "'minos secrets new " + d.Name + "' makes them, for a new cluster"
	}
	return "'minos secrets new " + d.Name + " --folder " + d.dir + "' makes them, for a new cluster"
}

// talosEndpoints are the addresses at which the Talos API of the control plane answers: of each machine, where they are
// declared, or else that of the API server.
func (d *declaredCluster) talosEndpoints() ([]string, error) {
	whole, err := fleet.New(d.objects)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, pool := range whole.Pools(d.TalosCluster) {
		role, err := whole.Role(pool)
		if err != nil || role.Spec.MachineType != api.MachineControlPlane || pool.Spec.Machine.Metal == nil {
			continue // what is wrong with a role is for the checks
		}
		for _, host := range pool.Spec.Machine.Metal.Hosts {
			addresses = append(addresses, string(host.Address))
		}
	}
	if len(addresses) > 0 {
		return addresses, nil
	}
	endpoint, err := fleet.Endpoint(d.TalosCluster)
	if err != nil {
		return nil, err
	}
	return []string{endpoint.Host}, nil
}
