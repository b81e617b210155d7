// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/controller/metrics"
)

// A Guard answers the API server's questions about our kinds.
type Guard struct {
	// Client reads what the answers depend on, from a cache with the indexes of controller/index.
	Client client.Reader
	// Decoder reads the objects that are asked about.
	Decoder admission.Decoder
	// Now is the clock.
	Now func() time.Time
	// RefusedRules are the rules of minos check whose errors refuse a change; others are told.
	RefusedRules []string
	// Metrics takes what is answered; nil takes nothing.
	Metrics *metrics.Metrics
}

// A refusal is why something is refused: the rule, for those who count, and a line, for those who asked. None is the zero one.
type refusal struct{ rule, text string }

// The rules.
const (
	ruleOccupied      = "pools-left"
	rulePlace         = "place"
	ruleRole          = "role"
	ruleCardinality   = "cardinality"
	ruleConfiguration = "configuration"
	ruleCheck         = "check"
)

// none refuses nothing.
var none refusal

// Handle answers. What cannot be looked up is no reason to refuse: the controllers will say what is wrong.
func (g *Guard) Handle(ctx context.Context, request admission.Request) admission.Response {
	refused, err := g.judge(ctx, request)
	var wrong []string
	if err == nil && refused == none {
		refused, wrong = g.checked(ctx, request)
	}
	switch kind := counted(request); {
	case err != nil:
		g.Metrics.Admitted(kind, "", "failed")
		return admission.Allowed("").WithWarnings(fmt.Sprintf("%s %s could not be looked at before it was let in: %s", request.Kind.Kind, request.Name, err.Error()))
	case refused != none:
		g.Metrics.Admitted(kind, refused.rule, "refused")
		return admission.Denied(refused.text)
	default:
		g.Metrics.Admitted(kind, "", "allowed")
		return admission.Allowed("").WithWarnings(append(wrong, g.warnings(ctx, request)...)...)
	}
}

// counted is a kind as it is counted. Whoever can reach the webhook can ask about any, and must not fill a memory with their names.
func counted(request admission.Request) string {
	kind := request.Kind.Kind
	if kind == "Scale" {
		return "NodePool"
	}
	if slices.Contains([]string{"TalosCluster", "NodePool", "NodeRole", string(api.KindLocation), string(api.KindClusterLocation)}, kind) {
		return kind
	}
	return "other"
}

// judge says why something is refused.
func (g *Guard) judge(ctx context.Context, request admission.Request) (refusal, error) {
	if request.Resource.Resource == "nodepools" && request.SubResource == "scale" {
		return g.scalePool(ctx, request)
	}
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
	return none, nil
}

// deleteCluster refuses while there are pools: their machines would lose their API server before they could be drained.
func (g *Guard) deleteCluster(ctx context.Context, request admission.Request) (refusal, error) {
	pools, err := g.poolsOf(ctx, request.Namespace, request.Name)
	if err != nil || len(pools) == 0 {
		return none, err
	}
	return refusal{ruleOccupied, fmt.Sprintf("TalosCluster %s has the pools %s: delete them first", request.Name, list(pools))}, nil
}

// deleteLocation refuses while there are pools in the place: nobody could remove their machines.
func (g *Guard) deleteLocation(ctx context.Context, request admission.Request) (refusal, error) {
	if request.Operation != admissionv1.Delete {
		return none, nil
	}
	pools := &api.NodePoolList{}
	if err := g.Client.List(ctx, pools, client.MatchingFields{index.Location: index.Place(api.LocationKind(request.Kind.Kind), request.Namespace, request.Name)}); err != nil {
		return none, err
	}
	if len(pools.Items) == 0 {
		return none, nil
	}
	return refusal{ruleOccupied, fmt.Sprintf("%s %s has the pools %s: delete them first", request.Kind.Kind, request.Name, list(pools.Items))}, nil
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
func (g *Guard) changePool(ctx context.Context, request admission.Request) (refusal, error) {
	changed, before := &api.NodePool{}, &api.NodePool{}
	if err := g.Decoder.Decode(request, changed); err != nil {
		return none, err
	}
	if request.Operation == admissionv1.Create {
		// All that exist came before it, also those of the same second.
		changed.CreationTimestamp = metav1.NewTime(g.Now().Add(time.Hour))
		return g.judgePool(ctx, changed)
	}
	if err := g.Decoder.DecodeRaw(request.OldObject, before); err != nil {
		return none, err
	}
	return g.comparePools(ctx, before, changed)
}

// scalePool refuses a number that a pool may not have, where it is changed by itself.
func (g *Guard) scalePool(ctx context.Context, request admission.Request) (refusal, error) {
	wanted, before := &autoscalingv1.Scale{}, &api.NodePool{}
	if err := json.Unmarshal(request.Object.Raw, wanted); err != nil {
		return none, err
	}
	if err := g.Client.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: request.Name}, before); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	changed := before.DeepCopy()
	changed.Spec.Replicas = &wanted.Spec.Replicas
	return g.comparePools(ctx, before, changed)
}

// comparePools refuses what a change of a pool brings that it may not have.
func (g *Guard) comparePools(ctx context.Context, before, changed *api.NodePool) (refusal, error) {
	refused, err := g.judgePool(ctx, changed)
	if err != nil || refused == none || !changed.DeletionTimestamp.IsZero() { // one that only goes on to be deleted
		return none, err
	}
	was, err := g.judgePool(ctx, before)
	if err != nil || was == refused {
		return none, err
	}
	return refused, nil
}

// changeCluster refuses a change that would leave a pool without a configuration that Talos accepts.
func (g *Guard) changeCluster(ctx context.Context, request admission.Request) (refusal, error) {
	if request.Operation != admissionv1.Update {
		return none, nil
	}
	changed, before := &api.TalosCluster{}, &api.TalosCluster{}
	if err := g.Decoder.Decode(request, changed); err != nil {
		return none, err
	}
	if err := g.Decoder.DecodeRaw(request.OldObject, before); err != nil {
		return none, err
	}
	if before.Generation == changed.Generation || !changed.DeletionTimestamp.IsZero() {
		return none, nil
	}
	pools, err := g.poolsOf(ctx, request.Namespace, request.Name)
	if err != nil {
		return none, err
	}
	for at := range pools {
		if lost := g.loses(ctx, &pools[at], before, changed); lost != "" {
			return refusal{ruleConfiguration, fmt.Sprintf("NodePool %s could not follow: %s", pools[at].Name, lost)}, nil
		}
	}
	return none, nil
}

// loses says what a pool's configuration fails with after a change of its cluster that it did not before. A pool that cannot be
// looked at is not judged.
func (g *Guard) loses(ctx context.Context, of *api.NodePool, before, changed *api.TalosCluster) string {
	refused, err := g.tryPool(ctx, of, changed)
	if err != nil || refused == none {
		return ""
	}
	if was, err := g.tryPool(ctx, of, before); err != nil || was != none {
		return ""
	}
	return refused.text
}
