// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// defaultValidity is how long a credential lasts: a working day and the night after it.
const defaultValidity = 24 * time.Hour

// newCluster returns the commands about clusters.
func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "See, change and get at clusters",
		Long: `Lists, shows, makes and deletes the clusters of a management cluster, and gets
at them: with credentials that a management cluster keeps, or that are made from
the secrets of a folder.`,
		Example: "minos cluster list\nminos cluster kubeconfig shop --folder fleet --out shop.kubeconfig",
		GroupID: GroupClusters,
	}
	cmd.AddCommand(
		newClusterList(), newClusterDescribe(), newClusterCreate(), newClusterDiff(), newClusterDelete(), newClusterKubeconfig(), newClusterTalosconfig(),
	)
	return cmd
}

// credentialOptions are the flags of commands that make a credential.
type credentialOptions struct {
	folder   *string
	validity *time.Duration
	out      *string
	force    *bool
	access   accessOptions
}

func credentialFlags(cmd *cobra.Command) credentialOptions {
	return credentialOptions{
		folder:   folderFlag(cmd),
		validity: cmd.Flags().Duration("validity", defaultValidity, "how long the credential is valid"),
		out:      cmd.Flags().String("out", "", "file to write to, readable for you alone, instead of printing"),
		force:    cmd.Flags().Bool("force", false, "write over the file that --out names"),
		access:   accessFlags(cmd),
	}
}

// newClusterKubeconfig returns the command that makes a credential for the Kubernetes API.
func newClusterKubeconfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubeconfig NAME",
		Short: "Make or get a kubeconfig",
		Long: `Makes a new key and a certificate for the Kubernetes API of a cluster, signed by
the authority in its secrets, and prints them as a kubeconfig. Nobody is asked:
it works while the cluster is down. A certificate cannot be revoked, so keep
--validity short.

With --kubeconfig or --context, it prints the kubeconfig that a management
cluster keeps, as it is: you need the right to read the Secret.`,
		Example: "minos cluster kubeconfig shop --out shop.kubeconfig\nminos cluster kubeconfig shop --user jo --group viewers --validity 8h",
	}
	options := credentialFlags(cmd)
	user := cmd.Flags().String("user", "admin", "name of the user")
	groups := cmd.Flags().StringSlice("group", []string{"system:masters"}, "group of the user; may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		live, err := isLive(cmd, "folder", "validity", "user", "group")
		if err != nil {
			return err
		}
		if live {
			return options.kept(cmd, args[0], keptKubeconfig)
		}
		return options.run(cmd, args[0], func(cluster *declaredCluster, secrets *pki.Secrets, validity pki.Validity) ([]byte, error) {
			endpoint, err := fleet.Endpoint(cluster.TalosCluster)
			if err != nil {
				return nil, err
			}
			return secrets.Kubeconfig(pki.KubeAccess{
				Cluster: cluster.Name, Server: config.URL(endpoint), User: *user, Groups: *groups, Validity: validity,
			})
		})
	}
	return cmd
}

// newClusterTalosconfig returns the command that makes a credential for the Talos API.
func newClusterTalosconfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "talosconfig NAME",
		Short: "Make or get a talosconfig",
		Long: `Makes a new key and a certificate for the Talos API of a cluster, signed by the
authority in its secrets, and prints them as a talosconfig. The endpoints are
the declared machines of the control plane, or else the cluster's endpoint.

No nodes are set unless --node names some, so that no command is about all
machines by accident: give them to talosctl with --nodes.

With --kubeconfig or --context, it prints the talosconfig that a management
cluster keeps, as it is: you need the right to read the Secret.`,
		Example: "minos cluster talosconfig shop --out talosconfig\nminos cluster talosconfig shop --role os:reader --validity 1h",
	}
	options := credentialFlags(cmd)
	roles := cmd.Flags().StringSlice("role", []string{"os:admin"}, "role of Talos; may be repeated")
	endpoints := cmd.Flags().StringSlice("endpoint", nil, "address to dial, instead of the declared ones; may be repeated")
	nodes := cmd.Flags().StringSlice("node", nil, "machine that commands are about if they name none; may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		live, err := isLive(cmd, "folder", "validity", "role", "endpoint", "node")
		if err != nil {
			return err
		}
		if live {
			return options.kept(cmd, args[0], keptTalosconfig)
		}
		return options.run(cmd, args[0], func(cluster *declaredCluster, secrets *pki.Secrets, validity pki.Validity) ([]byte, error) {
			dialled := *endpoints
			if len(dialled) == 0 {
				var err error
				if dialled, err = cluster.talosEndpoints(); err != nil {
					return nil, err
				}
			}
			return secrets.Talosconfig(pki.TalosAccess{
				Cluster: cluster.Name, Endpoints: dialled, Nodes: *nodes, Roles: *roles, Validity: validity,
			})
		})
	}
	return cmd
}

// run reads a cluster's secrets, makes a credential and writes it.
func (o credentialOptions) run(
	cmd *cobra.Command, name string, sign func(*declaredCluster, *pki.Secrets, pki.Validity) ([]byte, error),
) error {
	cluster, file, err := openSecrets(cmd, *o.folder, name)
	if err != nil {
		return err
	}
	now := time.Now()
	text, err := sign(cluster, file.secrets, pki.Validity{Now: now, For: *o.validity})
	if err != nil {
		return err
	}
	return o.write(cmd, text, now)
}

// write prints a credential, or writes it to a file.
func (o credentialOptions) write(cmd *cobra.Command, text []byte, now time.Time) error {
	written, err := o.put(cmd, text)
	if written {
		say(cmd, "wrote %s, valid until %s", *o.out, now.Add(*o.validity).UTC().Format(time.RFC3339))
	}
	return err
}

// put prints a credential, or writes it to the file of --out: then it says so.
func (o credentialOptions) put(cmd *cobra.Command, text []byte) (written bool, err error) {
	path := *o.out
	if path == "" {
		_, err := cmd.OutOrStdout().Write(text)
		return false, err
	}
	if *o.force {
		err = replaceFile(path, text, modeSecret)
	} else {
		err = createFile(path, text, modeSecret)
	}
	if errors.Is(err, errExists) {
		err = Hint(err, "give another name, or --force")
	}
	return err == nil, err
}
