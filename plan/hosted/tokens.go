// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// What tokens look like: those of machines as the signer wants them, those of kubelets as Kubernetes does.
var (
	machineToken   = regexp.MustCompile(`^[!-~]{16,1000}$`)
	bootstrapToken = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)
)

// A Join is what the machines of a pool join with.
type Join struct {
	// Pool is the pool.
	Pool *api.NodePool
	// Token is what machines show to the signer.
	Token string
	// ID and Secret are the halves of what kubelets show to the API server.
	ID, Secret string
}

// Joins reads the join Secrets of a cluster's pools, by name of the pool. A Secret whose pool is gone is passed over. One that
// cannot be used is told in words and keeps nobody else from joining.
func Joins(pools []api.NodePool, secrets []corev1.Secret) (found []Join, problems []string) {
	known := map[string]string{} // pools by the public half of their token
	pools = sorted(pools)
	for at := range pools {
		pool := &pools[at]
		index := slices.IndexFunc(secrets, func(secret corev1.Secret) bool { return secret.Name == names.Join(pool) })
		if index < 0 {
			continue
		}
		join, err := read(pool, &secrets[index])
		if err == nil && known[join.ID] != "" {
			err = fmt.Errorf("key %s of Secret %s begins as that of pool %s does: delete the Secret, so that another is made",
				names.JoinBootstrap, names.Join(pool), known[join.ID])
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("pool %s: %v", pool.Name, err))
			continue
		}
		known[join.ID] = pool.Name
		found = append(found, join)
	}
	return found, problems
}

// sorted is pools by name.
func sorted(pools []api.NodePool) []api.NodePool {
	pools = slices.Clone(pools)
	slices.SortFunc(pools, func(a, b api.NodePool) int { return strings.Compare(a.Name, b.Name) })
	return pools
}

// read reads one. Errors quote no value.
func read(pool *api.NodePool, secret *corev1.Secret) (Join, error) {
	token, halves := string(secret.Data[names.JoinToken]), bootstrapToken.FindStringSubmatch(string(secret.Data[names.JoinBootstrap]))
	switch {
	case !machineToken.MatchString(token):
		return Join{}, fmt.Errorf("key %s of Secret %s is no token of 16 or more visible characters", names.JoinToken, secret.Name)
	case halves == nil:
		return Join{}, fmt.Errorf("key %s of Secret %s is not of the form abcdef.0123456789abcdef", names.JoinBootstrap, secret.Name)
	}
	return Join{Pool: pool, Token: token, ID: halves[1], Secret: halves[2]}, nil
}

// entry is one token as the signer reads it.
type entry struct {
	Token string   `yaml:"token"`
	Pool  string   `yaml:"pool"`
	Names []string `yaml:"names,omitempty"`
}

// SignerTokens is the Secret with all tokens that the signer accepts: an entry for each pool, and none for a pool that is gone.
func SignerTokens(cluster *api.TalosCluster, joins []Join) (*corev1.Secret, error) {
	secret := Secret(cluster, names.SignerTokens(cluster), names.PurposeSigner)
	for _, join := range joins {
		made := entry{Token: join.Token, Pool: join.Pool.Name}
		if join.Pool.Spec.Machine.Metal == nil { // whose hosts have names of their own
			made.Names = machineNames(join.Pool)
		}
		text, err := yaml.Marshal(made)
		if err != nil {
			return nil, err
		}
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[join.Pool.Name] = text
	}
	return secret, nil
}

// labels is how many labels the domain of a machine may have. Names of DNS are seldom half as deep.
const labels = 10

// machineNames are the patterns of what the machines of a pool may be called: the pool's name and more, alone and in any domain. The
// network in which a virtual machine boots gives it a domain that nobody here knows: that of its namespace, or one of its host's. A
// star stands for any part of one label, so that there is a pattern for each depth. The first label of another pool's machine fits
// none, unless that pool's name begins with this one's and a hyphen: Cluster API chooses how names go on, and a star is all that
// signers of every release understand.
func machineNames(pool *api.NodePool) []string {
	all := []string{pool.Name + "-*"}
	for range labels {
		all = append(all, all[len(all)-1]+".*")
	}
	return all
}

// Holds says whether what the signer reads has a pool's token.
func Holds(tokens *corev1.Secret, join Join) bool {
	var found entry
	text := tokens.Data[join.Pool.Name]
	return len(bytes.TrimSpace(text)) > 0 && yaml.Unmarshal(text, &found) == nil && found.Token == join.Token
}

// Secret is an empty Secret of a cluster.
func Secret(cluster *api.TalosCluster, name, purpose string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: name, Labels: names.Purpose(cluster.Name, "", purpose),
			OwnerReferences: []metav1.OwnerReference{Owner(cluster)},
		},
		Type: corev1.SecretTypeOpaque,
	}
}
