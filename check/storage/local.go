// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/json"
)

// localPaths are the paths in the configuration of the provisioner of local paths.
func localPaths(text string) []string {
	var read struct {
		NodePathMap []struct {
			Paths []string `json:"paths"`
		} `json:"nodePathMap"`
	}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil
	}
	var paths []string
	for _, node := range read.NodePathMap {
		paths = append(paths, node.Paths...)
	}
	return paths
}
