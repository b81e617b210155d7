// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/api/nearest"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// callTimeout is how long the management cluster may take to answer one question.
const callTimeout = 15 * time.Second

// fieldOwner is who the command line is to the API server.
const fieldOwner = client.FieldOwner("minos-cli")

// accessOptions are the flags by which a management cluster is reached, as kubectl has them.
type accessOptions struct {
	kubeconfig *string
	context    *string
	namespace  *string
	cluster    string // which one it is, in words
}

// errNoKubeconfig is that nobody said how a cluster is reached.
var errNoKubeconfig = errors.New("there is no kubeconfig")

// accessFlags gives a command the flags of access.
func accessFlags(cmd *cobra.Command) accessOptions {
	return accessOptions{
		kubeconfig: cmd.Flags().String("kubeconfig", "", "`file` by which to reach the management cluster, else as kubectl has it"),
		context:    cmd.Flags().String("context", "", "`name` of the context in it, if not the current one"),
		namespace:  cmd.Flags().StringP("namespace", "n", "", "`namespace` to work in, if not that of the context"),
		cluster:    "management cluster",
	}
}

// allNamespacesFlag gives a command -A.
func allNamespacesFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().BoolP("all-namespaces", "A", false, "look at all namespaces")
}

// live is a management cluster.
type live struct {
	client.Client
	host      string
	namespace string
}

// connect reaches the management cluster. Nothing is asked of it yet.
func (o accessOptions) connect(cmd *cobra.Command) (*live, error) {
	config, namespace, err := o.config()
	if err != nil {
		return nil, err
	}
	config.Timeout = callTimeout
	config.QPS = -1 // a command asks a few questions, and a person waits for them
	config.WarningHandler = rest.NewWarningWriter(cmd.ErrOrStderr(), rest.WarningWriterOptions{Deduplicate: true})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, autoscalingv1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	return &live{Client: c, host: config.Host, namespace: namespace}, nil
}

// config reads the kubeconfig, and says which namespace is meant.
func (o accessOptions) config() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = *o.kubeconfig, false
	overrides := &clientcmd.ConfigOverrides{CurrentContext: *o.context}
	overrides.Context.Namespace = *o.namespace
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	raw, err := loaded.RawConfig()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", Hint(fmt.Errorf("there is no kubeconfig %q", *o.kubeconfig), "give the file by which you reach the "+o.cluster+" with --kubeconfig")
	case err != nil:
		return nil, "", fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	if _, known := raw.Contexts[*o.context]; *o.context != "" && !known {
		all := slices.Sorted(maps.Keys(raw.Contexts))
		return nil, "", Hint(fmt.Errorf("the kubeconfig has no context %q%s", *o.context, nearest.Hint(*o.context, all)),
			"'kubectl config get-contexts' lists them")
	}
	config, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", Hint(fmt.Errorf("%w, so that no %s can be reached", errNoKubeconfig, o.cluster),
			"give --kubeconfig FILE or set KUBECONFIG; ~/.kube/config is used if it is there")
	}
	if err != nil {
		return nil, "", fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	namespace, _, err := loaded.Namespace()
	return config, namespace, err
}

// in is where a list looks.
func (l *live) in(all bool) client.ListOption {
	if all {
		return client.InNamespace("")
	}
	return client.InNamespace(l.namespace)
}

// list reads objects.
func (l *live) list(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return l.explain(l.List(ctx, into, options...))
}

// find reads one object by its name. One that is not there is an error with the name that was probably meant.
func (l *live) find(ctx context.Context, wanted client.Object, word string, others client.ObjectList) error {
	name := wanted.GetName()
	err := l.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, wanted)
	if !apierrors.IsNotFound(err) {
		return l.explain(err)
	}
	if err := l.list(ctx, others, client.InNamespace(l.namespace)); err != nil {
		return err
	}
	known, err := namesIn(others)
	if err != nil {
		return err
	}
	return Hint(fmt.Errorf("there is no %s %q in namespace %q%s", word, name, l.namespace, nearest.Hint(name, known)),
		fmt.Sprintf("'minos %s list -A' shows all", word))
}

// namesIn are the names of listed objects.
func namesIn(list client.ObjectList) ([]string, error) {
	var all []string
	err := meta.EachListItem(list, func(object runtime.Object) error {
		named, err := meta.Accessor(object)
		if err == nil {
			all = append(all, named.GetName())
		}
		return err
	})
	return all, err
}

// cluster reads a cluster.
func (l *live) cluster(ctx context.Context, name string) (*api.TalosCluster, error) {
	found := &api.TalosCluster{}
	found.Name = name
	err := l.find(ctx, found, "cluster", &api.TalosClusterList{})
	return found, err
}

// pool reads a pool.
func (l *live) pool(ctx context.Context, name string) (*api.NodePool, error) {
	found := &api.NodePool{}
	found.Name = name
	err := l.find(ctx, found, "pool", &api.NodePoolList{})
	return found, err
}

// poolsOf returns the pools of a cluster, or with no name all of the namespace.
func (l *live) poolsOf(ctx context.Context, cluster string) ([]api.NodePool, error) {
	found := &api.NodePoolList{}
	err := l.list(ctx, found, client.InNamespace(l.namespace))
	return slices.DeleteFunc(found.Items, func(pool api.NodePool) bool {
		return cluster != "" && string(pool.Spec.ClusterName) != cluster
	}), err
}

// machinesOf returns the machines of a pool that Minos itself looks after.
func (l *live) machinesOf(ctx context.Context, pool *api.NodePool) ([]api.TalosMachine, error) {
	found := &api.TalosMachineList{}
	err := l.list(ctx, found, client.InNamespace(pool.Namespace), client.MatchingLabels{names.LabelPool: pool.Name})
	return found.Items, err
}
