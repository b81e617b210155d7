// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talos "github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/talos/pki"
)

// How long a machine may take to answer, how long it may take to be reached at all, and how long the certificate is valid that it is
// asked with.
const (
	asking   = 5 * time.Second
	reaching = 2 * time.Second
	lending  = 10 * time.Minute
)

// askTalos asks the machine itself.
func (s *scope) askTalos(ctx context.Context) machines.Talos {
	if s.instance == nil || len(s.instance.Addresses) == 0 {
		return machines.Talos{}
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	found := machines.Talos{Asked: true, Address: s.instance.Addresses[0].String()}
	if err := reach(ctx, found.Address); err != nil {
		found.Problem = plain(err)
		return found
	}
	identity, err := material.Identity(ctx, s.Secrets, s.cluster)
	if err != nil {
		return machines.Talos{Problem: plain(err)} // nobody was asked
	}
	err = s.ask(ctx, identity, &found)
	if found.Answers {
		s.revise(ctx, identity, found.Address)
	}
	if err != nil {
		found.Problem, found.Maintenance = plain(err), strings.Contains(err.Error(), "unknown authority")
	}
	return found
}

// reach looks whether anybody listens: a machine that boots is noticed at once, and not after all tries of a client.
func reach(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: reaching}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(constants.ApidPort)))
	if err != nil {
		return err
	}
	return connection.Close()
}

// ourEnd is this end of a connection in an error, with a port that is another one each time.
var ourEnd = regexp.MustCompile(`\S+:\d+->`)

// plain is an error in one line without what changes each time: a status that changes is written.
func plain(err error) string {
	text := ourEnd.ReplaceAllString(err.Error(), "")
	if _, end, found := strings.Cut(text, "desc = "); found {
		text = end
	}
	if at := strings.LastIndex(text, ": connect: "); at >= 0 {
		text = text[at+len(": connect: "):]
	}
	return strings.ReplaceAll(strings.TrimSuffix(text, `"`), "\n", " ")
}

// connect connects to one machine, with a role of Talos's and no more.
func (s *scope) connect(ctx context.Context, identity *pki.Secrets, address string, as role.Role) (*talos.Client, error) {
	text, err := identity.Talosconfig(pki.TalosAccess{
		Cluster: "machine", Endpoints: []string{address}, Roles: []string{string(as)}, Validity: pki.Validity{Now: s.now(), For: lending},
	})
	if err != nil {
		return nil, err
	}
	config, err := clientconfig.FromBytes(text)
	if err != nil {
		return nil, err
	}
	return talos.New(ctx, talos.WithConfig(config))
}

// ask asks for version, services and stage. Whoever answers the first has proven itself.
func (s *scope) ask(ctx context.Context, identity *pki.Secrets, found *machines.Talos) error {
	client, err := s.connect(ctx, identity, found.Address, role.Reader)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was asked was answered
	version, err := client.Version(ctx)
	if err != nil {
		return err
	}
	if messages := version.GetMessages(); len(messages) > 0 {
		s.machine.Status.TalosVersion = messages[0].GetVersion().GetTag()
	}
	services, err := client.ServiceList(ctx)
	if err != nil {
		return err
	}
	status, err := safe.StateGetByID[*runtime.MachineStatus](ctx, client.COSI, runtime.MachineStatusID)
	if err != nil {
		return err
	}
	found.Answers, found.Stage = true, status.TypedSpec().Stage.String()
	found.Booted = status.TypedSpec().Stage == runtime.MachineStageRunning
	for _, message := range services.GetMessages() {
		for _, service := range message.GetServices() {
			read(service, found)
		}
	}
	return nil
}

// read reads what a service says.
func read(service *machineapi.ServiceInfo, found *machines.Talos) {
	state, id := service.GetState(), service.GetId()
	if id == "kubelet" {
		found.Kubelet = state == "Running" && service.GetHealth().GetHealthy()
	}
	if !strings.HasPrefix(id, "ext-") || state == "Running" || state == "Finished" || state == "Skipped" {
		return
	}
	text := fmt.Sprintf("service %s is %s", id, state)
	if said := service.GetEvents().GetEvents(); len(said) > 0 && said[len(said)-1].GetMsg() != state {
		text += ": " + said[len(said)-1].GetMsg()
	}
	found.Waiting = append(found.Waiting, text)
}
