// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// firstTry bounds the first call to trustd, so that what is wrong is known soon; later ones last as long as Talos's.
const firstTry = 2 * time.Second

// certify gets the certificate of the Talos API, unless there is one that was made from the same things.
func (b *boot) certify(ctx context.Context) error {
	provider := b.config()
	endpoints, err := trustdEndpoints(b.rack.environment, provider)
	if err != nil {
		return err
	}
	who := subjectOf(provider, b.name(), b.options.Addresses)
	b.mutex.Lock()
	have := b.identity
	b.mutex.Unlock()
	if have == nil || have.basis != basisOf(provider, who, endpoints) {
		if err := b.recertify(ctx); err != nil {
			return err
		}
	}
	b.open()
	return nil
}

// recertify gets a new certificate.
func (b *boot) recertify(ctx context.Context) error {
	environment, provider := b.rack.environment, b.config()
	endpoints, err := trustdEndpoints(environment, provider)
	if err != nil {
		return err
	}
	bound := firstTry
	if stopped, _ := b.Status().Stopped(); stopped.Step == StepTrustd && stopped.Reason != "" {
		bound = max(firstTry, environment.scaled(time.Minute))
	}
	done, ok := b.rack.turn(ctx)
	if !ok {
		return ctx.Err()
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	made, err := askTrustd(ctx, provider, subjectOf(provider, b.name(), b.options.Addresses), endpoints)
	if err != nil {
		return err
	}
	b.mutex.Lock()
	b.identity = made
	b.mutex.Unlock()
	b.api.identify(made)
	return nil
}

// name is what the machine's Node is called.
func (b *boot) name() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.node
}

// awaitNetwork reports the Node as Ready when there is a pod network.
func (b *boot) awaitNetwork(ctx context.Context) error {
	without := b.turned().NoCNI
	if without {
		b.lose(StepReady, "the Node is not Ready")
		b.lose(StepCNI, "there is no pod network")
	}
	if err := b.client().report(ctx, b.facts(), !without); err != nil {
		return err
	}
	if !without {
		return nil
	}
	b.stop(StepCNI, "container runtime network not ready: cni plugin not initialized")
	<-ctx.Done() // a knob that is turned ends it
	return ctx.Err()
}

// registerNode makes the Node, and marks it as Talos does.
func (b *boot) registerNode(ctx context.Context) error {
	facts := b.facts()
	node, err := b.client().register(ctx, facts)
	if err != nil {
		return err
	}
	wanted := b.config().K8sNodeConfig()
	labels, annotations := extensionMarks(b.image)
	if wanted != nil {
		maps.Copy(labels, wanted.Labels())
		maps.Copy(annotations, wanted.Annotations())
	}
	marker, done, err := b.marker()
	if err != nil {
		return err
	}
	defer done()
	err = marker.mark(ctx, node, labels, annotations)
	if apierrors.IsForbidden(err) {
		// A real machine says nothing of it on its console, and the Node is Ready without a label.
		b.say(StepNode, "labels and annotations are held back: %v", err)
		err = nil
	}
	return err
}

// facts are what the Node tells.
func (b *boot) facts() nodeFacts {
	provider, knobs := b.config(), b.turned()
	facts := nodeFacts{
		diskFull: knobs.DiskFull, silent: knobs.Silent,
		name: b.name(), image: b.image, architecture: b.options.Architecture, addresses: b.options.Addresses,
		providerID: b.options.ProviderID, identity: b.begin.Identity, boots: b.begin.Boots, cpus: b.options.CPUs, memory: b.options.MemoryMiB,
	}
	if node := provider.K8sNodeConfig(); node != nil {
		facts.taints = node.Taints()
	}
	if cloud := provider.Cluster().ExternalCloudProvider(); cloud != nil {
		facts.external = cloud.Enabled()
	}
	if kubelet := provider.K8sKubeletConfig(); kubelet != nil {
		if version, err := compatibility.KubernetesVersionFromImageRef(kubelet.Image()); err == nil {
			facts.kubelet = fmt.Sprintf("v%s", version)
		}
		facts.labels = strings.Split(strings.Join(kubelet.ExtraArgs()["node-labels"], ","), ",")
	}
	return facts
}
