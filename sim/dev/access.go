// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/file"
)

// An Access is the files by which everything is reached. Only their owner can read them.
type Access struct {
	// Management is a kubeconfig of the management cluster, in the tenant's namespace.
	Management string `json:"management"`
	// Tenant is a kubeconfig of the tenant's cluster.
	Tenant string `json:"tenant"`
	// Talos is a talosconfig for its machines, and Machine the one that it is about if a command names none.
	Talos   string `json:"talos"`
	Machine string `json:"machine"`
}

// WriteAccess writes them.
func (s *Session) WriteAccess(ctx context.Context) (Access, error) {
	access := Access{Management: s.file("kubeconfig"), Tenant: s.file(Cluster + ".kubeconfig"), Talos: s.file("talosconfig")}
	management, err := clientcmd.LoadFromFile(s.estate.Kubeconfig())
	if err != nil {
		return access, err
	}
	for _, one := range management.Contexts {
		one.Namespace = Namespace
	}
	text, err := clientcmd.Write(*management)
	if err == nil {
		err = file.Write(access.Management, text)
	}
	if err != nil {
		return access, err
	}
	if text, err = s.kubeconfig(ctx); err == nil {
		err = file.Write(access.Tenant, text)
	}
	if err != nil {
		return access, err
	}
	if text, err = s.secret(ctx, names.Talosconfig(declaredCluster()), "talosconfig"); err != nil {
		return access, err
	}
	access.Machine, text, err = s.aimed(ctx, text)
	if err != nil {
		return access, err
	}
	return access, file.Write(access.Talos, text)
}

// aimed is a talosconfig that leads to a machine. In life machines are reached by their own addresses too; only what the file names
// is the hosted control plane, which has no Talos API.
func (s *Session) aimed(ctx context.Context, text []byte) (string, []byte, error) {
	config, err := clientconfig.FromBytes(text)
	if err != nil {
		return "", nil, err
	}
	_, view, err := s.look(ctx)
	if err != nil {
		return "", nil, err
	}
	var addresses []string
	for _, one := range view.Machines {
		if host, _, err := net.SplitHostPort(one.API); err == nil {
			addresses = append(addresses, host)
		}
	}
	if len(addresses) == 0 {
		return "", nil, errors.New("no machine answers at a Talos API")
	}
	for _, one := range config.Contexts {
		one.Endpoints, one.Nodes = addresses[:1], addresses[:1]
	}
	text, err = config.Bytes()
	return addresses[0], text, err
}

// declaredCluster is the tenant's cluster, as far as names follow from it.
func declaredCluster() *api.TalosCluster {
	return &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Cluster}}
}

// kubeconfig reads how an administrator reaches the tenant's cluster.
func (s *Session) kubeconfig(ctx context.Context) ([]byte, error) {
	return s.secret(ctx, names.Kubeconfig(declaredCluster()), "value")
}

// secret reads a key of a Secret.
func (s *Session) secret(ctx context.Context, name, key string) ([]byte, error) {
	secret := &corev1.Secret{}
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, secret); err != nil {
		return nil, err
	}
	if len(secret.Data[key]) == 0 {
		return nil, fmt.Errorf("the key %s of Secret %s is empty", key, name)
	}
	return secret.Data[key], nil
}

// file is a file in the folder.
func (s *Session) file(name string) string { return filepath.Join(s.options.Folder, name) }

// Programs are what commands are called with.
type Programs struct{ Minos, Kube string }

// A Suggestion is a command to try, and what it does.
type Suggestion struct {
	Command string `json:"command"`
	About   string `json:"about"`
}

// Suggestions are commands to try. Each works as it stands in a shell; the last needs talosctl.
func Suggestions(access Access, programs Programs) []Suggestion {
	minos := func(words string) string {
		return quote(programs.Minos) + " " + words + " --kubeconfig " + quote(access.Management)
	}
	return []Suggestion{
		{minos("pool list"), "the pools, as a tenant sees them"},
		{minos("cluster describe " + Cluster), "the cluster, step by step"},
		{minos("pool scale general 3 --wait"), "another machine, made by Cluster API"},
		{minos("doctor"), "why something is not Ready"},
		{quote(programs.Kube) + " kubectl get nodes --kubeconfig " + quote(access.Tenant), "the tenant's own view"},
		{quote(programs.Kube) + " kubectl get machines.cluster.x-k8s.io,talosmachines --kubeconfig " + quote(access.Management), "what the pools were made into"},
		{"talosctl --talosconfig " + quote(access.Talos) + " services", "a machine by its own API; talosctl is not part of Minos"},
	}
}

// quote makes a word that a shell reads as it is.
func quote(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune("/._-~+:@%,=", r) && !isPlain(r) }) < 0 && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain says whether no shell knows a letter for anything else.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
