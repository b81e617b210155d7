// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/spf13/cobra"

	"minos.dev/minos/api/nearest"
	"minos.dev/minos/check/facts"
	gatherlive "minos.dev/minos/gather/live"
)

// talosconfigVariable is where talosctl has its file from.
const talosconfigVariable = "TALOSCONFIG"

// runningOptions are the flags by which a running cluster is asked about itself.
type runningOptions struct {
	access       accessOptions
	talosconfig  *string
	talosContext *string
	nodes        *[]string
}

// runningFlags gives a command the flags by which it asks a running cluster.
func runningFlags(cmd *cobra.Command) runningOptions {
	flags, none := cmd.Flags(), ""
	return runningOptions{
		access: accessOptions{
			kubeconfig: flags.String("kubeconfig", "", "`file` by which to reach the cluster, else as kubectl has it"),
			context:    flags.String("context", "", "`name` of the context in it, if not the current one"),
			namespace:  &none, cluster: "cluster",
		},
		talosconfig:  flags.String("talosconfig", "", "`file` by which to ask machines, else that of "+talosconfigVariable+"; none are asked without"),
		talosContext: flags.String("talos-context", "", "`name` of the context in it, if not the current one"),
		nodes:        flags.StringSlice("nodes", nil, "`addresses` of machines to ask, if not those of all Nodes"),
	}
}

// runningNames are the names of those flags.
var runningNames = []string{"kubeconfig", "context", "talosconfig", "talos-context", "nodes"}

// ask asks the cluster, and says what could not be read.
// Kinds are the resources of Talos that are read; without any it is all.
func (o runningOptions) ask(cmd *cobra.Command, kinds ...string) ([]*facts.File, error) {
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	options.Kinds = kinds
	files, unread, err := gatherlive.Read(cmd.Context(), options)
	if err != nil {
		return nil, err
	}
	for _, line := range unread {
		say(cmd, "%s", line)
	}
	return files, nil
}

// options is how the cluster is asked.
func (o runningOptions) options() (gatherlive.Options, error) {
	options := gatherlive.Options{Machines: *o.nodes}
	var err error
	if options.Talos, err = o.talos(); err != nil {
		return options, err
	}
	options.Kubernetes, _, err = o.access.config()
	if errors.Is(err, errNoKubeconfig) && options.Talos != nil {
		return options, nil // the machines can be asked without
	}
	return options, err
}

// withoutTalosconfig refuses flags that mean nothing without one.
func (o runningOptions) withoutTalosconfig() error {
	flag := ""
	switch {
	case *o.talosContext != "":
		flag = "talos-context"
	case len(*o.nodes) > 0:
		flag = "nodes"
	default:
		return nil
	}
	return Hint(fmt.Errorf("--%s is about machines, and there is no talosconfig by which to ask them", flag), "give --talosconfig FILE or set "+talosconfigVariable)
}

// talos is the context of the talosconfig; nil if none is given.
func (o runningOptions) talos() (*clientconfig.Context, error) {
	path := *o.talosconfig
	if path == "" {
		path = os.Getenv(talosconfigVariable)
	}
	if path == "" {
		return nil, o.withoutTalosconfig()
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Hint(fmt.Errorf("there is no talosconfig %q", path), "'minos cluster talosconfig' makes one")
	}
	if err != nil {
		return nil, err
	}
	config, err := clientconfig.FromBytes(text)
	if err != nil {
		return nil, fmt.Errorf("the talosconfig %s cannot be read: it is no YAML of contexts", path) // what the reader says may quote a key
	}
	name := config.Context
	if *o.talosContext != "" {
		name = *o.talosContext
	}
	found, ok := config.Contexts[name]
	if !ok {
		names := slices.Sorted(maps.Keys(config.Contexts))
		return nil, Hint(fmt.Errorf("the talosconfig %s has no context %q%s", path, name, nearest.Hint(name, names)), "'talosctl config contexts' lists them")
	}
	return found, nil
}
