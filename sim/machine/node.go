// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/labels"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeFacts are what a kubelet and Talos tell of a machine.
type nodeFacts struct {
	name         string
	image        Image
	kubelet      string // its version
	architecture string
	addresses    []netip.Addr
	providerID   string
	identity     string
	boots        int
	cpus, memory int64
	labels       []string          // key=value, as the kubelet's argument has them
	taints       map[string]string // key to value:effect, as a configuration has them
	external     bool              // a cloud controller is yet to look at the Node
	diskFull     bool
	silent       bool // the lease is left as it is
}

// newNode is the Node that a kubelet registers: it may name its own labels, and its taints only now.
func newNode(facts nodeFacts) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: facts.name, Labels: map[string]string{
			corev1.LabelHostname: facts.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: facts.architecture,
			"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": facts.architecture,
		}},
		Spec: corev1.NodeSpec{ProviderID: facts.providerID},
	}
	for _, label := range facts.labels {
		if key, value, is := strings.Cut(label, "="); is {
			node.Labels[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(facts.taints)) {
		value, effect := labels.ParseTaint(facts.taints[key])
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	if facts.external {
		node.Spec.Taints = append(node.Spec.Taints,
			corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	return node
}

// nodeStatus is what the kubelet reports of it.
func nodeStatus(facts nodeFacts, network bool, now time.Time) corev1.NodeStatus {
	status := corev1.NodeStatus{
		Capacity: capacity(facts, 0), Allocatable: capacity(facts, 512),
		Conditions:      conditions(facts, network, metav1.NewTime(now)),
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: constants.KubeletPort}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: facts.identity, SystemUUID: facts.identity, BootID: bootID(facts.identity, facts.boots),
			KernelVersion: "6.18.0-talos", OSImage: "Talos (" + facts.image.Version + ")", OperatingSystem: "linux",
			Architecture: facts.architecture, ContainerRuntimeVersion: "containerd://2.1.0", KubeletVersion: facts.kubelet,
		},
	}
	for _, address := range facts.addresses {
		status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address.String()})
	}
	status.Addresses = append(status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: facts.name})
	return status
}

// capacity is a machine's size, less what is kept.
func capacity(facts nodeFacts, keptMiB int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(facts.cpus, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity((facts.memory-keptMiB)<<20, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(20<<30, resource.BinarySI),
	}
}

// conditions are those of a machine that lacks nothing but perhaps a network, or room on its disk.
func conditions(facts nodeFacts, network bool, now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	ready := condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	if !network {
		ready = condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", "container runtime network not ready: "+
			"NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
	}
	disk := condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	if facts.diskFull {
		disk = condition(corev1.NodeDiskPressure, corev1.ConditionTrue, "KubeletHasDiskPressure", "kubelet has disk pressure")
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		disk,
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		ready,
	}
}

// extensionMarks are the labels and annotations by which Talos tells of its image: a value that is no label, as the identity
// of a schematic is none, becomes an annotation.
func extensionMarks(image Image) (asLabels, asAnnotations map[string]string) {
	asLabels, asAnnotations = map[string]string{}, map[string]string{}
	mark := func(name, value string) {
		key := constants.K8sExtensionPrefix + name
		switch {
		case labels.ValidateQualifiedName(key) != nil:
		case labels.ValidateLabelValue(value) == nil:
			asLabels[key] = value
		default:
			asAnnotations[key] = value
		}
	}
	for _, name := range image.Extensions {
		mark(name, strings.TrimPrefix(image.Version, "v"))
	}
	if image.Schematic != "" {
		mark("schematic", image.Schematic)
	}
	return asLabels, asAnnotations
}

// applyMarks sets labels and annotations as Talos does: it remembers which are its own, takes nothing from others, and
// removes its own when they are no longer wanted. It says whether anything changed.
func applyMarks(node *corev1.Node, wantLabels, wantAnnotations map[string]string) bool {
	before := node.DeepCopy()
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	// What is owned is itself kept in annotations, so both are read before either is written.
	ownLabels, ownAnnotations := owned(node, constants.AnnotationOwnedLabels), owned(node, constants.AnnotationOwnedAnnotations)
	own(node, constants.AnnotationOwnedLabels, applyOwned(node.Labels, ownLabels, wantLabels))
	own(node, constants.AnnotationOwnedAnnotations, applyOwned(node.Annotations, ownAnnotations, wantAnnotations))
	return !maps.Equal(before.Labels, node.Labels) || !maps.Equal(before.Annotations, node.Annotations)
}

// applyOwned sets what is wanted in current, and returns what is owned now.
func applyOwned(current map[string]string, before []string, want map[string]string) []string {
	var after []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, there := current[key]
		if there && value != want[key] && !slices.Contains(before, key) {
			continue // somebody else's
		}
		current[key] = want[key]
		after = append(after, key)
	}
	for _, key := range before {
		if _, wanted := want[key]; !wanted {
			delete(current, key)
		}
	}
	return after
}

// owned reads a list of what Talos owns.
func owned(node *corev1.Node, annotation string) []string {
	var keys []string
	_ = json.Unmarshal([]byte(node.Annotations[annotation]), &keys) // what cannot be read is nobody's
	return keys
}

// own writes it.
func own(node *corev1.Node, annotation string, keys []string) {
	if len(keys) == 0 {
		delete(node.Annotations, annotation)
		return
	}
	text, _ := json.Marshal(keys) // words always can be
	node.Annotations[annotation] = string(text)
}
