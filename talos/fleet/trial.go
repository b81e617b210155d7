// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/config"
)

// placeholder stands for what a trial does not know. Nothing that is made with it goes to a machine.
const placeholder = "placeholder"

// Trial makes the configurations of a pool's machines with placeholders for all secrets, and returns what is wrong: a
// patch that touches what is protected, a document that the version does not know, a configuration that Talos refuses. It
// needs no key, so anybody who reviews a change can do it.
func (f *Fleet) Trial(pool *api.NodePool) error {
	_, err := f.Rehearse(pool)
	return err
}

// Rehearse returns the machines of a pool with placeholders for all secrets, to be looked at and never to be used.
func (f *Fleet) Rehearse(pool *api.NodePool) ([]Machine, error) {
	in, err := f.input(pool)
	if err != nil {
		return nil, err
	}
	if in.Endpoint, err = Endpoint(in.Cluster); err != nil {
		in.Endpoint = api.Endpoint{Host: placeholder}
	}
	if in.Secrets, err = placeholderBundle(); err != nil {
		return nil, err
	}
	in.Values = placeholderValues(in.Role)
	shared, err := config.NewPool(in)
	if err != nil {
		return nil, err
	}
	return render(pool, shared)
}

// placeholderBundle has the form of a cluster's secrets, as far as Talos's validation looks at it. Its keys are made once,
// by Talos's library, and no two runs have the same: the verdict does not depend on them.
var placeholderBundle = sync.OnceValues(func() (*secrets.Bundle, error) {
	authority, err := x509.NewSelfSignedCertificateAuthority(x509.ECDSA(true))
	if err != nil {
		return nil, err
	}
	both := &x509.PEMEncodedCertificateAndKey{Crt: authority.CrtPEM, Key: authority.KeyPEM}
	word := base64.StdEncoding.EncodeToString(make([]byte, 32))
	return &secrets.Bundle{
		Cluster: &secrets.Cluster{ID: word, Secret: word},
		Secrets: &secrets.Secrets{
			BootstrapToken: "aaaaaa.aaaaaaaaaaaaaaaa", AESCBCEncryptionSecret: word, SecretboxEncryptionSecret: word,
		},
		TrustdInfo: &secrets.TrustdInfo{Token: "aaaaaa.aaaaaaaaaaaaaaaa"},
		Certs: &secrets.Certs{
			Etcd: both, K8s: both, K8sAggregator: both, OS: both, K8sServiceAccount: &x509.PEMEncodedKey{Key: authority.KeyPEM},
		},
	}, nil
})

// placeholderValues has something for every Secret that a role refers to.
func placeholderValues(role *api.NodeRole) map[api.SecretKeyReference]string {
	values := map[api.SecretKeyReference]string{}
	for _, reference := range References(role) {
		values[reference] = fmt.Sprintf("%s-%s-%s", placeholder, reference.Name, reference.Key)
	}
	return values
}

// References returns the Secrets that the services of a role refer to.
func References(role *api.NodeRole) []api.SecretKeyReference {
	var all []api.SecretKeyReference
	add := func(from api.ValueSource) {
		if from.Secret != nil {
			all = append(all, *from.Secret)
		}
	}
	for _, service := range role.Spec.Services {
		for _, variable := range service.Environment {
			add(variable.From)
		}
		for _, file := range service.Files {
			add(file.From)
		}
	}
	return all
}
