// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/names"
)

// What to look at when nobody looks at an object.
const (
	operatorPods = "kubectl get pods --all-namespaces | grep minos-operator"
	operatorLogs = "the operator's log: does it run, and what does it say of this object?"
)

// An adviser knows what to look at for one condition.
type adviser func(at situation) []string

// advisers are the steps and what people have found behind each. A step that is not here has no advice of its own.
var advisers = map[string]adviser{
	api.ConditionSecretsReady:       lookSecrets,
	api.ConditionControlPlaneReady:  lookControlPlane,
	api.ConditionTrustReady:         lookTrust,
	api.ConditionTenantReady:        lookTenant,
	api.ConditionClusterReady:       lookCluster,
	api.ConditionRoleReady:          lookRole,
	api.ConditionLocationReady:      lookLocation,
	api.ConditionReachable:          lookLocation,
	api.ConditionConfigurationReady: lookConfiguration,
	api.ConditionMachinesReady:      lookMachines,
	api.ConditionInstanceReady:      lookInstance,
	api.ConditionConfigured:         lookConfigured,
	api.ConditionCertificateIssued:  lookCertificate,
	api.ConditionKubeletAuthorized:  lookKubelet,
	api.ConditionNodeRegistered:     lookNode,
	api.ConditionNetworkReady:       lookNetwork,
	api.ConditionServicesRunning:    lookServices,
}

// reasons are what to do about a reason, whatever the step.
var reasons = map[string]string{
	api.ReasonUnreadable: "nothing is made anew meanwhile: may the operator read it, and does the API server answer?",
	api.ReasonDenied:     "who set the policy or the credentials? Nothing is tried again before they change",
	api.ReasonInvalid:    "change the field that the message names: nothing else helps",
}

// advise says why a condition is not true, and what to look at.
func advise(at situation, condition metav1.Condition) (cause string, look []string) {
	cause = cmp.Or(condition.Message, "nothing has been seen of it yet")
	if condition.Type == api.ConditionClusterReady && condition.Reason == api.ReasonNotFound {
		cause = missingCluster(at)
	}
	if condition.Reason == api.ReasonNoCapacity && at.limits != "" {
		cause += fmt.Sprintf(" (limits of %s %s: %s)", at.location.Kind, at.location.Name, at.limits)
	}
	if ask := reasons[condition.Reason]; ask != "" {
		look = append(look, ask)
	}
	if condition.Reason == api.ReasonNoCapacity {
		look = append(look, lookLocation(at)...)
	}
	if adviser := advisers[condition.Type]; adviser != nil {
		look = append(look, adviser(at)...)
	}
	return cause, distinct(look)
}

// missingCluster names the cluster that a pool waits for, and the one that was probably meant.
func missingCluster(at situation) string {
	text := fmt.Sprintf("there is no TalosCluster %q in namespace %q", at.name, at.namespace)
	if near := at.near(); near != "" {
		return text + near
	}
	return text + ": the pool goes on by itself when it comes"
}

// distinct leaves out what stands there already.
func distinct(lines []string) []string {
	seen := map[string]bool{}
	return keep(lines, func(line *string) bool {
		first := !seen[*line]
		seen[*line] = true
		return first
	})
}

func lookSecrets(at situation) []string {
	return []string{at.kubectl("get secrets -l %s=%s", names.LabelCluster, at.name)}
}

func lookControlPlane(at situation) []string {
	if at.cluster != nil && at.cluster.Spec.ControlPlane.External != nil {
		secret := at.cluster.Spec.ControlPlane.External.KubeconfigSecretRef
		return []string{
			at.kubectl("get secret %s", secret.Name),
			fmt.Sprintf("does the kubeconfig in its key %s reach the API server at %s, from the operator's pod?", secret.Key, at.endpoint()),
		}
	}
	return []string{
		at.kubectl("get kamajicontrolplanes,tenantcontrolplanes,pods"),
		at.kubectl("describe kamajicontrolplane %s", at.name),
	}
}

func lookTrust(at situation) []string {
	return []string{
		fmt.Sprintf("nc -vz %s 50001 (does the Service show port 50001 beside the API server's?)", at.endpoint()),
		at.kubectl("get service %s", at.name),
		at.kubectl("logs deployment/%s -c %s", at.name, names.Signer),
	}
}

func lookTenant(at situation) []string {
	return []string{
		at.kubectl("get secret %s", at.name+"-kubeconfig"),
		at.tenant("-n kube-system get secrets --field-selector type=bootstrap.kubernetes.io/token"),
	}
}

func lookCluster(at situation) []string {
	if at.cluster == nil {
		return []string{"minos cluster list -n " + at.namespace}
	}
	return []string{fmt.Sprintf("minos doctor %s -n %s", at.name, at.namespace)}
}

