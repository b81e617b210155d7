// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// An attempt is an object by which a tenant tries to reach what is not its own. Exactly one of refused and says is there: what the API
// server answers, or what the object says of itself when the operator has looked at it.
type attempt struct {
	field, what   string
	object        string
	refused, says string
}

// outside is a cluster whose kubeconfig is in a Secret of the attempt's choice.
func outside(name, secret, key string) string {
	return `{kind: TalosCluster, metadata: {name: ` + name + `}, spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9,
		endpoint: {host: 127.0.0.2}, controlPlane: {external: {kubeconfigSecretRef: {name: "` + secret + `", key: "` + key + `"}}}}}`
}

// pooled is a pool of the tenant's own cluster, but for one field.
func pooled(name, field, value string) string {
	spec := map[string]string{
		"clusterName": "mine", "role": "plain", "replicas": "1", "machine": "{sim: {}}", "locationRef": "{kind: Location, name: cloud}", field: value,
	}
	text := ""
	for field, value := range spec {
		text += field + ": " + value + ", "
	}
	return `{kind: NodePool, metadata: {name: ` + name + `}, spec: {` + text + `}}`
}

// hosting is a hosted cluster with more in it.
func hosting(name, spec, kamaji string) string {
	return `{kind: TalosCluster, metadata: {name: ` + name + `}, spec: {kubernetesVersion: v1.36.3, talosVersion: v1.13.9,
		controlPlane: {kamaji: {` + kamaji + `}}, ` + spec + `}}`
}

const (
	secretName = "TalosCluster.controlPlane.external.kubeconfigSecretRef.name"
	secretKey  = "TalosCluster.controlPlane.external.kubeconfigSecretRef.key"
	noName     = "must be a name of lower-case letters"
)

