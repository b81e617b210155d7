// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// errNoImage is what a kubelet says whose image is not there.
var errNoImage = errors.New("service \"kubelet\" is preparing: its image cannot be pulled")

// client returns the API server as the Node sees it.
func (b *boot) client() *kube {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.kube
}

// startKubelet gives the kubelet an identity: the one on the disk while it is valid, else one for the bootstrap token.
func (b *boot) startKubelet(ctx context.Context) error {
	if b.turned().NoKubeletImage && b.client() == nil {
		return errNoImage
	}
	if b.client() != nil {
		return nil // a change of the cluster wants a reboot
	}
	joins, err := targetOf(b.config())
	if err != nil {
		return err
	}
	files, err := b.kubeletFiles(ctx, joins)
	if err != nil {
		return err
	}
	if err := b.connect(joins, files); err != nil {
		return err
	}
	b.jobs.Do(b.scheduleJobs)
	return nil
}

// kubeletFiles returns the kubelet's key and certificate. The key is on the disk before anybody is asked to sign it.
func (b *boot) kubeletFiles(ctx context.Context, joins target) (KubeletFiles, error) {
	files, err := b.kept(func(content *Content) *KubeletFiles { return &content.Kubelet })
	if err != nil || len(files.Certificate) > 0 {
		return files, err
	}
	bootstrap, err := b.rack.bootstraps.of(b.rack.environment, joins)
	if err != nil {
		return files, err
	}
	return b.sign(ctx, bootstrap, files.Key)
}

// signTime bounds how long a kubelet waits for a certificate before it says so.
const signTime = 15 * time.Second

// sign has a kubelet's key signed and keeps both.
func (b *boot) sign(ctx context.Context, as *kube, key []byte) (KubeletFiles, error) {
	done, ok := b.rack.turn(ctx)
	if !ok {
		return KubeletFiles{}, ctx.Err()
	}
	defer done()
	if err := b.room(); err != nil { // rather than to ask again and again for what cannot be kept
		return KubeletFiles{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, signTime)
	defer cancel()
	certificate, err := as.obtain(ctx, wish{
		node: b.name(), key: key, signer: certificatesv1.KubeAPIServerClientKubeletSignerName, usage: certificatesv1.UsageClientAuth,
	})
	switch {
	case apierrors.IsUnauthorized(err):
		return KubeletFiles{}, fmt.Errorf("the API server does not accept the bootstrap token: it is wrong or expired: %w", err)
	case err != nil:
		return KubeletFiles{}, fmt.Errorf("get a client certificate: %w", err)
	}
	files := KubeletFiles{Key: key, Certificate: certificate}
	return files, b.write(func(content Content) (Content, error) {
		content.Kubelet = files
		return content, nil
	})
}

// connect talks to the API server as the Node.
func (b *boot) connect(joins target, files KubeletFiles) error {
	pair, valid := files.pair(b.name(), time.Now())
	if !valid {
		return errors.New("the certificate that was issued is not valid for this Node now")
	}
	transport, err := newTransport(b.rack.environment, joins, pair)
	if err != nil {
		return err
	}
	made, err := connect(joins, transport)
	if err != nil {
		return err
	}
	b.mutex.Lock()
	old := b.kube
	b.kube = made
	b.rotateAt = rotateAt(pair.Leaf, time.Now(), b.rack.environment.Durations.Rotate)
	b.mutex.Unlock()
	if old != nil {
		old.close()
	}
	return nil
}

// scheduleJobs has done what a machine does now and then.
func (b *boot) scheduleJobs() {
	environment := b.rack.environment
	b.rack.schedule.add(b.context, environment.Durations.Lease, b.keepLease)
	b.rack.schedule.add(b.context, environment.Durations.Lease, b.rotate)
	b.rack.schedule.add(b.context, environment.scaled(environment.Durations.Renew), func(ctx context.Context) {
		if err := b.recertify(ctx); err != nil {
			b.say(StepTrustd, "renew: %v", err)
			return
		}
		b.say(StepTrustd, "renewed")
	})
}

// keepLease renews the lease, once the Node is there.
func (b *boot) keepLease(ctx context.Context) {
	if b.turned().Silent || !b.Status().Reached(StepNode) {
		return
	}
	if err := b.client().renew(ctx, b.name()); err != nil && ctx.Err() == nil {
		b.say(StepNode, "renew the lease: %v", err)
	}
}
