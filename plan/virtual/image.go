// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"minos.dev/minos/plan/pool"
	"minos.dev/minos/talos/image"
)

// image is what the machines boot, and where it is: at the factory, or where the place has it prepared.
func (in Input) image() (image.Image, string, error) {
	booted, err := pool.Image(in.Cluster, in.Pool, in.Role)
	if err != nil {
		return image.Image{}, "", err
	}
	if place := in.Location.KubeVirt; place != nil && place.Image != nil && place.Image.URL != "" {
		return booted, string(place.Image.URL), nil
	}
	address, err := booted.URL(image.Disk)
	return booted, address, err
}

// trust is the certificates that the import of the disk trusts in addition, by their content. It is nil where the cluster has none.
func (in Input) trust() *unstructured.Unstructured {
	if in.Cluster.Spec.Images == nil || in.Cluster.Spec.Images.CABundle == "" {
		return nil
	}
	bundle := in.Cluster.Spec.Images.CABundle
	sum := sha256.Sum256([]byte(bundle))
	made := in.object(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, in.Pool.Name+"-ca-"+hex.EncodeToString(sum[:])[:fingerprintLength])
	made.Object["data"] = fields{"ca.pem": bundle}
	return made
}
