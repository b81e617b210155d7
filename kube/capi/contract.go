// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

// contracts are the versions of Cluster API's contract with providers that its controllers understand, best first.
var contracts = []string{"v1beta2", "v1beta1"}

// ContractVersion reads from the labels of a provider's custom resource definition which of its versions to speak: the
// newest of those it lists for the newest contract that both sides know. A label reads
// "cluster.x-k8s.io/v1beta2: v1alpha3_v1beta1".
func ContractVersion(labels map[string]string) (string, error) {
	for _, contract := range contracts {
		var listed []string
		for v := range strings.SplitSeq(labels["cluster.x-k8s.io/"+contract], "_") {
			if v != "" {
				listed = append(listed, v)
			}
		}
		if len(listed) > 0 {
			return slices.MaxFunc(listed, version.CompareKubeAwareVersionStrings), nil
		}
	}
	return "", fmt.Errorf("no label cluster.x-k8s.io/%s says which versions keep Cluster API's contract", contracts[0])
}
