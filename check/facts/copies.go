// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"path"
	"slices"
	"strings"
)

// writtenName is the file in which a folder of rendered configurations remembers that Minos wrote them.
const writtenName = ".minos.json"

// copies knows configurations that were rendered from the declarations beside them: they are the same machines once more, or what was
// left of machines that are gone, and counting them would make two of one.
type copies struct {
	folders  []string                     // where rendered files lie, with a slash at the end
	declared map[*Cluster]map[string]bool // the names of declared machines
}

// newCopies looks for what was rendered. Without a declaration there is nothing that it could be a copy of.
func (r *reader) newCopies() *copies {
	c := &copies{declared: map[*Cluster]map[string]bool{}}
	for _, cluster := range r.facts.Clusters {
		for _, machine := range cluster.Machines {
			if c.declared[cluster] == nil {
				c.declared[cluster] = map[string]bool{}
			}
			c.declared[cluster][machine.Name] = true
		}
	}
	for _, file := range r.facts.Files {
		if file.Base() == writtenName && len(c.declared) > 0 {
			c.folders = append(c.folders, strings.TrimPrefix(path.Dir(file.Path)+"/", "./"))
		}
	}
	return c
}

// rendered says whether a file lies where Minos wrote it.
func (c *copies) rendered(file string) bool {
	return slices.ContainsFunc(c.folders, func(folder string) bool { return strings.HasPrefix(file, folder) })
}
