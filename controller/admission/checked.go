// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check"
	"minos.dev/minos/check/rule"
	"minos.dev/minos/plan/preview"
)

// RefusedRules are the rules of minos check by which a change is refused, unless an operator is told others: what they find can
// never become a machine that works. Whatever else they find wrong is told to whoever makes the change.
var RefusedRules = []string{"EXT-001", "EXT-009", "EXT-010", "IMG-001", "NET-011"}

// checked holds a change to the rules of minos check, as far as they can be decided by what is declared: it is refused for the errors
// that it brings by some rules, and lines tell of those by all others. What was wrong before is no reason for either.
func (g *Guard) checked(ctx context.Context, request admission.Request) (refusal, []string) {
	var lines []string
	brought := g.brought(ctx, request)
	for at, finding := range brought {
		line := fmt.Sprintf("%s: %s", finding.Rule, finding.Text)
		if g.refuses(request, finding) {
			return refusal{ruleCheck, fmt.Sprintf("%s: %s (minos check --explain %s)", line, finding.Remedy, finding.Rule)}, nil
		}
		if at < told {
			lines = append(lines, line)
		}
	}
	if more := len(brought) - told; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more such findings: minos check tells them all", more))
	}
	return none, lines
}

// brought are the errors that a change brings. What cannot be looked up, and a mistake of ours, is no reason to refuse anything: the
// controllers will say what is wrong.
func (g *Guard) brought(ctx context.Context, request admission.Request) (found []*check.Finding) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	if counted(request) == "other" || request.Operation == admissionv1.Delete {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foretelling)
	defer cancel()
	change, err := g.change(ctx, request)
	if err != nil || len(change.After) == 0 || ctx.Err() != nil {
		return nil
	}
	found, err = change.Brings(rule.Error)
	if err != nil {
		return nil
	}
	return found
}

// refuses says whether a finding is a reason to refuse. A place has pools of many tenants, and none of them holds up who looks after
// it.
func (g *Guard) refuses(request admission.Request, finding *check.Finding) bool {
	kind := request.Kind.Kind
	return kind != string(api.KindLocation) && kind != string(api.KindClusterLocation) && slices.Contains(g.RefusedRules, finding.Rule)
}

// change is what somebody declares, with all that decides what becomes of it. Of very many pools some stand for all: whoever makes
// a change waits for the answer.
func (g *Guard) change(ctx context.Context, request admission.Request) (check.Change, error) {
	change := check.Change{Now: g.Now()}
	if request.Operation == admissionv1.Create {
		return change, g.made(ctx, request, &change)
	}
	changed, err := g.edit(ctx, request)
	if err != nil || changed.before == nil {
		return change, err
	}
	if len(changed.pools) == 0 && request.Kind.Kind == "TalosCluster" {
		before, after := preview.State{}, preview.State{}
		changed.before(&before)
		changed.after(&after)
		change.Before, change.After = []load.Object{before.Cluster}, []load.Object{after.Cluster}
		return change, nil
	}
	for at := range changed.pools[:min(told, len(changed.pools))] {
		state, err := g.state(ctx, &changed.pools[at])
		if err != nil {
			return change, err
		}
		before, after := state, state
		changed.before(&before)
		changed.after(&after)
		change.Before, change.After = add(change.Before, before), add(change.After, after)
	}
	return change, nil
}

// made is the change that makes a cluster or a pool.
func (g *Guard) made(ctx context.Context, request admission.Request, change *check.Change) error {
	switch request.Kind.Kind {
	case "TalosCluster":
		made := &api.TalosCluster{}
		if err := g.Decoder.Decode(request, made); err != nil {
			return err
		}
		change.After = []load.Object{made}
	case "NodePool":
		made := &api.NodePool{}
		if err := g.Decoder.Decode(request, made); err != nil {
			return err
		}
		state, err := g.state(ctx, made)
		if err != nil {
			return err
		}
		change.After = add(nil, state)
		change.Before = slices.DeleteFunc(slices.Clone(change.After), func(object load.Object) bool { return object == load.Object(made) })
	}
	return nil
}

// state is a pool with all that decides what becomes of it. What does not exist is nil.
func (g *Guard) state(ctx context.Context, of *api.NodePool) (preview.State, error) {
	state := preview.State{Pool: of, Cluster: &api.TalosCluster{}}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: string(of.Spec.ClusterName)}, state.Cluster)
	if apierrors.IsNotFound(err) {
		state.Cluster, err = nil, nil
	}
	if err != nil {
		return state, err
	}
	spec, err := g.location(ctx, of)
	if err != nil {
		return state, err
	}
	if spec != nil {
		state.Location = *spec
	}
	roles := &api.NodeRoleList{}
	if err := g.Client.List(ctx, roles); err != nil {
		return state, err
	}
	state.Roles = roles.Items
	return state, nil
}

// add adds the objects of a state to those of others, each once.
func add(all []load.Object, state preview.State) []load.Object {
	objects := []load.Object{state.Pool}
	if state.Cluster != nil {
		objects = append(objects, state.Cluster)
	}
	if state.Location.Member() != "" {
		objects = append(objects, place(state.Pool, &state.Location))
	}
	for at := range state.Roles {
		objects = append(objects, &state.Roles[at])
	}
	for _, object := range objects {
		if !slices.ContainsFunc(all, func(other load.Object) bool { return title(other) == title(object) }) {
			all = append(all, object)
		}
	}
	return all
}

// title tells one object from another.
func title(object load.Object) string {
	return strings.Join([]string{fmt.Sprintf("%T", object), object.GetNamespace(), object.GetName()}, "/")
}
