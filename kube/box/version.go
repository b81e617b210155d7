// SPDX-License-Identifier: Apache-2.0

package box

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// parts are the modules whose versions are worth telling, in the order told.
var parts = []struct{ path, name string }{
	{"k8s.io/kubernetes", "Kubernetes"},
	{"go.etcd.io/etcd/server/v3", "etcd"},
	{"sigs.k8s.io/cluster-api", "Cluster API"},
}

// Version is the command that says what the program was built from.
func Version() Command {
	return Command{Name: "version", About: "what this program was built from", Run: func(call Call) int {
		info, ok := debug.ReadBuildInfo()
		if !ok {
			return Fail(call, fmt.Errorf("this program carries no build information"))
		}
		for _, line := range versions(info) {
			_, _ = fmt.Fprintln(call.Stdout, line)
		}
		return 0
	}}
}

func versions(info *debug.BuildInfo) []string {
	found := map[string]string{}
	for _, m := range info.Deps {
		if m.Replace != nil {
			found[m.Path] = m.Replace.Version
			continue
		}
		found[m.Path] = m.Version
	}
	var lines []string
	for _, p := range parts {
		if v := found[p.path]; v != "" {
			lines = append(lines, fmt.Sprintf("%-12s %s", p.name, v))
		}
	}
	return append(lines, fmt.Sprintf("%-12s %s %s/%s", "Go", info.GoVersion, runtime.GOOS, runtime.GOARCH))
}
