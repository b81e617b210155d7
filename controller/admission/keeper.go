// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/names"
)

// A Keeper keeps the webhook's certificate: in a Secret that all operators share, made by the first and replaced in time. It tells
// the API server whom to trust.
type Keeper struct {
	// Client reads and writes, past any cache.
	Client client.Client
	// Secret is where the pair is kept.
	Secret client.ObjectKey
	// Names are those by which the API server calls.
	Names []string
	// Trust tells the API server whom to trust.
	Trust func(ctx context.Context, authorities []byte) error
	// Now is the clock.
	Now func() time.Time
	// Metrics takes when the certificate expires; nil takes nothing.
	Metrics *metrics.Metrics

	current atomic.Pointer[tls.Certificate]
}

// look is how often the Secret is looked at: another operator may have replaced it.
const look = time.Minute

// The key of the authorities in the Secret, beside those of a TLS Secret.
const authoritiesKey = "ca.crt"

// Start keeps the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		if err := k.Ensure(ctx); err != nil && ctx.Err() == nil {
			// It is tried again: the certificate that is in use is good for weeks, in which somebody should hear of it.
			ctrl.LoggerFrom(ctx).Error(err, "keep the webhook's certificate")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// NeedLeaderElection says that every operator does it: each serves.
func (k *Keeper) NeedLeaderElection() bool { return false }

// Certificate is what is served with, for a server's TLS settings.
func (k *Keeper) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if current := k.current.Load(); current != nil {
		return current, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// Ensure brings the certificate up to date. Callers trust a new authority before anybody serves with its certificate, and an
// old one as long as somebody may.
func (k *Keeper) Ensure(ctx context.Context) error {
	secret, pair, err := k.read(ctx)
	if err != nil {
		return err
	}
	why := "there is none"
	if secret != nil {
		if why, err = pair.due(k.Names, k.Now()); err != nil {
			return fmt.Errorf("read Secret %s: %w: remove it to have another one made", k.Secret.Name, err)
		}
	}
	if why != "" {
		if pair, err = k.replace(ctx, secret, pair); err != nil {
			return err
		}
	}
	if err := k.Trust(ctx, pair.Authorities); err != nil {
		return err
	}
	loaded, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		return err
	}
	k.current.Store(&loaded)
	k.Metrics.Serves(loaded.Leaf.NotAfter)
	return nil
}

// read reads the pair; nil if there is none.
func (k *Keeper) read(ctx context.Context) (*corev1.Secret, Pair, error) {
	secret := &corev1.Secret{}
	err := k.Client.Get(ctx, k.Secret, secret)
	if apierrors.IsNotFound(err) {
		return nil, Pair{}, nil
	}
	if err != nil {
		return nil, Pair{}, err
	}
	return secret, Pair{Certificate: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey], Authorities: secret.Data[authoritiesKey]}, nil
}

// replace makes another pair and keeps it. If somebody else was faster, theirs counts.
func (k *Keeper) replace(ctx context.Context, old *corev1.Secret, before Pair) (Pair, error) {
	made, err := makePair(k.Names, newest(before.Authorities), k.Now())
	if err != nil {
		return Pair{}, err
	}
	data := map[string][]byte{corev1.TLSCertKey: made.Certificate, corev1.TLSPrivateKeyKey: made.Key, authoritiesKey: made.Authorities}
	if old == nil {
		err = k.Client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: k.Secret.Namespace, Name: k.Secret.Name, Labels: map[string]string{names.LabelManagedBy: names.Owner}},
			Type:       corev1.SecretTypeTLS, Data: data,
		})
	} else {
		old.Data = data
		err = k.Client.Update(ctx, old) // which fails if it is no longer what was read
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		secret, theirs, err := k.read(ctx)
		if err == nil && secret == nil {
			err = fmt.Errorf("the Secret %s comes and goes", k.Secret.Name)
		}
		return theirs, err
	}
	return made, err
}
