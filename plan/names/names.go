// SPDX-License-Identifier: Apache-2.0

// Package names is what the objects are called that Minos makes for clusters and pools, and how they are labelled. Names of
// Cluster API's and Kamaji's own are theirs, and stand here because both sides must agree.
package names

import api "minos.dev/minos/api/v1alpha1"

// Owner is who Minos is to the API server: the owner of the fields that it sets, of all objects.
const Owner = "minos"

// Signer is the container beside a hosted API server that signs for machines.
const Signer = "minos-signer"

// Finalizer is on what Minos must clean up after.
const Finalizer = "minos.dev/clean-up"

// Labels by which the objects of a cluster and a pool are found.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelCluster   = "minos.dev/cluster"
	LabelPool      = "minos.dev/pool"
	// LabelPurpose tells one kind of Secret from another.
	LabelPurpose = "minos.dev/purpose"
	// LabelClusterAPI is Cluster API's own.
	LabelClusterAPI = "cluster.x-k8s.io/cluster-name"
)

// Purposes of Secrets.
const (
	PurposeJoin          = "join"          // PurposeJoin is the tokens of a pool.
	PurposeConfiguration = "configuration" // PurposeConfiguration is a revision of a pool's machine configuration.
	PurposeIdentity      = "identity"      // PurposeIdentity is what a cluster was born with.
	PurposeSigner        = "signer"        // PurposeSigner is what the signer reads.
	PurposeAccess        = "access"        // PurposeAccess is credentials for people.
)

// AnnotationActiveUntil is on a pool's join Secret as soon as the signer and the tenant's API server know the tokens: until when
// they do, as RFC 3339. Nothing of the pool is made before.
const AnnotationActiveUntil = "minos.dev/active-until"

// AnnotationApplied is the fingerprint of what Minos wants of an object, by which a field that is wanted no more is noticed.
const AnnotationApplied = "minos.dev/applied"

// Labels are those of an object of a cluster, and of a pool if one is given.
func Labels(cluster, pool string) map[string]string {
	labels := map[string]string{LabelManagedBy: Owner, LabelCluster: cluster}
	if pool != "" {
		labels[LabelPool] = pool
	}
	return labels
}

// Purpose are the same with a purpose.
func Purpose(cluster, pool, purpose string) map[string]string {
	labels := Labels(cluster, pool)
	labels[LabelPurpose] = purpose
	return labels
}

// Identity is what a cluster was born with: its Talos authority with key, identity and secret. It is written once.
func Identity(cluster *api.TalosCluster) string { return cluster.Name + "-talos-secrets" }

// IdentityKey is where in it.
const IdentityKey = "secrets.yaml"

// TalosCA is the Talos authority in the form that the signer mounts.
func TalosCA(cluster *api.TalosCluster) string { return cluster.Name + "-talos-ca" }

// SignerTLS is the certificate that the signer serves with.
func SignerTLS(cluster *api.TalosCluster) string { return cluster.Name + "-signer-tls" }

// SignerTokens is the tokens that the signer accepts: an entry for each pool.
func SignerTokens(cluster *api.TalosCluster) string { return cluster.Name + "-signer-tokens" }

// Talosconfig is the owner's access to the Talos API.
func Talosconfig(cluster *api.TalosCluster) string { return cluster.Name + "-talosconfig" }

// Kubeconfig is an administrator's access to a hosted cluster, as Kamaji's provider writes it for Cluster API, in the key value.
func Kubeconfig(cluster *api.TalosCluster) string { return cluster.Name + "-kubeconfig" }

// KubernetesCA is the authority of a hosted cluster, as Kamaji's provider writes it, in the key tls.crt.
func KubernetesCA(cluster *api.TalosCluster) string { return cluster.Name + "-ca" }

// Join is a pool's tokens, in the keys JoinToken and JoinBootstrap. It is written once.
func Join(pool *api.NodePool) string { return pool.Name + "-join" }

// The keys of a join Secret.
const (
	JoinToken     = "token"
	JoinBootstrap = "bootstrap-token"
)

// Revision is the Secret that holds a revision of a pool's machine configuration, in the key value.
func Revision(pool *api.NodePool, fingerprint string) string { return pool.Name + "-" + fingerprint }

// ConfigurationKey is where in it, as Cluster API wants it.
const ConfigurationKey = "value"
