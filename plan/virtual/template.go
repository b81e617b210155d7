// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/plan/names"
	"minos.dev/minos/talos/image"
)

// The system disk of a virtual machine: what its volume is called, and its disk.
const (
	volumeName = "disk-system" // the provider puts the machine's name before it
	diskName   = "system"
)

// template is the machine, named by what matters of it.
func (in Input) template(booted image.Image, address string, trust *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	print, err := in.matter(booted).fingerprint()
	if err != nil {
		return nil, fmt.Errorf("name the template: %w", err)
	}
	made := in.object(TemplateKind, in.Pool.Name+"-"+print)
	virtual, err := in.virtualMachine(in.volume(address, trust))
	if err != nil {
		return nil, err
	}
	made.Object["spec"] = fields{"template": fields{"spec": fields{
		// Talos has no SSH, by which the provider would look whether a machine has started.
		"virtualMachineBootstrapCheck": fields{"checkStrategy": "none"},
		"virtualMachineTemplate":       fields{"metadata": fields{"namespace": in.Pool.Namespace, "labels": texts(in.machineLabels())}, "spec": virtual},
	}}}
	text, err := json.Marshal(made.Object["spec"])
	if err != nil {
		return nil, fmt.Errorf("name the template: %w", err)
	}
	sum := sha256.Sum256(text)
	made.SetAnnotations(map[string]string{names.AnnotationApplied: hex.EncodeToString(sum[:8])})
	return made, nil
}

// machineLabels are those of a machine: Cluster API takes the role's on to the Node, where a kubelet may not put it itself.
func (in Input) machineLabels() map[string]string {
	labels := in.labels()
	labels[deploymentLabel] = in.Pool.Name
	labels[roleLabel+string(in.Pool.Spec.Role)] = ""
	return labels
}

// roleLabel is what tells a Node's role.
const roleLabel = "node-role.kubernetes.io/"

// selector finds the machines of the pool.
func (in Input) selector() fields {
	return fields{"matchLabels": fields{names.LabelClusterAPI: in.Cluster.Name, deploymentLabel: in.Pool.Name}}
}

// volume is the system disk, filled with the image.
func (in Input) volume(address string, trust *unstructured.Unstructured) fields {
	source := fields{"url": address}
	if trust != nil {
		source["certConfigMap"] = trust.GetName()
	}
	size := diskSize(in.Pool.Spec.Machine.KubeVirt)
	storage := fields{"resources": fields{"requests": fields{"storage": size.String()}}}
	if class := in.storageClass(); class != "" {
		storage["storageClassName"] = class
	}
	return fields{
		"metadata": fields{
			"name": volumeName,
			// The populator binds the volume a second time, which some storage drivers refuse.
			"annotations": fields{"cdi.kubevirt.io/storage.usePopulator": "false"},
		},
		"spec": fields{"source": fields{"http": source}, "storage": storage},
	}
}

// storageClass is the pool's, or the place's, or none to take the default one.
func (in Input) storageClass() string {
	if disk := in.Pool.Spec.Machine.KubeVirt.Disk; disk != nil && disk.StorageClassName != "" {
		return disk.StorageClassName
	}
	if in.Location.KubeVirt != nil {
		return in.Location.KubeVirt.StorageClassName
	}
	return ""
}
