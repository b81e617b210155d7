// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	machineconfig "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"go.yaml.in/yaml/v3"

	"minos.dev/minos/check/facts"
)

// most is how many resources of one kind are read of one machine.
const most = 2000

// ask asks one machine for everything that rules read. What it does not answer is in its reading.
func ask(ctx context.Context, options Options, machine string) answer {
	found := answer{reading: facts.Reading{Node: machine}}
	asked, kinds, err := reach(ctx, options, machine)
	if err != nil {
		for _, kind := range options.Kinds {
			found.unread(kind, err)
		}
		return found
	}
	defer func() { _ = asked.client.Close() }() // what was asked was answered
	for _, kind := range options.Kinds {
		definition, known := kinds[kind]
		if !known {
			found.unread(kind, errUnknownKind)
			continue
		}
		objects, err := asked.read(ctx, definition)
		if err != nil {
			found.unread(kind, err)
			continue
		}
		found.reading.Read = append(found.reading.Read, kind)
		found.objects = append(found.objects, objects...)
	}
	return found
}

// unread keeps that a kind could not be read.
func (a *answer) unread(kind string, err error) {
	a.reading.Unread = append(a.reading.Unread, facts.Unread{What: kind, Why: plain(err)})
}

// definitions are the kinds that a machine knows, by type.
func (m *machine) definitions(ctx context.Context) (map[string]*meta.ResourceDefinition, error) {
	ctx, cancel := m.call(ctx)
	defer cancel()
	list, err := safe.StateListAll[*meta.ResourceDefinition](ctx, m.client.COSI)
	if err != nil {
		return nil, err
	}
	found := map[string]*meta.ResourceDefinition{}
	for definition := range list.All() {
		found[definition.TypedSpec().Type] = definition
	}
	return found, nil
}

// read reads the resources of one kind, as talosctl prints them.
func (m *machine) read(ctx context.Context, definition *meta.ResourceDefinition) ([]map[string]any, error) {
	ctx, cancel := m.call(ctx)
	defer cancel()
	kind := definition.TypedSpec()
	if kind.Type == machineconfig.MachineConfigType {
		return m.config(ctx)
	}
	// What a machine says is taken as it says it: it may be newer than we are.
	asItIs := state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal())
	list, err := m.client.COSI.List(ctx, resource.NewMetadata(kind.DefaultNamespace, kind.Type, "", resource.VersionUndefined), asItIs)
	if err != nil {
		return nil, err
	}
	if len(list.Items) > most {
		return nil, fmt.Errorf("there are %d, and more than %d are not read", len(list.Items), most)
	}
	var found []map[string]any
	for _, item := range list.Items {
		said, err := spec(item)
		if err != nil {
			return nil, err
		}
		found = append(found, hide(m.object(item, said)))
	}
	return found, nil
}

// config reads the configuration that is in force, without its secrets. A machine that has none yet has none.
func (m *machine) config(ctx context.Context) ([]map[string]any, error) {
	found, err := safe.StateGetByID[*machineconfig.MachineConfig](ctx, m.client.COSI, machineconfig.ActiveID)
	if state.IsNotFoundError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := hideConfig(found.Provider())
	if err != nil {
		return nil, err
	}
	return []map[string]any{m.object(found, text)}, nil
}

// spec is what a resource says, as its machine wrote it.
func spec(item resource.Resource) (any, error) {
	packed, err := protobuf.FromResource(item)
	if err != nil {
		return nil, err
	}
	message, err := packed.Marshal()
	if err != nil {
		return nil, err
	}
	var said any
	return said, yaml.Unmarshal([]byte(message.GetSpec().GetYamlSpec()), &said)
}

// object is a resource as talosctl prints it.
func (m *machine) object(item resource.Resource, said any) map[string]any {
	about := item.Metadata()
	return map[string]any{
		"node": m.name,
		"metadata": map[string]any{
			"namespace": about.Namespace(), "type": about.Type(), "id": about.ID(), "version": about.Version().String(), "owner": about.Owner(), "phase": about.Phase().String(),
			"created": about.Created().UTC().Format(time.RFC3339), "updated": about.Updated().UTC().Format(time.RFC3339),
		},
		"spec": said,
	}
}