func lookRole(at situation) []string {
	look := []string{"kubectl get noderoles", "minos role list"}
	if at.pool != nil {
		look = append(look, fmt.Sprintf("minos image schematic %s (do its extensions exist for this version?)", at.pool.Spec.Role))
	}
	return look
}

func lookLocation(at situation) []string {
	if at.location.Kind != api.KindClusterLocation {
		return []string{at.kubectl("describe location %s", at.location.Name)}
	}
	return []string{
		fmt.Sprintf("kubectl describe clusterlocation %s", at.location.Name),
		fmt.Sprintf("kubectl get namespace %s --show-labels (does the place's namespaces selector match?)", cmp.Or(at.namespace, "NAMESPACE")),
	}
}

func lookConfiguration(at situation) []string {
	if at.pool == nil {
		return nil
	}
	return []string{at.kubectl("get nodepool %s -o yaml (spec.config is the pool's own layer)", at.pool.Name)}
}

func lookMachines(at situation) []string {
	if at.pool == nil {
		return nil
	}
	label := names.LabelPool + "=" + at.pool.Name
	if at.pool.Spec.Machine.KubeVirt != nil {
		return []string{
			at.kubectl("get machines.cluster.x-k8s.io,virtualmachineinstances -l %s=%s", names.LabelClusterAPI, at.name),
			at.kubectl("describe machinedeployment -l %s", label),
		}
	}
	return []string{at.kubectl("get talosmachines -l %s", label)}
}

func lookInstance(at situation) []string {
	return append(lookLocation(at), lookMachines(at)...)
}

func lookConfigured(at situation) []string {
	look := []string{"the machine's console: does it boot, and does it say where it looks for its configuration?"}
	if at.pool != nil && at.pool.Spec.Machine.KubeVirt != nil {
		return append(look, at.kubectl("logs -l kubevirt.io=virt-launcher -c guest-console-log --tail 100"))
	}
	return append(look, fmt.Sprintf("talosctl -n %s dmesg --insecure (a machine without configuration is in maintenance mode)", at.machine()))
}

func lookCertificate(at situation) []string {
	return []string{
		fmt.Sprintf("from the machine's network: nc -vz %s 50001 (is TCP 50001 reachable there?)", at.endpoint()),
		fmt.Sprintf("what the signer's audit says: %s", at.kubectl("logs deployment/%s -c %s", at.name, names.Signer)),
		"the machine's clock: a certificate that is not valid yet is refused",
	}
}

func lookKubelet(at situation) []string {
	return []string{
		fmt.Sprintf("has the bootstrap token expired? %s (annotation %s)", at.kubectl("get secret %s -o yaml", at.join()), names.AnnotationActiveUntil),
		at.tenant("get certificatesigningrequests"),
		at.talosctl("logs kubelet"),
	}
}

func lookNode(at situation) []string {
	return []string{
		at.tenant("get nodes"),
		at.talosctl("logs kubelet") + " (is the API server reachable, is the version allowed?)",
	}
}

func lookNetwork(at situation) []string {
	look := []string{at.tenant("-n kube-system get pods --field-selector spec.nodeName=%s", cmp.Or(at.node, "NODE"))}
	if cni := cniOf(at.cluster); cni != nil && cni.Provider != api.CNIFlannel && len(cni.Manifests) == 0 {
		look = append(look, fmt.Sprintf("is %s installed in the cluster? Minos does not install it unless spec.cni.manifests says so", cni.Provider))
	}
	return look
}

// cniOf is the declared pod network.
func cniOf(cluster *api.TalosCluster) *api.CNI {
	if cluster == nil {
		return nil
	}
	return cluster.Spec.CNI
}

func lookServices(at situation) []string {
	look := []string{
		at.talosctl("services") + " (which ext-… service waits, and for what?)",
		at.talosctl("get extensionserviceconfigs") + " (has each service that waits its configuration?)",
	}
	if at.pool != nil {
		look = append(look, fmt.Sprintf("minos role show %s --resolved (spec.services has the configuration of each)", at.pool.Spec.Role))
	}
	return look
}

// lookDeleting is what to look at for an object that does not go.
func lookDeleting(p patient) []string {
	at := situation{namespace: p.object.Namespace}
	switch p.kind {
	case "NodePool":
		return []string{at.kubectl("get talosmachines -l %s=%s", names.LabelPool, p.object.Name), operatorLogs}
	case "TalosCluster":
		return []string{at.kubectl("get nodepools"), operatorLogs}
	}
	return []string{strings.ToLower(fmt.Sprintf("kubectl describe %s %s", p.kind, p.object.Name))}
}
