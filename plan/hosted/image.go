// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"errors"
	"fmt"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
)

// SignerImage is the image of a cluster's signer: the operator's, or another release of it if the cluster names one. Of another
// repository it is refused. The signer runs in the management cluster and holds the authority of the cluster's machines, and so it is
// not the tenant who says what code it is.
func SignerImage(cluster *api.TalosCluster, operators string) (string, error) {
	images := cluster.Spec.Images
	switch {
	case images == nil || images.Signer == "":
		if operators == "" {
			return "", errors.New("there is no image of the signer: set spec.images.signer, or start the operator with one")
		}
		return operators, nil
	case operators != "" && repository(images.Signer) != repository(operators):
		return "", fmt.Errorf("spec.images.signer is %s, and only a release of %s may run in the management cluster: name one of those, or remove it",
			images.Signer, repository(operators))
	}
	return images.Signer, nil
}

// repository is an image without its tag and its digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		return image[:at]
	}
	return image
}

// AnnotationDataStores is on a namespace of the management cluster: the data stores of Kamaji that its clusters may name, with
// commas between them. Data stores belong to nobody's namespace, so that anybody could name any.
const AnnotationDataStores = "minos.dev/data-stores"

// DataStore says why a cluster may not have the data store that it names, by the annotations of its namespace.
func DataStore(cluster *api.TalosCluster, annotations map[string]string) error {
	wanted := string(cluster.Spec.ControlPlane.Kamaji.DataStoreName)
	for offered := range strings.SplitSeq(annotations[AnnotationDataStores], ",") {
		if strings.TrimSpace(offered) == wanted {
			return nil
		}
	}
	return fmt.Errorf("spec.controlPlane.kamaji.dataStoreName: the data store %s is not open to namespace %s: have it named in the namespace's annotation %s, or make the cluster without it",
		wanted, cluster.Namespace, AnnotationDataStores)
}
