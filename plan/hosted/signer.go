// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/config"
)

// mounts are where the signer finds its files: the volume and the folder, in this order.
var mounts = []struct {
	name, folder string
	secret       func(*api.TalosCluster) string
}{
	{"signer-ca", "/etc/minos-signer/ca", names.TalosCA},
	{"signer-tls", "/etc/minos-signer/tls", names.SignerTLS},
	{"signer-tokens", "/etc/minos-signer/tokens", names.SignerTokens},
}

// signer is the container that answers Talos workers. Its serving certificate is mounted, so that names change without a
// restart of the control plane. It has no readiness probe on purpose: a Pod is ready when all of its containers are, and a
// mistake in a token must not take the API server out of its Service.
func signer(cluster *api.TalosCluster, facts Facts) map[string]any {
	var mounted []any
	for _, mount := range mounts {
		mounted = append(mounted, map[string]any{"name": mount.name, "mountPath": mount.folder, "readOnly": true})
	}
	return map[string]any{
		"name":  names.Signer,
		"image": facts.SignerImage,
		"args": []any{
			"--ca-cert=/etc/minos-signer/ca/tls.crt", "--ca-key=/etc/minos-signer/ca/tls.key",
			"--tls-cert=/etc/minos-signer/tls/tls.crt", "--tls-key=/etc/minos-signer/tls/tls.key",
			"--tokens=/etc/minos-signer/tokens", "--refuse=" + strings.Join(refused(cluster), ","),
			"--http=:50080", "--tls-min=1.3",
		},
		"env": []any{map[string]any{"name": "GOMEMLIMIT", "value": "96MiB"}},
		"ports": []any{
			map[string]any{"name": "trustd", "containerPort": int64(TrustPort), "protocol": "TCP"},
			map[string]any{"name": "signer-http", "containerPort": int64(50080), "protocol": "TCP"},
		},
		"livenessProbe": map[string]any{
			"httpGet": map[string]any{"path": "/healthz", "port": "signer-http"}, "periodSeconds": int64(20), "failureThreshold": int64(6),
		},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "24Mi"}, "limits": map[string]any{"memory": "128Mi"},
		},
		"securityContext": map[string]any{
			"runAsNonRoot": true, "runAsUser": int64(65532), "runAsGroup": int64(65532), "readOnlyRootFilesystem": true,
			"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
			"seccompProfile": map[string]any{"type": "RuntimeDefault"},
		},
		"volumeMounts": mounted,
	}
}

// refused are the API server's names that no machine may have, beside those that the signer serves with.
func refused(cluster *api.TalosCluster) []string {
	inside := "kubernetes.default.svc"
	return append([]string{"kubernetes", "kubernetes.default", inside, inside + "." + config.Network(cluster).DNSDomain}, certSANs(cluster)...)
}

// volumes are the Secrets that the signer reads. Everybody in the container may read them, since Kamaji sets no group for
// volumes; no other container mounts them.
func volumes(cluster *api.TalosCluster) []any {
	var made []any
	for _, mount := range mounts {
		made = append(made, map[string]any{
			"name": mount.name, "secret": map[string]any{"secretName": mount.secret(cluster), "defaultMode": int64(0o444)},
		})
	}
	return made
}
