// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	api "minos.dev/minos/api/v1alpha1"
)

// What the kubelet is told where a pool says nothing.
const (
	defaultHard = "7%"
	defaultSoft = "10%"
)

// checkKubelet refuses settings with which a machine would evict everything, or nothing in time.
func checkKubelet(kubelet *api.Kubelet, capacity *api.Resources) error {
	if kubelet == nil {
		return nil
	}
	if err := checkEviction(kubelet); err != nil {
		return err
	}
	if capacity == nil {
		return nil
	}
	for _, kept := range []*api.Resources{kubelet.SystemReserved, kubelet.KubeReserved} {
		if kept != nil && (kept.CPU.Cmp(capacity.CPU) >= 0 || kept.Memory.Cmp(capacity.Memory) >= 0) {
			return fmt.Errorf("pool layer: kubelet keeps %s and %s of a machine that has %s and %s: nothing would be left for pods",
				kept.CPU.String(), kept.Memory.String(), capacity.CPU.String(), capacity.Memory.String())
		}
	}
	return nil
}

// checkEviction compares the two bounds. Soft comes first as memory gets scarce, so it must be the larger one.
func checkEviction(kubelet *api.Kubelet) error {
	if kubelet.EvictionHardMemory == "" && kubelet.EvictionSoftMemory == "" {
		return nil
	}
	hard, soft := cmp.Or(kubelet.EvictionHardMemory, defaultHard), cmp.Or(kubelet.EvictionSoftMemory, defaultSoft)
	hardShare, isShare := strings.CutSuffix(hard, "%")
	softShare, softIsShare := strings.CutSuffix(soft, "%")
	if isShare != softIsShare {
		return fmt.Errorf("pool layer: kubelet.evictionHardMemory %s and evictionSoftMemory %s cannot be compared: give both as shares or both as amounts", hard, soft)
	}
	larger := false
	if isShare {
		h, hardErr := strconv.Atoi(hardShare)
		s, softErr := strconv.Atoi(softShare)
		larger = hardErr == nil && softErr == nil && s > h
	} else {
		h, hardErr := resource.ParseQuantity(hard)
		s, softErr := resource.ParseQuantity(soft)
		larger = hardErr == nil && softErr == nil && s.Cmp(h) > 0
	}
	if !larger {
		return fmt.Errorf("pool layer: kubelet.evictionSoftMemory %s must be more than evictionHardMemory %s: it is the first to be reached", soft, hard)
	}
	return nil
}
