// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"minos.dev/minos/check/facts"
)

// perPage is how many Nodes are asked for at once, and stand in one file: a Node may be large.
const perPage = 100

// nodes reads the Nodes, in pages that are Lists as kubectl prints them.
func nodes(ctx context.Context, options Options) ([][]map[string]any, facts.Reading) {
	pages, err := listNodes(ctx, options)
	if err != nil { // a part would be taken for the whole
		return nil, facts.Reading{Unread: []facts.Unread{{What: facts.LiveNodes, Why: plain(err)}}}
	}
	return pages, facts.Reading{Read: []string{facts.LiveNodes}}
}

// listNodes asks for page after page.
func listNodes(ctx context.Context, options Options) ([][]map[string]any, error) {
	config := rest.CopyConfig(options.Kubernetes)
	config.Timeout = options.Call
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kind := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"})
	var pages [][]map[string]any
	for next := ""; ; {
		list, err := kind.List(ctx, metav1.ListOptions{Limit: perPage, Continue: next})
		if err != nil {
			return nil, err
		}
		if len(list.Items) > 0 {
			pages = append(pages, []map[string]any{page(list)})
		}
		if next = list.GetContinue(); next == "" {
			return pages, nil
		}
	}
}

// page is a page of Nodes as kubectl prints it, without what would change at every reading and says nothing.
func page(list *unstructured.UnstructuredList) map[string]any {
	items := []any{}
	for _, item := range list.Items {
		item.SetManagedFields(nil)
		items = append(items, hide(item.Object))
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}

// addresses are one for each Node by which its machine can be asked.
func addresses(pages [][]map[string]any) []string {
	var found []string
	for _, objects := range pages {
		items, _ := objects[0]["items"].([]any)
		for _, item := range items {
			if address := internal(item); address != "" {
				found = append(found, address)
			}
		}
	}
	return found
}

// internal is the first address of a Node in the cluster's own network; empty if it has none.
func internal(node any) string {
	body, _ := node.(map[string]any)
	some, _, _ := unstructured.NestedSlice(body, "status", "addresses")
	for _, one := range some {
		if facts.Text(facts.Get(one, "type")) == "InternalIP" {
			return facts.Text(facts.Get(one, "address"))
		}
	}
	return ""
}
