// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// services configures extension services. Its document is the same in every version.
func (s *setter) services(in Input) error {
	for _, service := range in.Role.Spec.Services {
		fields := document{"name": string(service.Name)}
		var environment []string
		for _, variable := range service.Environment {
			value, err := in.value(variable.From)
			if err != nil {
				return fmt.Errorf("service %s: variable %s: %w", service.Name, variable.Name, err)
			}
			environment = append(environment, variable.Name+"="+value)
		}
		if len(environment) > 0 {
			fields["environment"] = environment
		}
		var files []any
		for _, file := range service.Files {
			value, err := in.value(file.From)
			if err != nil {
				return fmt.Errorf("service %s: file %s: %w", service.Name, file.Path, err)
			}
			files = append(files, document{"content": value, "mountPath": file.Path})
		}
		if len(files) > 0 {
			fields["configFiles"] = files
		}
		s.add("ExtensionServiceConfig", fields)
	}
	return nil
}

// value is where a value comes from, followed. A Secret that was not given is an error: a service with an empty key would
// look configured and never work.
func (in Input) value(from api.ValueSource) (string, error) {
	switch {
	case from.Secret != nil:
		value, ok := in.Values[*from.Secret]
		if !ok {
			return "", fmt.Errorf("key %q of Secret %q is not known", from.Secret.Key, from.Secret.Name)
		}
		return value, nil
	case from.Cluster == api.ClusterFactName:
		return in.Cluster.Name, nil
	case from.Cluster == api.ClusterFactNetworks:
		network := Network(in.Cluster)
		return strings.Join(append(texts(network.PodCIDRs), texts(network.ServiceCIDRs)...), ","), nil
	}
	return from.Value, nil
}
