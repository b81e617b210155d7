// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/controlplane"
	"minos.dev/minos/sim/file"
	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/talos/config"
	"minos.dev/minos/talos/pki"
	"minos.dev/minos/trust"
	"minos.dev/minos/trust/issue"
)

// Options are one cluster.
type Options struct {
	// Folder keeps it.
	Folder string
	// Address is where its API server and its signer are: a loopback address that nobody else uses.
	Address netip.Addr
	// Talos is the release of its machines.
	Talos api.TalosVersion
	// Audit takes a line of the signer for each request. Nil means nobody.
	Audit io.Writer
}

// A Cluster is one that machines can join.
type Cluster struct {
	// Plane is its control plane.
	Plane *hosted.ControlPlane
	// Secrets are its own.
	Secrets *pki.Secrets
}

// Open starts a cluster, or goes on with the one of the folder, and returns when machines can join.
func Open(ctx context.Context, options Options) (*Cluster, error) {
	if options.Audit == nil {
		options.Audit = io.Discard
	}
	if err := os.MkdirAll(options.Folder, 0o700); err != nil {
		return nil, err
	}
	secrets, err := ensureSecrets(filepath.Join(options.Folder, "secrets.yaml"), options.Talos)
	if err != nil {
		return nil, err
	}
	authority := secrets.Bundle.Certs.K8s
	plane, err := startPlane(ctx, hosted.Options{
		Dir: filepath.Join(options.Folder, "plane"), Address: options.Address,
		Authority: &hosted.Authority{Certificate: authority.Crt, Key: authority.Key},
	})
	if err != nil {
		return nil, err
	}
	c := &Cluster{Plane: plane, Secrets: secrets}
	if err := c.letJoin(ctx, options); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return c, nil
}

// stopping is how long the API server of a simulation that was killed may take to stop, and look how often that is looked at.
const (
	stopping = time.Minute
	look     = 200 * time.Millisecond
)

// startPlane starts the control plane. That of a simulation that was killed a moment ago may still be stopping.
func startPlane(ctx context.Context, options hosted.Options) (plane *hosted.ControlPlane, err error) {
	patience, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	for {
		if plane, err = hosted.Start(ctx, options); !errors.Is(err, controlplane.ErrInUse) {
			return plane, err
		}
		select {
		case <-time.After(look):
		case <-patience.Done():
			return nil, err
		}
	}
}

// Stop stops it. What the folder keeps stays.
func (c *Cluster) Stop() error { return c.Plane.Stop() }

// ensureSecrets reads the secrets, or makes them if there are none. What cannot be read is never made anew.
func ensureSecrets(path string, version api.TalosVersion) (*pki.Secrets, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		return pki.Parse(text, pki.NeedAll)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	contract, err := config.Contract(version)
	if err != nil {
		return nil, err
	}
	secrets, err := pki.New(contract, time.Now())
	if err != nil {
		return nil, err
	}
	if text, err = secrets.Marshal(); err != nil {
		return nil, err
	}
	return secrets, file.Write(path, text)
}

// letJoin brings what machines ask for: the signer, and a bootstrap token with what it may do.
func (c *Cluster) letJoin(ctx context.Context, options Options) error {
	settings, err := c.signer(options)
	if err != nil {
		return err
	}
	if err := c.Plane.Sign(ctx, settings, slog.New(slog.DiscardHandler), options.Audit); err != nil {
		return err
	}
	if err := c.Plane.Prepare(ctx); err != nil {
		return err
	}
	return c.token(ctx, time.Now().Add(tokenLife))
}

// signer writes the files of a signer and returns its settings.
func (c *Cluster) signer(options Options) (trust.Config, error) {
	folder, authority := filepath.Join(options.Folder, "signer"), c.Secrets.Bundle.Certs.OS
	settings := trust.Default()
	settings.Sources.CACert, settings.Sources.CAKey = filepath.Join(folder, "ca.crt"), filepath.Join(folder, "ca.key")
	settings.Sources.TLSCert, settings.Sources.TLSKey = "", ""
	settings.Sources.Serving = issue.Names{CommonName: options.Address.String(), Addresses: []netip.Addr{options.Address}}
	settings.Sources.Tokens = filepath.Join(folder, "tokens")
	// All machines of a simulation come from this machine, so that limits for one source would hold for all of them.
	settings.SourceRate, settings.FailedTokens, settings.Room.PerSource = 0, 0, settings.Room.Connections
	if err := os.MkdirAll(settings.Sources.Tokens, 0o700); err != nil {
		return settings, err
	}
	for path, text := range map[string][]byte{
		settings.Sources.CACert: authority.Crt, settings.Sources.CAKey: authority.Key,
		filepath.Join(settings.Sources.Tokens, "machines"): []byte(c.Secrets.Bundle.TrustdInfo.Token),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return settings, err
		}
	}
	return settings, nil
}

// tokenLife is how long machines can join after the cluster was opened.
const tokenLife = 24 * time.Hour

// token makes the bootstrap token, or lets it live on.
func (c *Cluster) token(ctx context.Context, until time.Time) error {
	clients, err := kubernetes.NewForConfig(c.Plane.Config())
	if err != nil {
		return err
	}
	id, secret, _ := strings.Cut(c.Secrets.Bundle.Secrets.BootstrapToken, ".")
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"expiration": until.UTC().Format(time.RFC3339), "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}
	secrets := clients.CoreV1().Secrets(metav1.NamespaceSystem)
	if _, err = secrets.Create(ctx, token, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		_, err = secrets.Update(ctx, token, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make the bootstrap token: %w", err)
	}
	return nil
}
