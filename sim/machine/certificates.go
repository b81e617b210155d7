// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"crypto/x509"
	"net"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// kept returns a pair of the disk: with its certificate while that is valid, else a key to be signed. A key that waits for its
// certificate stays, so that its request is found again; any other is replaced.
func (b *boot) kept(where func(*Content) *KubeletFiles) (KubeletFiles, error) {
	content, err := b.options.Disk.Load()
	if err != nil {
		return KubeletFiles{}, err
	}
	files := *where(&content)
	if _, valid := files.pair(b.name(), time.Now()); valid || len(files.Key) > 0 && len(files.Certificate) == 0 {
		return files, nil
	}
	key, err := newKey()
	if err != nil {
		return KubeletFiles{}, err
	}
	files = KubeletFiles{Key: key}
	return files, b.write(func(content Content) (Content, error) {
		*where(&content) = files
		return content, nil
	})
}

// rotateAt is when a client certificate that was taken at a time is to be replaced: when four fifths of its life are over, or it
// was used for the longest time that is wanted, if there is one.
func rotateAt(certificate *x509.Certificate, taken time.Time, longest time.Duration) time.Time {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	at := certificate.NotBefore.Add(life / 5 * 4)
	if used := taken.Add(longest); longest > 0 && used.Before(at) {
		return used
	}
	return at
}

// rotate gets a new client certificate when it is time, as the Node that it is already.
func (b *boot) rotate(ctx context.Context) {
	b.mutex.Lock()
	at := b.rotateAt
	b.mutex.Unlock()
	if time.Now().Before(at) {
		return
	}
	if err := b.replace(ctx); err != nil {
		b.say(StepKubelet, "rotate the client certificate: %v", err)
		return
	}
	b.say(StepKubelet, "rotated the client certificate")
}

// replace takes another client certificate for another key. Until it is there, the old one is used.
func (b *boot) replace(ctx context.Context) error {
	joins, err := targetOf(b.config())
	if err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	files, err := b.sign(ctx, b.client(), key)
	if err != nil {
		return err
	}
	return b.connect(joins, files)
}

// serve asks for the certificate that the kubelet serves with, if it is configured to. Nobody approves it by default, and a
// Node is Ready without: it waits for as long as it takes, and only logs.
func (b *boot) serve(ctx context.Context) {
	b.mutex.Lock()
	has := b.serving
	b.mutex.Unlock()
	if has || !argument(b.config(), "rotate-server-certificates", "serverTLSBootstrap") {
		return
	}
	err := b.obtainServing(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		b.say(StepKubelet, "get a serving certificate: %v", err)
	default:
		b.say(StepKubelet, "has a serving certificate")
		b.mutex.Lock()
		b.serving = true
		b.mutex.Unlock()
	}
}

// obtainServing puts the certificate to serve with on the disk, unless it is there.
func (b *boot) obtainServing(ctx context.Context) error {
	where := func(content *Content) *KubeletFiles { return &content.Serving }
	files, err := b.kept(where)
	if err != nil || len(files.Certificate) > 0 {
		return err
	}
	wanted := wish{
		node: b.name(), key: files.Key, signer: certificatesv1.KubeletServingSignerName, usage: certificatesv1.UsageServerAuth,
		names: []string{b.name()},
	}
	for _, address := range b.options.Addresses {
		wanted.ips = append(wanted.ips, net.IP(address.AsSlice()))
	}
	if files.Certificate, err = b.client().obtain(ctx, wanted); err != nil {
		return err
	}
	return b.write(func(content Content) (Content, error) {
		*where(&content) = files
		return content, nil
	})
}
