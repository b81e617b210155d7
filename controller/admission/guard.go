// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
)

// A Guard answers the API server's questions about our kinds.
type Guard struct {
	// Client reads what the answers depend on, from a cache with the indexes of controller/index.
	Client client.Reader
	// Decoder reads the objects that are asked about.
	Decoder admission.Decoder
	// Now is the clock.
	Now func() time.Time
}

// Handle answers. What cannot be looked up is no reason to refuse: the controllers will say what is wrong.
func (g *Guard) Handle(ctx context.Context, request admission.Request) admission.Response {
	refusal, err := g.judge(ctx, request)
	switch {
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, err)
	case refusal != "":
		return admission.Denied(refusal)
	}
	return admission.Allowed("")
}

// judge says in one line why something is refused; empty if it is not.
func (g *Guard) judge(ctx context.Context, request admission.Request) (string, error) {
	switch request.Kind.Kind {
	case "TalosCluster":
		if request.Operation == admissionv1.Delete {
			return g.deleteCluster(ctx, request)
		}
		return g.changeCluster(ctx, request)
	case "NodePool":
		return g.changePool(ctx, request)
	case string(api.KindLocation), string(api.KindClusterLocation):
		return g.deleteLocation(ctx, request)
	}
	return "", nil
}

// deleteCluster refuses while there are pools: their machines would lose their API server before they could be drained.
func (g *Guard) deleteCluster(ctx context.Context, request admission.Request) (string, error) {
	pools, err := g.poolsOf(ctx, request.Namespace, request.Name)
	if err != nil || len(pools) == 0 {
		return "", err
	}
	return fmt.Sprintf("TalosCluster %s has the pools %s: delete them first", request.Name, list(pools)), nil
}

// deleteLocation refuses while there are pools in the place: nobody could remove their machines.
func (g *Guard) deleteLocation(ctx context.Context, request admission.Request) (string, error) {
	if request.Operation != admissionv1.Delete {
		return "", nil
	}
	pools := &api.NodePoolList{}
	if err := g.Client.List(ctx, pools, client.MatchingFields{index.Location: index.Place(api.LocationKind(request.Kind.Kind), request.Namespace, request.Name)}); err != nil {
		return "", err
	}
	if len(pools.Items) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s %s has the pools %s: delete them first", request.Kind.Kind, request.Name, list(pools.Items)), nil
}

// poolsOf are the pools that name a cluster, found by an index.
func (g *Guard) poolsOf(ctx context.Context, namespace, cluster string) ([]api.NodePool, error) {
	pools := &api.NodePoolList{}
	err := g.Client.List(ctx, pools, client.InNamespace(namespace), client.MatchingFields{index.Cluster: cluster})
	return pools.Items, err
}

// list names pools, of which there may be many.
func list(pools []api.NodePool) string {
	const most = 5
	var all []string
	for _, pool := range pools {
		all = append(all, pool.Name)
	}
	slices.Sort(all)
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// changePool refuses what the pool may not have and what its machines could not join with. What was wrong before the change is
// no reason to refuse it.
func (g *Guard) changePool(ctx context.Context, request admission.Request) (string, error) {
	changed, before := &api.NodePool{}, &api.NodePool{}
	if err := g.Decoder.Decode(request, changed); err != nil {
		return "", err
	}
	if request.Operation == admissionv1.Create {
		// All that exist came before it, also those of the same second.
		changed.CreationTimestamp = metav1.NewTime(g.Now().Add(time.Hour))
	}
	refusal, err := g.judgePool(ctx, changed)
	if err != nil || refusal == "" || request.Operation == admissionv1.Create {
		return refusal, err
	}
	if !changed.DeletionTimestamp.IsZero() {
		return "", nil // it only goes on to be deleted
	}
	if err := g.Decoder.DecodeRaw(request.OldObject, before); err != nil {
		return "", err
	}
	was, err := g.judgePool(ctx, before)
	if err != nil || was == refusal {
		return "", err
	}
	return refusal, nil
}

// changeCluster refuses a change that would leave a pool without a configuration that Talos accepts.
func (g *Guard) changeCluster(ctx context.Context, request admission.Request) (string, error) {
	if request.Operation != admissionv1.Update {
		return "", nil
	}
	changed, before := &api.TalosCluster{}, &api.TalosCluster{}
	if err := g.Decoder.Decode(request, changed); err != nil {
		return "", err
	}
	if err := g.Decoder.DecodeRaw(request.OldObject, before); err != nil {
		return "", err
	}
	if before.Generation == changed.Generation || !changed.DeletionTimestamp.IsZero() {
		return "", nil
	}
	pools, err := g.poolsOf(ctx, request.Namespace, request.Name)
	if err != nil {
		return "", err
	}
	for at := range pools {
		if refusal := g.loses(ctx, &pools[at], before, changed); refusal != "" {
			return fmt.Sprintf("NodePool %s could not follow: %s", pools[at].Name, refusal), nil
		}
	}
	return "", nil
}

// loses says what a pool's configuration fails with after a change of its cluster that it did not before. A pool that cannot be
// looked at is not judged.
func (g *Guard) loses(ctx context.Context, of *api.NodePool, before, changed *api.TalosCluster) string {
	refusal, err := g.tryPool(ctx, of, changed)
	if err != nil || refusal == "" {
		return ""
	}
	if was, err := g.tryPool(ctx, of, before); err != nil || was != "" {
		return ""
	}
	return refusal
}
