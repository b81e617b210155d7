// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// identity replaces the identity's content. It is immutable, so that it goes and comes again.
func (s *story) identity(text []byte) {
	s.t.Helper()
	s.stop()
	before := s.Secret(shop + "-talos-secrets")
	remove(s.t, before)
	if text != nil {
		create(s.t, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: before.Name, Labels: before.Labels, OwnerReferences: before.OwnerReferences},
			Data:       map[string][]byte{names.IdentityKey: text},
		})
	}
	s.stop = operate(s.t, s.clock)
}

func (s *story) unreadable() {
	s.identity([]byte("cluster: {id: lost}"))
	condition(s.t, s.Key(shop), api.ConditionSecretsReady, "Unknown Unreadable")
	condition(s.t, s.Key(shop), api.ConditionReady, "Unknown Unreadable")
	if got := string(s.Secret(shop + "-talos-secrets").Data[names.IdentityKey]); got != "cluster: {id: lost}" {
		s.t.Error("it was made anew")
	}
	s.identity(s.kept)
	condition(s.t, s.Key(shop), api.ConditionReady, "True Ready")
}

func (s *story) gone() {
	authority := s.Secret(shop + "-talos-ca").Data
	s.identity(nil)
	condition(s.t, s.Key(shop), api.ConditionSecretsReady, "False NotFound")
	if _, err := s.Get(s.t.Context(), "v1", "Secret", shop+"-talos-secrets"); !apierrors.IsNotFound(err) {
		s.t.Errorf("it was made anew: %v", err)
	}
	if diff := cmp.Diff(authority, s.Secret(shop+"-talos-ca").Data); diff != "" {
		s.t.Error("the authority is another one")
	}
	restored := hosted.Secret(get(s.t, s.Key(shop)), shop+"-talos-secrets", names.PurposeIdentity)
	restored.Data = map[string][]byte{names.IdentityKey: s.kept}
	create(s.t, restored)
	condition(s.t, s.Key(shop), api.ConditionReady, "True Ready")
}
