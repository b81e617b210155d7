// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// bindings are what kubeadm's phases leave in a cluster, by the names that they give it: whoever has a bootstrap token of
// kubeadm's group may ask for the certificate of a kubelet and gets it, and a kubelet gets its next one.
var bindings = []struct{ name, group, role string }{
	{"kubeadm:kubelet-bootstrap", "system:bootstrappers:kubeadm:default-node-token", "system:node-bootstrapper"},
	{
		"kubeadm:node-autoapprove-bootstrap", "system:bootstrappers:kubeadm:default-node-token",
		"system:certificates.k8s.io:certificatesigningrequests:nodeclient",
	},
	{
		"kubeadm:node-autoapprove-certificate-rotation", "system:nodes",
		"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
	},
}

// Prepare leaves in the cluster what Kamaji leaves there, so that kubelets can join. What is there already stays.
func (c *ControlPlane) Prepare(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return err
	}
	for _, b := range bindings {
		_, err := clients.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: b.name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: b.group}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("let kubelets join: %w", err)
		}
	}
	return nil
}
