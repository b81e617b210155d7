// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource/meta"
	talos "github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errUnknownKind is why a kind cannot be read that the machine's Talos does not have.
var errUnknownKind = errors.New("its Talos does not have it")

// A machine is one that is asked.
type machine struct {
	name   string // by which it is asked
	within time.Duration
	client *talos.Client
	behind bool // another machine passes the question on
}

// call is the context of one question.
func (m *machine) call(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.behind {
		ctx = talos.WithNode(ctx, m.name)
	}
	return context.WithTimeout(ctx, m.within)
}

// reach finds a way to a machine, and returns it with the kinds that it knows. As with talosctl, endpoints pass questions on; a worker
// does not do that, so that one which is no endpoint is asked itself where they refuse, or where there are none.
func reach(ctx context.Context, options Options, name string) (*machine, map[string]*meta.ResourceDefinition, error) {
	endpoints := options.Talos.Endpoints
	if len(endpoints) > 0 && !slices.Contains(endpoints, name) {
		found, kinds, err := connect(ctx, options, machine{name: name, behind: true}, endpoints)
		if !refuses(err) {
			return found, kinds, err
		}
	}
	return connect(ctx, options, machine{name: name}, []string{name})
}

// refuses says whether an endpoint is a worker, which passes nothing on.
func refuses(err error) bool {
	return status.Code(err) == codes.PermissionDenied && strings.Contains(err.Error(), "no request forwarding")
}

// connect connects by endpoints, and asks for kinds: whoever answers has proven itself.
func connect(ctx context.Context, options Options, wanted machine, endpoints []string) (*machine, map[string]*meta.ResourceDefinition, error) {
	client, err := talos.New(ctx, talos.WithConfigContext(options.Talos), talos.WithEndpoints(endpoints...))
	if err != nil {
		return nil, nil, err
	}
	wanted.client, wanted.within = client, options.Call
	kinds, err := wanted.definitions(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return &wanted, kinds, nil
}
