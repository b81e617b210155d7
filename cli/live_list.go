// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
)

// newClusterList returns the command that lists clusters.
func newClusterList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the clusters of a management cluster",
		Long: `Lists the clusters of a namespace, or with -A of all. The columns are those of
'kubectl get talosclusters'; -o wide has more, -o json and yaml the objects.`,
		Example: "minos cluster list\nminos cluster list -A -o wide",
	}
	access, everywhere, format := accessFlags(cmd), allNamespacesFlag(cmd), OutputFlag(cmd, FormatWide)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		found := &api.TalosClusterList{}
		if err := l.list(cmd.Context(), found, l.in(*everywhere)); err != nil {
			return err
		}
		return printList(cmd, *format, found, func() Table {
			return clusterListing(found.Items, time.Now()).table(*format, namespacesOf(found.Items, *everywhere, func(c api.TalosCluster) string { return c.Namespace }))
		})
	}
	return cmd
}

// newPoolList returns the command that lists pools.
func newPoolList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pools of a management cluster",
		Long: `Lists the pools of a namespace, with --cluster those of one cluster, with -A
those of all namespaces. The columns are those of 'kubectl get nodepools'; -o
wide has more, -o json and yaml the objects.`,
		Example: "minos pool list\nminos pool list --cluster shop -o wide\nminos pool list -A -o json",
	}
	access, everywhere, format := accessFlags(cmd), allNamespacesFlag(cmd), OutputFlag(cmd, FormatWide)
	cluster := cmd.Flags().String("cluster", "", "`name` of the cluster that the pools belong to")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := access.connect(cmd)
		if err != nil {
			return err
		}
		found := &api.NodePoolList{}
		if err := l.list(cmd.Context(), found, l.in(*everywhere)); err != nil {
			return err
		}
		found.Items = slices.DeleteFunc(found.Items, func(pool api.NodePool) bool {
			return *cluster != "" && string(pool.Spec.ClusterName) != *cluster
		})
		return printList(cmd, *format, found, func() Table {
			return poolListing(found.Items, time.Now()).table(*format, namespacesOf(found.Items, *everywhere, func(p api.NodePool) string { return p.Namespace }))
		})
	}
	return cmd
}

// printList prints a list: the objects themselves for programs, and words where there is nothing.
func printList(cmd *cobra.Command, format Format, list client.ObjectList, table func() Table) error {
	if format != FormatTable && format != FormatWide {
		return Print(cmd.OutOrStdout(), format, exported(list), nil)
	}
	if shown := table(); len(shown.Rows) > 0 {
		return Print(cmd.OutOrStdout(), FormatTable, nil, func() Table { return shown })
	}
	say(cmd, "there are none")
	return nil
}

// namespacesOf are the namespaces of objects, if they are to be shown.
func namespacesOf[T any](items []T, shown bool, namespace func(T) string) []string {
	if !shown {
		return nil
	}
	all := make([]string, 0, len(items))
	for _, item := range items {
		all = append(all, namespace(item))
	}
	return all
}

// exported is a list as it can be applied again: each object says its kind, and what only the API server minds is left out.
func exported(list client.ObjectList) any {
	switch list := list.(type) {
	case *api.TalosClusterList:
		for i := range list.Items {
			clean(&list.Items[i])
		}
		list.SetGroupVersionKind(api.GroupVersion.WithKind("TalosClusterList"))
	case *api.NodePoolList:
		for i := range list.Items {
			clean(&list.Items[i])
		}
		list.SetGroupVersionKind(api.GroupVersion.WithKind("NodePoolList"))
	}
	return list
}

// clean makes an object fit to be printed.
func clean(object client.Object) client.Object {
	object.SetManagedFields(nil)
	kind := "NodePool"
	if _, ok := object.(*api.TalosCluster); ok {
		kind = "TalosCluster"
	}
	object.GetObjectKind().SetGroupVersionKind(api.GroupVersion.WithKind(kind))
	return object
}

// unborn makes an object fit to be written to a file: as it would be made, before the API server gave it an identity.
func unborn(object client.Object) client.Object {
	clean(object)
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(metav1.Time{})
	return object
}
