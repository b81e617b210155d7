// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// A ProtectedError says that a patch touches what makes a machine join its cluster.
type ProtectedError struct {
	// Layer is the layer that the patch is of, for example pool.
	Layer string
	// Path is where in the patch, for example patches[0].machine.token.
	Path string
	// Reason is whose it is, and what to set instead.
	Reason string
}

// Error is one line with all of it.
func (e *ProtectedError) Error() string {
	return fmt.Sprintf("%s layer: %s: %s", e.Layer, e.Path, e.Reason)
}

// Whose the protected fields are, and what to do instead.
const (
	ownIdentity = "the identity of the cluster is made by Minos and cannot be patched"
	ownCA       = "certificate authorities are made by Minos and cannot be patched: rotate them instead"
	ownToken    = "tokens are made by Minos and cannot be patched: rotate them instead"
	ownEndpoint = "the endpoint comes from the cluster: set spec.endpoint of the TalosCluster"
	ownNetwork  = "the networks come from the cluster: set spec.network of the TalosCluster"
	ownType     = "the machine type comes from the role: set spec.machineType of the NodeRole"
	ownName     = "the cluster's name is that of the TalosCluster"
)

// protectedFields are paths in the v1alpha1 document, which has no kind.
var protectedFields = map[string]string{
	"machine.type":                      ownType,
	"machine.token":                     ownToken,
	"machine.ca":                        ownCA,
	"machine.acceptedCAs":               ownCA,
	"cluster.id":                        ownIdentity,
	"cluster.secret":                    ownIdentity,
	"cluster.clusterName":               ownName,
	"cluster.controlPlane.endpoint":     ownEndpoint,
	"cluster.network.dnsDomain":         ownNetwork,
	"cluster.network.podSubnets":        ownNetwork,
	"cluster.network.serviceSubnets":    ownNetwork,
	"cluster.token":                     ownToken,
	"cluster.ca":                        ownCA,
	"cluster.acceptedCAs":               ownCA,
	"cluster.aggregatorCA":              ownCA,
	"cluster.serviceAccount":            ownCA,
	"cluster.etcd.ca":                   ownCA,
	"cluster.secretboxEncryptionSecret": ownToken,
	"cluster.aescbcEncryptionSecret":    ownToken,
}

// protectedKinds are whole documents that replaced such fields. Of KubeNetworkConfig the masks are not ours.
var protectedKinds = map[string]map[string]string{
	"KubeClusterConfig":        {"clusterName": ownName, "endpoint": ownEndpoint},
	"KubeNetworkConfig":        {"dnsDomain": ownNetwork, "podSubnets": ownNetwork, "serviceSubnets": ownNetwork},
	"KubeAPIServerCAConfig":    {"issuingCA": ownCA, "acceptedCAs": ownCA},
	"KubeAggregatorCAConfig":   {"issuingCA": ownCA, "acceptedCAs": ownCA},
	"KubeServiceAccountConfig": {"issuer": ownCA, "accepted": ownCA},
	"KubeEtcdEncryptionConfig": {"config": ownToken},
	"DiscoveryIdentityConfig":  {"clusterID": ownIdentity, "clusterSecret": ownIdentity},
}

// deletion is how a strategic patch removes what it stands in.
const deletion = "$patch"

// Protected returns the first protected thing that a layer's patches touch, or nil. It looks at the patches as they are
// written, so that the path is the one that the user knows.
func Protected(layer string, patches []api.Patch) error {
	for i, patch := range patches {
		var document map[string]any
		if err := json.Unmarshal(patch.Raw, &document); err != nil {
			return fmt.Errorf("%s layer: patches[%d]: %w", layer, i, err)
		}
		if path, reason := touched(document); reason != "" {
			return &ProtectedError{Layer: layer, Path: fmt.Sprintf("patches[%d].%s", i, path), Reason: reason}
		}
	}
	return nil
}

// touched finds the first protected path in a document.
func touched(document map[string]any) (path, reason string) {
	kind, _ := document["kind"].(string)
	fields, known := protectedKinds[kind]
	switch {
	case kind == "":
		fields = protectedFields
	case !known:
		return "", ""
	case document[deletion] != nil:
		return deletion, "the document " + kind + " is what joins the machine to its cluster and cannot be removed"
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if touches(document, strings.Split(field, ".")) {
			return field, fields[field]
		}
	}
	return "", ""
}

// touches says whether a path is set in a document, or removed with something above it.
func touches(node map[string]any, path []string) bool {
	below, ok := node[path[0]]
	if !ok {
		return false
	}
	inner, isMap := below.(map[string]any)
	if len(path) == 1 || !isMap || inner[deletion] != nil {
		return true
	}
	return touches(inner, path[1:])
}
