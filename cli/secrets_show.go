// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"minos.dev/minos/talos/pki"
)

// newSecretsShow returns the command that shows the secrets of a cluster.
func newSecretsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show CLUSTER",
		Short: "Show what secrets a cluster has, without their values",
		Long: `Lists the secrets of a cluster: what each is, whom a certificate names, when it
expires, and the fingerprint of its public key, by which it can be compared.
Values are redacted, and no hash of them is shown; --redacted=false prints them
in clear, as they stand in the bundle.`,
		Example: "minos secrets show shop --folder fleet\nminos secrets show shop -o json",
	}
	format := OutputFlag(cmd)
	folder := folderFlag(cmd)
	redacted := cmd.Flags().Bool("redacted", true, "hide the values")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, file, err := openSecrets(cmd, *folder, args[0])
		if err != nil {
			return err
		}
		items := file.secrets.Describe(*redacted)
		return Print(cmd.OutOrStdout(), *format, items, func() Table { return secretsTable(items, *redacted) })
	}
	return cmd
}

// secretsTable is the list for people.
func secretsTable(items []pki.Item, redacted bool) Table {
	table := Table{Columns: []string{"Name", "Kind", "Subject", "Not-after", "Fingerprint"}}
	if !redacted {
		table.Columns = append(table.Columns, "Value")
	}
	for _, item := range items {
		row := []string{item.Name, item.Kind, item.Subject, item.NotAfter, item.Fingerprint}
		if !redacted {
			row = append(row, item.Value)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
