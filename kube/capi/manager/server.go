// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// A server answers webhooks on a listener that is bound before the manager exists. The library's own server binds when it
// starts, too late to tell the API server a port that nobody else can take.
type server struct {
	webhook.Server // keeps the register of paths
	listener       net.Listener
	http           *http.Server
}

var _ webhook.Server = &server{}

func newServer(listener net.Listener, cert tls.Certificate) *server {
	mux := http.NewServeMux()
	return &server{
		Server:   webhook.NewServer(webhook.Options{WebhookMux: mux}),
		listener: listener,
		http: &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 10 * time.Second,
			IdleTimeout:       90 * time.Second,
			TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
			ErrorLog:          log.New(logged{}, "", 0),
		},
	}
}

// Start serves until the context ends.
func (s *server) Start(ctx context.Context) error {
	forget := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		_ = s.http.Shutdown(limited) // what has not been answered by then never will be
	})
	defer forget()
	// The files are empty because the certificate is in the configuration.
	if err := s.http.ServeTLS(s.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}

// StartedChecker is healthy from the start: the listener takes connections before the server answers them.
func (s *server) StartedChecker() healthz.Checker { return healthz.Ping }

// logged takes what net/http has to say to the log.
type logged struct{}

// Write logs a line.
func (logged) Write(line []byte) (int, error) {
	klog.V(1).InfoS("webhook server", "message", string(line))
	return len(line), nil
}
