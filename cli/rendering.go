// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// A rendering is the configuration of every machine that a folder declares.
type rendering struct {
	clusters []*renderedCluster
}

// A renderedCluster is the machines of one cluster.
type renderedCluster struct {
	*declaredCluster
	secrets  *pki.Secrets
	values   map[api.SecretKeyReference]string
	machines []fleet.Machine
}

// name tells a cluster from others: by its namespace too, where it has one of its own.
func (c *renderedCluster) name() string {
	if c.Namespace == "default" {
		return c.Name
	}
	return c.Namespace + "/" + c.Name
}

// count is how many machines there are.
func (r *rendering) count() int {
	n := 0
	for _, cluster := range r.clusters {
		n += len(cluster.machines)
	}
	return n
}

// renderFolder reads a folder with its secrets and makes the configuration of every machine. What is wrong in the folder
// is printed, as by check.
func renderFolder(cmd *cobra.Command, dir string) (*rendering, error) {
	found, err := checkFolder(cmd.Context(), dir)
	if err != nil {
		return nil, err
	}
	if len(found.problems) > 0 {
		return nil, found.print(cmd)
	}
	all, err := fleet.New(found.objects())
	if err != nil {
		return nil, err
	}
	keys, err := loadKeyring()
	if err != nil {
		return nil, err
	}
	rendered := &rendering{}
	for _, cluster := range all.Clusters() {
		one, err := found.render(cmd, cluster, all, keys)
		if err != nil {
			return nil, err
		}
		if len(one.machines) > 0 {
			rendered.clusters = append(rendered.clusters, one)
		}
	}
	if rendered.count() == 0 {
		return nil, Hint(fmt.Errorf("no pool is declared in %q, so there is no machine to render", dir), "declare a NodePool, or make a folder with 'minos init'")
	}
	return rendered, nil
}

// render makes the configurations of a cluster's machines. A cluster without any needs no secrets.
func (f *folder) render(cmd *cobra.Command, cluster *api.TalosCluster, all *fleet.Fleet, keys *keyring) (*renderedCluster, error) {
	one := &renderedCluster{declaredCluster: &declaredCluster{TalosCluster: cluster, dir: f.dirOf(cluster), objects: f.objects()}}
	pools := all.Pools(cluster)
	if len(pools) == 0 {
		return one, nil
	}
	var with fleet.Secrets
	var err error
	if one.secrets, with, err = f.secretsOf(cmd, one.declaredCluster, all, keys); err != nil {
		return nil, err
	}
	one.values = with.Values
	for _, pool := range pools {
		machines, err := all.Render(pool, with)
		if err != nil {
			return nil, err
		}
		one.machines = append(one.machines, machines...)
	}
	return one, nil
}

// dirOf is the folder of the file that declares a cluster.
func (f *folder) dirOf(cluster *api.TalosCluster) string {
	for _, document := range f.documents {
		if document.Object == cluster {
			return folderOf(f.root, document.File)
		}
	}
	return f.root
}

// objects are the objects of a folder.
func (f *folder) objects() []load.Object {
	objects := make([]load.Object, 0, len(f.documents))
	for _, document := range f.documents {
		objects = append(objects, document.Object)
	}
	return objects
}
