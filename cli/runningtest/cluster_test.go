// SPDX-License-Identifier: Apache-2.0

// Package runningtest tries the commands that ask a running cluster, on simulated machines that join a real API server and serve the
// Talos API.
package runningtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"minos.dev/minos/api/load"
	"minos.dev/minos/backend"
	"minos.dev/minos/cli"
	"minos.dev/minos/sim/cluster"
	"minos.dev/minos/sim/loopback"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/pki"
)

// within bounds what a busy computer takes.
const within = 2 * time.Minute

// A lab is one API server that clusters of simulated machines join, one after the other.
type lab struct {
	folder  string
	network *loopback.Network
	cluster *cluster.Cluster
	nodes   kubernetes.Interface
}

// shared is the lab of all tests: an API server takes long to start.
var shared *lab

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run opens the lab, runs the tests and closes it.
func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "runningtest-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	network, err := loopback.Claim(folder)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	own, err := network.Take("plane")
	if err != nil {
		return 1, err
	}
	opened, err := cluster.Open(context.Background(), cluster.Options{Folder: filepath.Join(folder, "cluster"), Address: own, Talos: "v1.13.9"})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, opened.Stop()) }()
	clients, err := kubernetes.NewForConfig(opened.Plane.Config())
	if err != nil {
		return 1, err
	}
	shared = &lab{folder: folder, network: network, cluster: opened, nodes: clients}
	return m.Run(), nil
}

// A scene is a cluster of machines that have joined, and what is declared of it.
type scene struct {
	t        *testing.T
	fleet    string // the folder
	machines map[string]*machine.Machine
	hosts    []string
	configs  [][]byte // as machines got them
}

// A story is how a cluster is made, and how it is broken.
type story struct {
	fleet  string
	counts map[string]int
	// breaks changes a machine before it gets power.
	breaks func(t *testing.T, one *backend.Machine, image *machine.Image)
	// stuck are machines whose boot does not end.
	stuck []string
}

// play makes the cluster, and takes it away with the test.
func play(t *testing.T, told story) *scene {
	t.Helper()
	s := &scene{t: t, fleet: t.TempDir(), machines: map[string]*machine.Machine{}}
	if err := os.WriteFile(filepath.Join(s.fleet, "fleet.yaml"), []byte(told.fleet), 0o600); err != nil {
		t.Fatal(err)
	}
	declared, err := cluster.Read(objects(t, told.fleet), "")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := declared.Machines(shared.cluster, told.counts)
	if err != nil {
		t.Fatal(err)
	}
	schematics, err := declared.Schematics()
	if err != nil {
		t.Fatal(err)
	}
	rack, err := machine.NewRack(machine.Environment{Scale: 500, Durations: machine.Durations{Deadline: 24 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rack.Close(); s.forget() })
	for _, one := range wanted {
		image := machine.Image{Version: string(one.Image.Version), Schematic: one.Image.Schematic, Extensions: schematics[one.Image.Schematic]}
		if told.breaks != nil {
			told.breaks(t, &one, &image)
		}
		s.add(rack, one, image)
	}
	s.wait(told.stuck)
	return s
}

// objects reads declarations.
func objects(t *testing.T, text string) []load.Object {
	t.Helper()
	reader, err := load.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	documents, problems := reader.Read("fleet.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var all []load.Object
	for _, document := range documents {
		all = append(all, document.Object)
	}
	return all
}

// add puts a machine into the rack.
func (s *scene) add(rack *machine.Rack, one backend.Machine, image machine.Image) {
	s.t.Helper()
	address, err := shared.network.Take(one.Name)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := rack.Add(machine.Options{
		Name: one.Name, Hostname: one.Name, Disk: machine.NewMemory(image), UserData: one.UserData, Addresses: []netip.Addr{address},
		Listen: net.JoinHostPort(address.String(), "50000"),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.machines[one.Name] = made
	s.hosts = append(s.hosts, address.String())
	s.configs = append(s.configs, one.UserData)
}

// wait waits until every machine is ready, or stands as it should.
func (s *scene) wait(stuck []string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	for name, made := range s.machines {
		if _, err := made.Wait(ctx, func(status machine.Status) bool {
			stopped, stands := status.Stopped()
			return status.Reached(machine.StepReady) || slices.Contains(stuck, name) && stands && stopped.Step == machine.StepServices && status.Reached(machine.StepCNI)
		}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// forget removes what machines leave behind.
func (s *scene) forget() {
	for name := range s.machines {
		if err := shared.nodes.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			s.t.Errorf("remove Node %s: %v", name, err)
		}
		if err := shared.network.Give(name); err != nil {
			s.t.Error(err)
		}
	}
}

// talosconfig writes a talosconfig with some roles, by which all machines are asked themselves.
func (s *scene) talosconfig(roles ...string) string {
	s.t.Helper()
	return s.talosconfigBy(s.hosts, roles...)
}

// talosconfigBy writes a talosconfig with endpoints of its own.
func (s *scene) talosconfigBy(endpoints []string, roles ...string) string {
	s.t.Helper()
	text, err := shared.cluster.Secrets.Talosconfig(pki.TalosAccess{
		Cluster: "shop", Endpoints: endpoints, Roles: roles, Validity: pki.Validity{Now: time.Now(), For: time.Hour},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.t.TempDir(), "talosconfig")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// A result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command with the kubeconfig of the lab.
func (s *scene) run(args ...string) result {
	s.t.Helper()
	return s.offline(append(args, "--kubeconfig", shared.cluster.Plane.KubeconfigFile())...)
}

// offline runs a command.
func (s *scene) offline(args ...string) result {
	s.t.Helper()
	var out, words bytes.Buffer
	root := cli.New(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &words}, cli.Version{})
	code := cli.Run(s.t.Context(), root, args)
	return result{code, out.String(), words.String()}
}
