// SPDX-License-Identifier: Apache-2.0

package dev

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/machine"
)

// A leak is what a stranger has of a pool: the configuration of its machines, and the token in it by which kubelets join.
type leak struct {
	configuration []byte
	token         string
}

// tokenLeak has somebody else try to join with the leaked configuration of a pool, before and after its tokens are replaced.
func tokenLeak(ctx context.Context, s *Session) error {
	before, _, err := s.beginStory(ctx)
	if err != nil {
		return err
	}
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: general}}
	leaked, err := s.leak(ctx, names.Join(pool))
	if err != nil {
		return err
	}
	s.tell("the configuration of pool %s has leaked: a stranger boots a machine with it", general)
	if err := s.known(ctx, leaked, true); err != nil {
		return fmt.Errorf("the leak is none: %w", err)
	}
	s.Say("as expected", "signer and API server take the stranger for a machine of the pool: the leak is real")
	s.tell("Secret %s is deleted: another is made, with new tokens", names.Join(pool))
	join := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: names.Join(pool)}}
	if err := s.client.Delete(ctx, join); err != nil {
		return err
	}
	if err := s.expect(ctx, "neither the signer nor the API server knows the leaked tokens", func(View) error {
		return s.known(ctx, leaked, false)
	}); err != nil {
		return err
	}
	return s.expect(ctx, "the machines of the pool are replaced by others, which joined with the new ones", func(view View) error {
		for _, one := range view.Of(general) {
			if before.machine(one.Name) != nil {
				return fmt.Errorf("machine %s is still there", one.Name)
			}
		}
		if !view.Ready() {
			return errors.New(waiting(view))
		}
		return nil
	})
}

// known wants both who are asked to know the tokens, or both not to.
func (s *Session) known(ctx context.Context, leaked leak, want bool) error {
	signer, err := s.signerKnows(ctx, leaked)
	if err != nil {
		return err
	}
	server, err := s.serverKnows(ctx, leaked)
	if err == nil && (signer != want || server != want) {
		err = fmt.Errorf("the signer knows its token: %t; the API server knows its token: %t", signer, server)
	}
	return err
}

// leak reads what machines of the pool general are made with.
func (s *Session) leak(ctx context.Context, join string) (leak, error) {
	deployment := &unstructured.Unstructured{}
	deployment.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	deployment.SetKind("MachineDeployment")
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: general}, deployment); err != nil {
		return leak{}, err
	}
	name, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "bootstrap", "dataSecretName")
	if err != nil {
		return leak{}, err
	}
	configuration, err := s.secret(ctx, name, "value")
	if err != nil {
		return leak{}, err
	}
	token, err := s.secret(ctx, join, names.JoinBootstrap)
	return leak{configuration, string(token)}, err
}

// signerKnows says whether the signer gives a certificate to a machine that boots with a configuration. The machine is nobody's, in
// a rack of its own, never becomes a Node, and is gone afterwards.
func (s *Session) signerKnows(ctx context.Context, leaked leak) (bool, error) {
	rack, err := machine.NewRack(machine.Environment{Scale: s.options.Speed, Durations: machine.Durations{Deadline: deadline}})
	if err != nil {
		return false, err
	}
	defer rack.Close()
	booted, err := rack.Add(machine.Options{
		Name: "stranger", Hostname: general + "-stranger", UserData: leaked.configuration, Knobs: machine.Knobs{NoKubeletImage: true},
		Disk: machine.NewMemory(machine.Image{Version: "v1.13.9"}),
	})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, expectWithin)
	defer cancel()
	status, err := booted.Wait(ctx, func(status machine.Status) bool { return answered(status, machine.StepTrustd) })
	return status.Reached(machine.StepTrustd), err
}

// answered says whether a machine has reached a step, or knows why not.
func answered(status machine.Status, wanted machine.Step) bool {
	for _, step := range status.Steps {
		if step.Step == wanted {
			return !step.Reached.IsZero() || step.Reason != ""
		}
	}
	return false
}

// serverKnows says whether the API server takes the token for one of a kubelet.
func (s *Session) serverKnows(ctx context.Context, leaked leak) (bool, error) {
	kubeconfig, err := s.kubeconfig(ctx)
	if err != nil {
		return false, err
	}
	access, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return false, err
	}
	access = rest.AnonymousClientConfig(access)
	access.BearerToken = leaked.token
	clients, err := kubernetes.NewForConfig(access)
	if err != nil {
		return false, err
	}
	_, err = clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	case apierrors.IsUnauthorized(err):
		return false, nil
	case apierrors.IsForbidden(err): // known, and may not ask who it is
		return true, nil
	}
	return err == nil, err
}
