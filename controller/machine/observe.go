// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/plan/names"
)

// calling is how long a place may take to answer.
const calling = 30 * time.Second

// observe sees to the instance and looks at it, at the machine's own API and at its Node. An error is one of our own API server:
// whatever others do is a fact.
func (s *scope) observe(ctx context.Context) (machines.Facts, error) {
	facts := machines.Facts{Unproven: s.words.Services && s.moment(machines.AnnotationJoined).IsZero()}
	if s.cluster == nil {
		facts.Instance.Reason, facts.Instance.Message = api.ReasonNotFound, fmt.Sprintf("cluster %s does not exist", s.machine.Spec.ClusterName)
		s.after = again
		return facts, nil
	}
	instance, err := s.look(ctx)
	if apiError(err) {
		return facts, err
	}
	facts.Instance = s.judge(instance, err)
	if facts.Instance.Runs {
		facts.Talos = s.askTalos(ctx)
	}
	if s.id() != "" {
		facts.Node = s.askNode(ctx)
	}
	return facts, nil
}

// apiError says whether an error is one of our own API server rather than of a place: those come as they are.
func apiError(err error) bool {
	_, is := err.(apierrors.APIStatus)
	return is
}

// look returns the instance as the place shows it, and has it made before if it never was.
func (s *scope) look(ctx context.Context) (*backend.Instance, error) {
	var err error
	if s.place, s.location, err = s.Places.Find(ctx, s.Client, s.machine.Namespace, s.machine.Spec.LocationRef); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, calling)
	defer cancel()
	if s.id() == "" {
		return s.make(ctx)
	}
	found, err := s.place.Get(ctx, s.owner(), s.id())
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// make has the instance made. That it is asked for is written down before, and what it is called after: in between it is asked for
// again, in the same words, and the place finds what it made.
func (s *scope) make(ctx context.Context) (*backend.Instance, error) {
	if _, kept := s.machine.Annotations[machines.AnnotationKept]; kept {
		return nil, refuse(api.ReasonFailed, "it is kept for study, and no instance is made for it")
	}
	wanted, err := s.wanted(ctx)
	if err != nil {
		return nil, err
	}
	if s.moment(machines.AnnotationAsked).IsZero() {
		if err := s.annotate(ctx, map[string]string{machines.AnnotationAsked: s.now().UTC().Format(time.RFC3339)}); err != nil {
			return nil, err
		}
	}
	made, err := s.place.Create(ctx, wanted)
	if err != nil {
		return nil, err
	}
	err = s.annotate(ctx, map[string]string{
		machines.AnnotationInstance: made.ID, machines.AnnotationMade: s.now().UTC().Format(time.RFC3339),
		machines.AnnotationRevision: string(s.machine.Spec.Revision),
	})
	return &made, err
}

// wanted is what the place is asked for.
func (s *scope) wanted(ctx context.Context) (backend.Machine, error) {
	words, err := parseWords(s.machine.Annotations[machines.AnnotationWanted])
	if err != nil {
		return backend.Machine{}, refuse(api.ReasonInvalid, "annotation %s: %v: delete the machine", machines.AnnotationWanted, err)
	}
	if err := Admit(ctx, s.Client, s.machine.Namespace, s.location); err != nil {
		return backend.Machine{}, err
	}
	data, err := s.configuration(ctx)
	if err != nil {
		return backend.Machine{}, err
	}
	return backend.Machine{
		Owner: s.owner(), Name: s.machine.Name, Pool: string(s.machine.Spec.PoolName), Spec: words.Machine, Image: words.Image, UserData: data,
	}, nil
}

// configuration reads the revision. A Secret that is not a configuration of this very pool is none: nothing else goes into user data.
func (s *scope) configuration(ctx context.Context) ([]byte, error) {
	var secret corev1.Secret
	name := string(s.machine.Spec.Revision)
	err := s.Secrets.Get(ctx, client.ObjectKey{Namespace: s.machine.Namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, refuse(api.ReasonWaiting, "Secret %s with the configuration does not exist yet", name)
	}
	if err != nil {
		return nil, refuse(api.ReasonUnreadable, "read Secret %s: %v", name, err)
	}
	for key, value := range names.Purpose(string(s.machine.Spec.ClusterName), string(s.machine.Spec.PoolName), names.PurposeConfiguration) {
		if secret.Labels[key] != value {
			return nil, refuse(api.ReasonInvalid, "Secret %s is not a configuration of pool %s: its label %s is %q", name, s.machine.Spec.PoolName, key, secret.Labels[key])
		}
	}
	if len(secret.Data[names.ConfigurationKey]) == 0 {
		return nil, refuse(api.ReasonInvalid, "Secret %s has no key %s", name, names.ConfigurationKey)
	}
	return secret.Data[names.ConfigurationKey], nil
}

// judge says what an answer of the place means, and keeps of it what the status shows.
func (s *scope) judge(instance *backend.Instance, err error) machines.Instance {
	switch {
	case err != nil && backend.ReasonOf(err) == backend.Gone && s.id() != "":
		if s.settled(s.moment(machines.AnnotationMade)) {
			s.after = steady
			return machines.Instance{Lost: "the place says that the instance is gone, and nobody here deleted it"}
		}
		return machines.Instance{Works: true} // the place may not show it yet
	case err != nil:
		var found machines.Instance
		found, s.after = judge(err)
		return found
	}
	s.instance = instance
	s.note(*instance)
	switch instance.State {
	case backend.Running:
		return machines.Instance{Runs: true}
	case backend.Creating:
		return machines.Instance{Works: true}
	case backend.Stopped:
		return machines.Instance{Off: true}
	case backend.Deleting:
		return machines.Instance{Lost: "somebody else deletes the instance in the place"}
	}
	return machines.Instance{Lost: "the place has given the instance up: " + instance.Message}
}

// note puts what the place says into the status.
func (s *scope) note(instance backend.Instance) {
	status := &s.machine.Status
	status.ProviderID = instance.ProviderID
	if len(instance.Addresses) > 0 {
		status.Addresses = nil
		for _, address := range instance.Addresses {
			status.Addresses = append(status.Addresses, api.Address(address.String()))
		}
	}
}
