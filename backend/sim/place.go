// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

// A Place is a simulated cloud, as its callers see it.
type Place struct {
	caller caller
}

var _ backend.Place = (*Place)(nil)

// New returns the place whose API is at an address such as http://127.0.0.1:8080, for whoever has the token. It calls nobody.
func New(address, token string) (*Place, error) {
	caller, err := newCaller(address, token)
	if err != nil {
		return nil, err
	}
	return &Place{caller: caller}, nil
}

// Traits are those of a simulated cloud.
func (p *Place) Traits() backend.Traits {
	return backend.Traits{Member: api.MemberSim, UserData: UserData, Settles: Settles}
}

// Create makes an instance or finds the one that was made.
func (p *Place) Create(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
	if err := checkWanted(wanted); err != nil {
		return backend.Instance{}, err
	}
	var shown Shown
	if err := p.caller.call(ctx, request{method: http.MethodPost, path: Root, body: WantedOf(wanted)}, &shown); err != nil {
		return backend.Instance{}, err
	}
	if !makesSense(shown) || shown.Name != wanted.Name {
		return backend.Instance{}, backend.Fail(backend.Unsure, "the place answered with something that is not the instance %s: ask again", wanted.Name)
	}
	return shown.Instance(), nil
}

// checkWanted says what no cloud needs to be asked.
func checkWanted(wanted backend.Machine) error {
	if member := wanted.Spec.Member(); member != api.MemberSim {
		return backend.Fail(backend.Invalid, "machine %s is for the place %q and this one is %q: give the pool a machine of this place", wanted.Name, member, api.MemberSim)
	}
	if size := len(wanted.UserData); size > UserData {
		return backend.Fail(backend.Invalid, "machine %s has %d bytes of user data, and %d fit: make its configuration smaller", wanted.Name, size, UserData)
	}
	return nil
}

// makesSense says whether an answer can be an instance.
func makesSense(shown Shown) bool {
	states := []backend.State{backend.Creating, backend.Running, backend.Stopped, backend.Failed, backend.Deleting}
	return shown.ID != "" && shown.Name != "" && slices.Contains(states, backend.State(shown.State))
}

// Get returns an instance.
func (p *Place) Get(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
	path, err := pathOf(id)
	if err != nil {
		return backend.Instance{}, err
	}
	var shown Shown
	if err := p.caller.call(ctx, request{method: http.MethodGet, path: path, query: queryOf(owner)}, &shown); err != nil {
		return backend.Instance{}, err
	}
	if !makesSense(shown) || shown.ID != id {
		return backend.Instance{}, backend.Fail(backend.Unavailable, "the place answered with something that is not the instance %s: try again", id)
	}
	return shown.Instance(), nil
}

// List returns the owner's instances by name. It is all pages or an error.
func (p *Place) List(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
	var found []backend.Instance
	query := queryOf(owner)
	for {
		var page Page
		if err := p.caller.call(ctx, request{method: http.MethodGet, path: Root, query: query}, &page); err != nil {
			return nil, err
		}
		for _, shown := range page.Instances {
			if !makesSense(shown) {
				return nil, backend.Fail(backend.Unavailable, "the place answered with a list of something else: try again")
			}
			found = append(found, shown.Instance())
		}
		if page.Next == "" {
			break
		}
		if page.Next == query.Get(QueryCursor) {
			return nil, backend.Fail(backend.Unavailable, "the place answered with a list that does not end: try again")
		}
		query.Set(QueryCursor, page.Next)
	}
	slices.SortFunc(found, func(a, b backend.Instance) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Delete has an instance removed.
func (p *Place) Delete(ctx context.Context, owner backend.Owner, id string) error {
	path, err := pathOf(id)
	if err != nil {
		return err
	}
	err = p.caller.call(ctx, request{method: http.MethodDelete, path: path, query: queryOf(owner)}, nil)
	if err != nil && backend.ReasonOf(err) == backend.Gone {
		return nil
	}
	return err
}

// pathOf is where an instance is. What would name another path is nobody's.
func pathOf(id string) (string, error) {
	if id == "" || id == "." || id == ".." {
		return "", backend.Fail(backend.Invalid, "%q is not the ID of an instance: give one that the place gave", id)
	}
	return Root + "/" + url.PathEscape(id), nil
}

// queryOf says whose instances are meant.
func queryOf(owner backend.Owner) url.Values {
	return url.Values{QueryInstallation: {owner.Installation}, QueryCluster: {owner.Cluster}}
}
