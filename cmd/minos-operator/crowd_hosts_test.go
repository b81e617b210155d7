// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/sim/hosted"
)

// host stands in for Kamaji: an address, a signer's port there, and the word that all is well.
func (c *crowd) host(_ context.Context, name string) error {
	address, err := c.network.Take(name)
	if err != nil {
		return err
	}
	if err := c.sign(name, address.String()); err != nil {
		return err
	}
	endpoint := fmt.Sprintf(`{"spec":{"controlPlaneEndpoint":{"host":%q,"port":6443}}}`, address)
	c.patch(kindOf("infrastructure.cluster.x-k8s.io/v1alpha1", "KubevirtCluster"), name, endpoint, `{"status":{"ready":true}}`)
	c.patch(kindOf("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane"), name, endpoint,
		`{"status":{"ready":true,"version":"v1.36.3","externalManagedControlPlane":true,"initialization":{"controlPlaneInitialized":true},
		"replicas":2,"readyReplicas":2,"upToDateReplicas":2,"availableReplicas":2}}`)
	return nil
}

// kindOf is an empty object of a kind.
func kindOf(version, kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	return object
}

// patch waits until an object exists, and patches it and its status.
func (c *crowd) patch(object *unstructured.Unstructured, name, spec, status string) {
	c.eventually(func(ctx context.Context) error {
		return c.client.Get(ctx, types.NamespacedName{Namespace: name, Name: name}, object)
	})
	err := c.client.Patch(c.t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(spec)))
	if err == nil {
		err = c.client.Status().Patch(c.t.Context(), object, client.RawPatch(types.MergePatchType, []byte(status)))
	}
	if err != nil {
		c.t.Errorf("%s %s: %v", object.GetKind(), name, err)
	}
}

// sign listens as a cluster's signer does, with the certificate that the operator made for it. Nothing is signed.
func (c *crowd) sign(name, address string) error {
	at := net.JoinHostPort(address, strconv.Itoa(hosted.SignerPort))
	var kept atomic.Pointer[tls.Certificate] // as a real one has it in a file
	listener, err := tls.Listen("tcp", at, &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if pair := kept.Load(); pair != nil {
			return pair, nil
		}
		secret := &corev1.Secret{}
		if err := c.client.Get(context.Background(), types.NamespacedName{Namespace: name, Name: name + "-signer-tls"}, secret); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if err == nil && pair.Leaf.VerifyHostname(address) == nil { // or it will be replaced
			kept.Store(&pair)
		}
		return &pair, err
	}})
	if err != nil {
		return err
	}
	c.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = connection.SetDeadline(time.Now().Add(within))
				_, _ = connection.Read(make([]byte, 1)) // which shakes hands, and waits until the other goes
				_ = connection.Close()
			}()
		}
	}()
	return nil
}
