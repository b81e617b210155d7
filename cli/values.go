// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sops"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/pki"
)

// secretsOf gathers what a cluster's machines need and no declaration says.
func (f *folder) secretsOf(cmd *cobra.Command, cluster *declaredCluster, all *fleet.Fleet, keys *keyring) (*pki.Secrets, fleet.Secrets, error) {
	wanted, err := wantedOf(cluster.TalosCluster, all)
	if err != nil {
		return nil, fleet.Secrets{}, err
	}
	file, err := readSecrets(cmd, cluster, keys)
	if err != nil {
		return nil, fleet.Secrets{}, err
	}
	with := file.forMachines()
	with.Values, err = f.values(cmd, cluster.Namespace, wanted, keys)
	return file.secrets, with, err
}

// wantedOf are the Secrets that the roles of a cluster's pools refer to.
func wantedOf(cluster *api.TalosCluster, all *fleet.Fleet) ([]api.SecretKeyReference, error) {
	var wanted []api.SecretKeyReference
	for _, pool := range all.Pools(cluster) {
		role, err := all.Role(pool)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, fleet.References(role)...)
	}
	return wanted, nil
}

// values are the values of Secrets, which are ordinary Secrets of Kubernetes in any file of the folder, encrypted or not.
func (f *folder) values(cmd *cobra.Command, namespace string, wanted []api.SecretKeyReference, keys *keyring) (map[api.SecretKeyReference]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	found := map[api.SecretKeyReference]string{}
	for _, path := range f.paths {
		secrets, encrypted, err := secretsIn(path, keys)
		if err != nil {
			return nil, err
		}
		for _, secret := range secrets {
			if secret.Metadata.Namespace != namespace {
				continue
			}
			secret.take(found)
			if !encrypted && slices.ContainsFunc(wanted, secret.isMeant) {
				say(cmd, "warning: %s holds the Secret %q in clear: 'minos secrets encrypt' does it", path, secret.Metadata.Name)
			}
		}
	}
	for _, reference := range wanted {
		if _, ok := found[reference]; !ok {
			return nil, Hint(fmt.Errorf("no file of the folder has a Secret %q with the key %q in namespace %q", reference.Name, reference.Key, namespace),
				"write the Secret into a file such as "+string(reference.Name)+".sops.yaml and encrypt it: minos secrets encrypt")
		}
	}
	return found, nil
}

// A secret is a Secret of Kubernetes, as far as its values go.
type secret struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name      string `yaml:"name"`
		Namespace string `yaml:"namespace"`
	} `yaml:"metadata"`
	Data       map[string]string `yaml:"data"`
	StringData map[string]string `yaml:"stringData"`
}

// secretsIn returns the Secrets of a file, and whether it is encrypted.
func secretsIn(path string, keys *keyring) (_ []secret, encrypted bool, _ error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	encrypted = sops.Encrypted(text)
	if !bytes.Contains(text, []byte("Secret")) && !encrypted {
		return nil, encrypted, nil
	}
	if text, err = readSecretFile(path, keys); err != nil {
		return nil, encrypted, err
	}
	secrets, err := parseSecrets(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return secrets, encrypted, err
}

// parseSecrets returns the Secrets of a text.
func parseSecrets(text []byte) ([]secret, error) {
	var all []secret
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var one secret
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if one.Kind != "Secret" {
			continue
		}
		if one.Metadata.Namespace == "" {
			one.Metadata.Namespace = "default"
		}
		for key, value := range one.Data {
			if _, err := base64.StdEncoding.DecodeString(value); err != nil {
				return nil, fmt.Errorf("data.%[2]s of Secret %[1]q is not base64", one.Metadata.Name, key)
			}
		}
		all = append(all, one)
	}
}

// isMeant says whether a reference is to this Secret.
func (s secret) isMeant(reference api.SecretKeyReference) bool {
	return string(reference.Name) == s.Metadata.Name
}

// take adds the values of a Secret. What is given in clear wins over what is encoded, as for Kubernetes.
func (s secret) take(into map[api.SecretKeyReference]string) {
	name := api.Name(s.Metadata.Name)
	for key, value := range s.Data {
		decoded, _ := base64.StdEncoding.DecodeString(value) // secretsIn has looked
		into[api.SecretKeyReference{Name: name, Key: key}] = string(decoded)
	}
	for key, value := range s.StringData {
		into[api.SecretKeyReference{Name: name, Key: key}] = value
	}
}
