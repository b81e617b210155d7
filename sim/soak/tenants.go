// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/hosted"
)

// tenants are clients of the tenants' API servers, by cluster. They go straight, past all doors.
type tenants struct {
	mutex sync.Mutex
	known map[string]tenant
}

// A tenant is a client, and the kubeconfig that it was made from.
type tenant struct {
	version string
	client  client.Client
}

// patience is how long a tenant's API server may take to answer.
const patience = 3 * time.Second

// of returns the client of a cluster.
func (t *tenants) of(ctx context.Context, management client.Reader, cluster string) (client.Client, error) {
	secret := &corev1.Secret{}
	key := keyOf(cluster)
	key.Name += "-kubeconfig"
	if err := management.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	version := string(secret.UID) + secret.ResourceVersion
	if found, ok := t.known[cluster]; ok && found.version == version {
		return found.client, nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig of %s: %w", cluster, err)
	}
	if straight := config.ServerName; straight != "" {
		config.Host = "https://" + net.JoinHostPort(straight, fmt.Sprint(hosted.Port))
	}
	config.QPS, config.Timeout = -1, patience
	made, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return nil, err
	}
	if t.known == nil {
		t.known = map[string]tenant{}
	}
	t.known[cluster] = tenant{version: version, client: made}
	return made, nil
}