// attempts are those with a field of an object. NS is the other tenant's namespace, in which there are cluster shop with its Secrets,
// Location depot and Secret tailscale; OWN is the tenant's, with cluster mine and Location cloud.
var attempts = []attempt{
	{secretName, "another's Secret, by its name", outside("namesake", "shop-kubeconfig", "value"), "", "Secret shop-kubeconfig with the kubeconfig does not exist yet"},
	{secretName, "another's Secret, by its namespace", outside("qualified", "NS/shop-kubeconfig", "value"), noName, ""},
	{secretName, "another's Secret, by a path", outside("path", "../NS/shop-kubeconfig", "value"), noName, ""},
	{secretName, "the operator's Secret", outside("operator", "minos-admission", "tls.key"), "", "Secret minos-admission with the kubeconfig does not exist yet"},
	{secretName, "what the tenant's own cluster was born with", outside("born", "mine-talos-secrets", "secrets.yaml"), "", "key secrets.yaml of Secret mine-talos-secrets: "},
	{secretName, "a kubeconfig that runs a program", outside("program", "program", "value"), "", "runs a program"},
	{secretName, "a kubeconfig that reads a file", outside("file", "file", "value"), "", "refers to a file"},
	{secretName, "a kubeconfig with a proxy", outside("proxy", "proxy", "value"), "", "goes through a proxy"},
	{secretName, "a kubeconfig for a cloud's metadata", outside("metadata", "metadata", "value"), "", "169.254.169.254 is in 169.254.0.0/16, where no cluster may lead"},
	{secretName, "a kubeconfig for the operator's own machine", outside("inner", "inner", "value"), "", "127.0.0.1 is in 127.0.0.1/32, where no cluster may lead"},
	{secretName, "a kubeconfig for the operator's own machine, by its name", outside("local", "local", "value"), "", "127.0.0.1 is in 127.0.0.1/32, where no cluster may lead"},
	{secretName, "a kubeconfig for no server", outside("nowhere", "nowhere", "value"), "", "key value of Secret nowhere: "},
	{secretName, "a server that sends elsewhere", outside("elsewhere", "elsewhere", "value"), "", "sends elsewhere, as no API server does"},
	{secretName, "a server that tells secrets", outside("gossip", "gossip", "value"), "", "does not answer"},
	{secretName, "no kubeconfig at all", outside("garbage", "garbage", "value"), "", "key value of Secret garbage: it is not a kubeconfig"},
	{secretKey, "a path to another's Secret", outside("key", "garbage", "../../NS/shop-kubeconfig/value"), "", "there is no such key"},
	{"TalosCluster.endpoint.host", "a signer at a cloud's metadata", strings.Replace(outside("listener", "garbage", "value"), "127.0.0.2", "169.254.169.254", 1), "",
		"169.254.169.254 is in 169.254.0.0/16, where no cluster may lead"},
	{"TalosCluster.images.signer", "a program of the tenant's in the management cluster", hosting("spy", `images: {signer: "evil.example.com/minos-signer:v1"}`, ""), "",
		"only a release of registry.example.com/minos-signer may run in the management cluster"},
	{"TalosCluster.controlPlane.kamaji.dataStoreName", "another's data store", hosting("squatter", "", "dataStoreName: gold"), "", "the data store gold is not open to namespace OWN"},
	{"TalosCluster.config.patches[]", "a file instead of a patch", hosting("reader", `config: {patches: ["@/etc/hostname"]}`, ""), "must be of type object", ""},
	{"NodePool.clusterName", "another's cluster", pooled("guest", "clusterName", "shop"), "", "waits for TalosCluster shop, which does not exist in namespace OWN"},
	{"NodePool.clusterName", "another's cluster, by a path", pooled("guest", "clusterName", "../NS/shop"), noName, ""},
	{"NodePool.locationRef.name", "another's place", pooled("thief", "locationRef", "{kind: Location, name: depot}"), "", "Location depot does not exist"},
	{"NodePool.locationRef.name", "another's place, by a path", pooled("thief", "locationRef", "{kind: Location, name: NS/depot}"), noName, ""},
	{"NodePool.locationRef.name", "a place of the platform's that is for others", pooled("burglar", "locationRef", "{kind: ClusterLocation, name: vault-NS}"),
		"ClusterLocation vault-NS is not offered to namespace OWN", ""},
	{"NodePool.locationRef.kind", "a Secret as a place", pooled("liar", "locationRef", "{kind: Secret, name: tailscale}"), "Unsupported value", ""},
	{"NodePool.role", "a role by a path", pooled("actor", "role", "../plain"), noName, ""},
	{"NodePool.role", "a role whose key is in another's namespace", pooled("gate", "role", "gateway"), "", "waits for Secret tailscale with the key authkey in namespace OWN"},
	{"NodePool.config.patches[]", "a file instead of a patch", pooled("reader", "config", `{patches: ["@/etc/hostname"]}`), "must be of type object", ""},
	{"NodePool.config.patches[]", "another's token", pooled("forger", "config", `{patches: [{machine: {token: abcdef.0123456789abcdef}}]}`), "machine.token", ""},
}

// kubeconfigs are the Secrets that the tenant makes for them. INNER, GOSSIP and ELSEWHERE are servers, and TOKEN a word that nobody may
// repeat.
var kubeconfigs = map[string]struct{ cluster, user string }{
	"program":   {`server: "https://192.0.2.1"`, `exec: {command: sh, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}`},
	"file":      {`server: "https://192.0.2.1"`, `tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token`},
	"proxy":     {`server: "https://192.0.2.1", proxy-url: "INNER"`, `token: TOKEN`},
	"metadata":  {`server: "http://169.254.169.254/latest/meta-data"`, `token: TOKEN`},
	"inner":     {`server: "INNER"`, `token: TOKEN`},
	"local":     {`server: "LOCAL"`, `token: TOKEN`},
	"nowhere":   {`server: ""`, `token: TOKEN`},
	"elsewhere": {`server: "ELSEWHERE"`, `token: TOKEN`},
	"gossip":    {`server: "GOSSIP"`, `token: TOKEN`},
}
