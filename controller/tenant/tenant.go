// SPDX-License-Identifier: Apache-2.0

// Package tenant reaches the API servers of tenants. Every call has a time limit, so that a dead one harms nobody else.
package tenant

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// patience is how long a tenant's API server may take to answer.
const patience = 10 * time.Second

// Clients are those of the tenants. They are made from the Secret that holds a cluster's kubeconfig, and anew when it changes.
type Clients struct {
	// Secrets reads the management cluster's Secrets.
	Secrets client.Reader
	// Refused are the networks to which nothing that a tenant names may lead.
	Refused []netip.Prefix

	mutex sync.Mutex
	known map[which]entry
}

// which is which cluster's.
type which struct{ namespace, name string }

// An entry is a client and what it was made from.
type entry struct {
	version string
	client  client.Client
	config  *rest.Config
}

// New returns none yet.
func New(secrets client.Reader) *Clients {
	return &Clients{Secrets: secrets, known: map[which]entry{}}
}

// Client reaches the API server of a cluster. An error that [client.IgnoreNotFound] ignores says that there is no kubeconfig
// yet; any other, that it could not be read or makes no sense.
func (c *Clients) Client(ctx context.Context, cluster *api.TalosCluster) (client.Client, error) {
	found, err := c.entry(ctx, cluster)
	return found.client, err
}

// Config is the same for other clients.
func (c *Clients) Config(ctx context.Context, cluster *api.TalosCluster) (*rest.Config, error) {
	found, err := c.entry(ctx, cluster)
	return found.config, err
}

// entry returns what is known of a cluster.
func (c *Clients) entry(ctx context.Context, cluster *api.TalosCluster) (entry, error) {
	name, key := Kubeconfig(cluster)
	secret := &corev1.Secret{}
	if err := c.Secrets.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, secret); err != nil {
		return entry{}, err
	}
	who := which{cluster.Namespace, cluster.Name}
	version := string(secret.UID) + "/" + secret.ResourceVersion
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found, ok := c.known[who]; ok && found.version == version {
		return found, nil
	}
	made, err := connect(secret.Data[key], c.Refused)
	if err != nil {
		return entry{}, fmt.Errorf("key %s of Secret %s: %w", key, name, err)
	}
	made.version = version
	c.known[who] = made
	return made, nil
}

// Forget drops the client of a cluster that is gone.
func (c *Clients) Forget(cluster *api.TalosCluster) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.known, which{cluster.Namespace, cluster.Name})
}

// Kubeconfig is the Secret, and the key in it, with the kubeconfig of a cluster. It is always one of the cluster's own
// namespace: whoever declares a cluster can name no other.
func Kubeconfig(cluster *api.TalosCluster) (name, key string) {
	if external := cluster.Spec.ControlPlane.External; external != nil {
		return string(external.KubeconfigSecretRef.Name), external.KubeconfigSecretRef.Key
	}
	return names.Kubeconfig(cluster), "value"
}

// connect makes a client from a kubeconfig.
func connect(kubeconfig []byte, refused []netip.Prefix) (entry, error) {
	if len(kubeconfig) == 0 {
		return entry{}, errors.New("there is no such key, or it is empty")
	}
	config, err := read(kubeconfig)
	if err == nil {
		config, err = guarded(config, refused)
	}
	if err != nil {
		return entry{}, err
	}
	scheme := runtime.NewScheme()
	kinds := meta.NewDefaultRESTMapper(nil)
	for _, group := range []struct {
		add     func(*runtime.Scheme) error
		version schema.GroupVersion
		scoped  map[string]meta.RESTScope
	}{
		{corev1.AddToScheme, corev1.SchemeGroupVersion, map[string]meta.RESTScope{
			"Secret": meta.RESTScopeNamespace, "ConfigMap": meta.RESTScopeNamespace, "Pod": meta.RESTScopeNamespace, "Node": meta.RESTScopeRoot, "Namespace": meta.RESTScopeRoot,
		}},
		{rbacv1.AddToScheme, rbacv1.SchemeGroupVersion, map[string]meta.RESTScope{
			"Role": meta.RESTScopeNamespace, "RoleBinding": meta.RESTScopeNamespace, "ClusterRole": meta.RESTScopeRoot, "ClusterRoleBinding": meta.RESTScopeRoot,
		}},
		{certificatesv1.AddToScheme, certificatesv1.SchemeGroupVersion, map[string]meta.RESTScope{"CertificateSigningRequest": meta.RESTScopeRoot}},
		{discoveryv1.AddToScheme, discoveryv1.SchemeGroupVersion, map[string]meta.RESTScope{"EndpointSlice": meta.RESTScopeNamespace}},
	} {
		if err := group.add(scheme); err != nil {
			return entry{}, err
		}
		for kind, scope := range group.scoped {
			kinds.Add(group.version.WithKind(kind), scope)
		}
	}
	// The kinds are known, so that nothing is asked for them: an API server that is dead is noticed by the first real call.
	made, err := client.New(config, client.Options{Scheme: scheme, Mapper: kinds})
	return entry{client: made, config: config}, err
}

// errNotKubeconfig says nothing of why: that would quote from a Secret which its reader may not be allowed to read.
var errNotKubeconfig = errors.New("it is not a kubeconfig in YAML or JSON")

// read reads a kubeconfig of somebody else: one that would run a program, read a file of ours or go by another way is refused.
func read(kubeconfig []byte) (*rest.Config, error) {
	parsed, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, errNotKubeconfig
	}
	if err := harmless(parsed); err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*parsed, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout, config.QPS, config.Burst, config.UserAgent = patience, 20, 40, "minos-operator"
	return config, nil
}

// harmless says what a kubeconfig would do on this machine that only a user's own may.
func harmless(parsed *clientcmdapi.Config) error {
	for name, user := range parsed.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil {
			return fmt.Errorf("user %s runs a program: give a kubeconfig with a token or a certificate in it", name)
		}
		if user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "" {
			return fmt.Errorf("user %s refers to a file: give a kubeconfig with the content in it", name)
		}
	}
	for name, cluster := range parsed.Clusters {
		if cluster.CertificateAuthority != "" {
			return fmt.Errorf("cluster %s refers to a file: give a kubeconfig with the content in it", name)
		}
		if cluster.ProxyURL != "" {
			return fmt.Errorf("cluster %s goes through a proxy, which is not supported", name)
		}
	}
	return nil
}
