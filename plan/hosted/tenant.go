// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"bytes"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

const (
	// TokenLife is how long a bootstrap token is good when it is written.
	TokenLife = 24 * time.Hour
	// tokenLeft is how much of it is left when it is written again: a steady state writes twice a day.
	tokenLeft = 12 * time.Hour
	// LabelNamespace is on what we make in a tenant. Two clusters of one name may share an API server that is somebody else's.
	LabelNamespace = "minos.dev/cluster-namespace"

	groupKubeadm = "system:bootstrappers:kubeadm:default-node-token"
	groupOurs    = "system:bootstrappers:minos"
	groupNodes   = "system:nodes"
)

// TokenLabels are on the bootstrap tokens of a cluster, and on nobody else's.
func TokenLabels(cluster *api.TalosCluster) map[string]string {
	labels := names.Labels(cluster.Name, "")
	labels[LabelNamespace] = cluster.Namespace
	return labels
}

// A TokenPlan is what to do about bootstrap tokens in a tenant.
type TokenPlan struct {
	// Write are those that are missing, are about to expire, or are not as they should be.
	Write []*corev1.Secret
	// Remove are those whose pool is gone.
	Remove []string
	// Until is how long the token of each pool is good, when all of it is done.
	Until map[string]time.Time
}

// BootstrapTokens says what to do about bootstrap tokens, from those that have our labels.
func BootstrapTokens(cluster *api.TalosCluster, joins []Join, live []corev1.Secret, now time.Time) TokenPlan {
	plan := TokenPlan{Until: map[string]time.Time{}}
	kept := map[string]bool{}
	for _, join := range joins {
		expires := now.Add(TokenLife).UTC().Truncate(time.Second)
		wanted := bootstrapSecret(cluster, join)
		kept[wanted.Name] = true
		index := slices.IndexFunc(live, func(secret corev1.Secret) bool { return secret.Name == wanted.Name })
		if index >= 0 {
			if until, ok := lasts(&live[index], wanted, now); ok {
				plan.Until[join.Pool.Name] = until
				continue
			}
		}
		wanted.Data["expiration"] = []byte(expires.Format(time.RFC3339))
		plan.Write = append(plan.Write, wanted)
		plan.Until[join.Pool.Name] = expires
	}
	for _, secret := range live {
		if !kept[secret.Name] {
			plan.Remove = append(plan.Remove, secret.Name)
		}
	}
	slices.Sort(plan.Remove)
	return plan
}

// lasts says until when a token is good, and whether that is long enough and all else of it as wanted.
func lasts(live, wanted *corev1.Secret, now time.Time) (time.Time, bool) {
	until, err := time.Parse(time.RFC3339, string(live.Data["expiration"]))
	if err != nil || until.Sub(now) < tokenLeft {
		return until, false
	}
	rest := maps.Clone(live.Data)
	delete(rest, "expiration")
	return until, maps.EqualFunc(rest, wanted.Data, bytes.Equal) && live.Labels[names.LabelPool] == wanted.Labels[names.LabelPool]
}

// bootstrapSecret is the bootstrap token of a pool without its expiry. It is good for authentication only: nobody of ours
// looks a cluster up by its signature.
func bootstrapSecret(cluster *api.TalosCluster, join Join) *corev1.Secret {
	labels := TokenLabels(cluster)
	labels[names.LabelPool] = join.Pool.Name
	group := groupKubeadm // which Kamaji lets in
	if cluster.Spec.ControlPlane.External != nil {
		group = groupOurs
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + join.ID, Labels: labels},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"token-id": []byte(join.ID), "token-secret": []byte(join.Secret),
			"usage-bootstrap-authentication": []byte("true"), "auth-extra-groups": []byte(group),
		},
	}
}

// TalosNodes is the name of what Talos machines may do in a tenant beyond what kubelets may.
const TalosNodes = "system:talos-nodes"

// A Grant is a role and who has it. Either may be missing: a role that Kubernetes has already is only bound.
type Grant struct {
	// Role is the role.
	Role *rbacv1.ClusterRole
	// Binding binds it.
	Binding *rbacv1.ClusterRoleBinding
}

// Grants are the permissions that machines need in a tenant. Talos looks for the API server's addresses, in all namespaces,
// with the kubelet's certificate. Where kubeadm's phases were not run, what they would have left follows, for a group of ours.
func Grants(cluster *api.TalosCluster) []Grant {
	read := []string{"get", "list", "watch"}
	talos := Grant{
		Role: &rbacv1.ClusterRole{ObjectMeta: shared(TalosNodes), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: read},
			{APIGroups: []string{""}, Resources: []string{"endpoints"}, Verbs: read},
		}},
		Binding: bind(TalosNodes, TalosNodes, groupNodes),
	}
	if cluster.Spec.ControlPlane.External == nil {
		return []Grant{talos}
	}
	const requests = "system:certificates.k8s.io:certificatesigningrequests:"
	return []Grant{
		talos,
		{Binding: bind("minos:kubelet-bootstrap", "system:node-bootstrapper", groupOurs)},
		{Binding: bind("minos:node-autoapprove-bootstrap", requests+"nodeclient", groupOurs)},
		{Binding: bind("minos:node-autoapprove-certificate-rotation", requests+"selfnodeclient", groupNodes)},
	}
}

// bind binds a role to a group.
func bind(name, role, group string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: shared(name),
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
}

// shared is the metadata of what is the same for every cluster, also if two of them lead to one API server.
func shared(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{names.LabelManagedBy: names.Owner}}
}
