// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"minos.dev/minos/kube/dev"
)

const (
	probeEvery = 20 * time.Millisecond
	// collectLimit is how long a start waits for garbage collection, which watches every kind there is and so can be
	// held up by one that is broken, for instance by a conversion webhook that is gone. Somebody has to be able to
	// reach the API to mend that.
	collectLimit = 20 * time.Second
)

// A probe looks at the plane as its administrator.
type probe struct {
	client kubernetes.Interface
	warn   func(string)
}

func newProbe(spec dev.Spec) (probe, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: "https://" + spec.Listener.Addr().String(),
		TLSClientConfig: rest.TLSClientConfig{
			CAFile:   spec.Files.CA.Cert,
			CertFile: spec.Files.Admin.Cert,
			KeyFile:  spec.Files.Admin.Key,
		},
		QPS: -1, // it only ever asks one thing at a time
	})
	if err != nil {
		return probe{}, fmt.Errorf("make a client: %w", err)
	}
	return probe{client: client, warn: spec.Warn}, nil
}

// until asks again and again. An error is as good as a no: what is starting up fails in many ways.
func until(ctx context.Context, what string, yes func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		last = yes(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w (%w)", what, err, last)
	}
	return nil
}

// serverReady waits until the API server says it is ready and has made the namespaces.
func (p probe) serverReady(ctx context.Context) error {
	err := until(ctx, "the API server", func(ctx context.Context) error {
		return p.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	if err != nil {
		return err
	}
	for _, name := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault} {
		err := until(ctx, "the namespace "+name, func(ctx context.Context) error {
			_, err := p.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// controllersReady waits until the controllers are seen to work. The controller manager has no way to say that it has
// started, and on data that has been used before everything it makes is there already.
func (p probe) controllersReady(ctx context.Context) error {
	err := until(ctx, "the default service account", func(ctx context.Context) error {
		_, err := p.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	err = until(ctx, "the root certificate", func(ctx context.Context) error {
		_, err := p.client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return p.collected(ctx)
}

// collected makes something whose owner does not exist and waits until it has been collected. Garbage collection is the
// last of the controllers to come up, so when it works the rest does too; and it leaves nothing behind.
func (p probe) collected(ctx context.Context) error {
	maps := p.client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	bait, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName:    "minos-kube-start-",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "minos-kube", UID: uuid.NewUUID()}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("try garbage collection: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, collectLimit)
	defer cancel()
	err = until(limited, "garbage collection", func(ctx context.Context) error {
		_, err := maps.Get(ctx, bait.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%s is still there", bait.Name)
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	p.warn(fmt.Sprintf("garbage collection does not work yet after %s, going on without", collectLimit))
	return nil
}
