// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/index"
	"minos.dev/minos/plan/preview"
)

// foretelling is how long whoever makes a change waits to hear of what it does. What is not known by then is not told.
const foretelling = 2 * time.Second

// told is how many pools are told of. The API server cuts what is longer.
const told = 8

// An edit is a change of one object: which pools it may touch, and how their states differ before and after it.
type edit struct {
	pools         []api.NodePool
	before, after func(*preview.State)
}

// warnings foretell what a change that is let in will replace. They are for whoever makes it, who can still take it back; that one
// cannot be made is no reason to refuse anything.
func (g *Guard) warnings(ctx context.Context, request admission.Request) (lines []string) {
	defer func() {
		if recover() != nil {
			lines = nil
		}
	}()
	if request.Operation != admissionv1.Update {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foretelling)
	defer cancel()
	changed, err := g.edit(ctx, request)
	if err != nil {
		return nil
	}
	return g.foretell(ctx, changed)
}

// foretell says what an edit does, pool by pool.
func (g *Guard) foretell(ctx context.Context, changed edit) []string {
	var lines []string
	pools, machines := 0, 0
	for at := range changed.pools {
		found, err := g.forecast(ctx, changed, &changed.pools[at])
		if err != nil || ctx.Err() != nil {
			continue
		}
		for _, why := range found.Impossible {
			if !slices.Contains(lines, why) {
				lines = append(lines, why)
			}
		}
		if found.Replaced == 0 {
			continue
		}
		if pools++; pools > told {
			machines += found.Replaced
			continue
		}
		lines = append(lines, found.Lines()[0])
	}
	if pools > told {
		lines = append(lines, fmt.Sprintf("%d machines of %d other pools will be replaced too", machines, pools-told))
	}
	return lines
}

// forecast foretells what an edit does to one pool.
func (g *Guard) forecast(ctx context.Context, changed edit, of *api.NodePool) (preview.Forecast, error) {
	state, err := g.state(ctx, of)
	if err != nil || state.Location.Member() == "" {
		return preview.Forecast{}, err
	}
	before, after := state, state
	changed.before(&before)
	changed.after(&after)
	return preview.For(before, after), nil
}

// edit reads what is changed. A change of no field has no pools.
func (g *Guard) edit(ctx context.Context, request admission.Request) (edit, error) {
	switch request.Kind.Kind {
	case "NodePool":
		return g.editPool(request)
	case "TalosCluster":
		return g.editCluster(ctx, request)
	case "NodeRole":
		return g.editRole(ctx, request)
	case string(api.KindLocation):
		before, after := &api.Location{}, &api.Location{}
		return g.editPlace(ctx, request, placeEdit{before, after, &before.Spec, &after.Spec})
	case string(api.KindClusterLocation):
		before, after := &api.ClusterLocation{}, &api.ClusterLocation{}
		return g.editPlace(ctx, request, placeEdit{before, after, &before.Spec, &after.Spec})
	}
	return edit{}, nil
}

// read reads an object as it was and as it will be, and says whether it differs in what it declares and stays.
func (g *Guard) read(request admission.Request, before, after client.Object) (bool, error) {
	if err := g.Decoder.Decode(request, after); err != nil {
		return false, err
	}
	if err := g.Decoder.DecodeRaw(request.OldObject, before); err != nil {
		return false, err
	}
	return before.GetGeneration() != after.GetGeneration() && after.GetDeletionTimestamp().IsZero(), nil
}

// editPool is a change of one pool.
func (g *Guard) editPool(request admission.Request) (edit, error) {
	before, after := &api.NodePool{}, &api.NodePool{}
	if differs, err := g.read(request, before, after); err != nil || !differs {
		return edit{}, err
	}
	return edit{
		pools:  []api.NodePool{*after},
		before: func(s *preview.State) { s.Pool = before }, after: func(s *preview.State) { s.Pool = after },
	}, nil
}

// editCluster is a change of a cluster, and so of its pools.
func (g *Guard) editCluster(ctx context.Context, request admission.Request) (edit, error) {
	before, after := &api.TalosCluster{}, &api.TalosCluster{}
	if differs, err := g.read(request, before, after); err != nil || !differs {
		return edit{}, err
	}
	pools, err := g.poolsOf(ctx, request.Namespace, request.Name)
	return edit{
		pools:  pools,
		before: func(s *preview.State) { s.Cluster = before }, after: func(s *preview.State) { s.Cluster = after },
	}, err
}

// editRole is a change of a role, and so of the pools that have it or one that extends it.
func (g *Guard) editRole(ctx context.Context, request admission.Request) (edit, error) {
	before, after := &api.NodeRole{}, &api.NodeRole{}
	if differs, err := g.read(request, before, after); err != nil || !differs {
		return edit{}, err
	}
	roles := &api.NodeRoleList{}
	if err := g.Client.List(ctx, roles); err != nil {
		return edit{}, err
	}
	changed := edit{before: func(s *preview.State) { s.Roles = with(s.Roles, before) }, after: func(s *preview.State) { s.Roles = with(s.Roles, after) }}
	for _, name := range leaning(request.Name, roles.Items) {
		pools := &api.NodePoolList{}
		if err := g.Client.List(ctx, pools, client.MatchingFields{index.Role: name}); err != nil {
			return edit{}, err
		}
		changed.pools = append(changed.pools, pools.Items...)
	}
	return changed, nil
}

// leaning are a role and those that extend it, directly or not.
func leaning(on string, roles []api.NodeRole) []string {
	all := []string{on}
	for at := 0; at < len(all); at++ {
		for _, role := range roles {
			if string(role.Spec.Extends) == all[at] && !slices.Contains(all, role.Name) {
				all = append(all, role.Name)
			}
		}
	}
	return all
}

// with are roles with one in place of that of its name.
func with(roles []api.NodeRole, one *api.NodeRole) []api.NodeRole {
	others := slices.DeleteFunc(slices.Clone(roles), func(role api.NodeRole) bool { return role.Name == one.Name })
	return append(others, *one)
}

// placeEdit is a place before and after a change.
type placeEdit struct {
	before, after         client.Object
	beforeSpec, afterSpec *api.LocationSpec
}

// editPlace is a change of a place, and so of the pools in it.
func (g *Guard) editPlace(ctx context.Context, request admission.Request, at placeEdit) (edit, error) {
	if differs, err := g.read(request, at.before, at.after); err != nil || !differs {
		return edit{}, err
	}
	pools := &api.NodePoolList{}
	err := g.Client.List(ctx, pools, client.MatchingFields{index.Location: index.Place(api.LocationKind(request.Kind.Kind), request.Namespace, request.Name)})
	return edit{
		pools:  pools.Items,
		before: func(s *preview.State) { s.Location = *at.beforeSpec }, after: func(s *preview.State) { s.Location = *at.afterSpec },
	}, err
}
