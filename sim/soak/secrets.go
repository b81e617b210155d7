// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/plan/names"
	"minos.dev/minos/sim/soak/invariant"
)

// secrets are those that are written once, as sums. What they hold that nobody may write down is remembered.
func (s *Stage) secrets(ctx context.Context) ([]invariant.Secret, error) {
	list := &corev1.SecretList{}
	if err := s.client.List(ctx, list); err != nil {
		return nil, err
	}
	var found []invariant.Secret
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for at := range list.Items {
		secret := &list.Items[at]
		cluster := clusterOf(secret.Namespace)
		if cluster == "" {
			continue
		}
		for key, value := range secret.Data {
			s.known.Learn("Secret "+secret.Namespace+"/"+secret.Name, key, value)
		}
		if isBornOnce(secret, cluster) {
			found = append(found, invariant.Secret{Cluster: cluster, Name: secret.Name, Owner: ownerOf(secret), Sum: sum(secret.Data)})
		}
	}
	return found, nil
}

// isBornOnce says whether a Secret holds what is never made anew: identities, authorities and tokens. Configurations are not among
// them: labels are none of what they are named by. Labels of Secrets can be taken away, and so names count too.
func isBornOnce(secret *corev1.Secret, cluster string) bool {
	switch secret.Labels[names.LabelPurpose] {
	case names.PurposeIdentity, names.PurposeJoin:
		return true
	}
	return secret.Name == cluster+"-talos-secrets" || secret.Name == cluster+"-talos-ca" || secret.Name == cluster+"-ca"
}

// ownerOf is the identity of what a Secret was made for, or its own.
func ownerOf(secret *corev1.Secret) string {
	for _, owner := range secret.OwnerReferences {
		return string(owner.UID)
	}
	return string(secret.UID)
}

// sum stands for data.
func sum(data map[string][]byte) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		_, _ = fmt.Fprintf(hash, "%s=%x;", key, data[key]) // never fails
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// learn remembers what is secret beside the Secrets of the management cluster: the tokens in tenants, and what opens the place.
func (s *Stage) learn(ctx context.Context, clusters []invariant.Cluster) {
	token, err := os.ReadFile(filepath.Join(s.options.Folder, "token"))
	s.mutex.Lock()
	if err == nil {
		s.known.Learn("the place", "token", token)
	}
	s.known.Learn("gateways", "authkey", []byte(authKey))
	s.mutex.Unlock()
	for _, cluster := range clusters {
		c, err := s.tenants.of(ctx, s.client, cluster.Name)
		if err != nil {
			continue // it does not answer, and is asked again
		}
		list := &corev1.SecretList{}
		if c.List(ctx, list, client.InNamespace(metav1.NamespaceSystem)) != nil {
			continue
		}
		s.mutex.Lock()
		for _, secret := range list.Items {
			for key, value := range secret.Data {
				s.known.Learn(cluster.Name+": Secret "+secret.Name, key, value)
			}
		}
		s.mutex.Unlock()
	}
}
