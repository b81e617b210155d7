// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// A Version says which minos this is and what it is built on.
type Version struct {
	// Version of minos, or "devel" for a build from a working tree.
	Version string `json:"version"`
	// Commit it was built from.
	Commit string `json:"commit,omitempty"`
	// GoVersion is the toolchain's.
	GoVersion string `json:"goVersion"`
	// Platform it runs on, such as linux/amd64.
	Platform string `json:"platform"`
	// TalosMachinery is the Talos library, which knows the machine configuration up to this version.
	TalosMachinery string `json:"talosMachinery,omitempty"`
	// Kubernetes is the API library: v0.37.1 is of Kubernetes 1.37.
	Kubernetes string `json:"kubernetes,omitempty"`
}

// ReadVersion reads the running program. What the linker was told wins over what the toolchain recorded.
func ReadVersion(version, commit string) Version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	v := versionOf(info)
	v.Platform = runtime.GOOS + "/" + runtime.GOARCH
	if version != "" {
		v.Version = version
	}
	if commit != "" {
		v.Commit = commit
	}
	return v
}

func versionOf(info *debug.BuildInfo) Version {
	v := Version{Version: "devel", Commit: commitOf(info.Settings), GoVersion: info.GoVersion}
	if main := info.Main.Version; main != "" && main != "(devel)" {
		v.Version = main
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = &debug.Module{Path: dep.Path, Version: strings.TrimSpace(dep.Replace.Version + " (replaced)")}
		}
		switch dep.Path {
		case "github.com/siderolabs/talos/pkg/machinery":
			v.TalosMachinery = dep.Version
		case "k8s.io/apimachinery":
			v.Kubernetes = dep.Version
		}
	}
	return v
}

func commitOf(settings []debug.BuildSetting) string {
	commit, dirty := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

func (v Version) table() Table {
	return Table{
		Columns: []string{"name", "value"},
		Rows: [][]string{
			{"version", v.Version},
			{"commit", v.Commit},
			{"goVersion", v.GoVersion},
			{"platform", v.Platform},
			{"talosMachinery", v.TalosMachinery},
			{"kubernetes", v.Kubernetes},
		},
	}
}

func newVersion(v Version) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of minos and of what it is built on",
		Long: `Print the version of minos, the commit, the Go toolchain, the platform, and the
Talos and Kubernetes libraries it is built on.`,
		Example: "minos version\nminos version -o json",
		GroupID: GroupAbout,
	}
	format := OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return Print(cmd.OutOrStdout(), *format, v, v.table)
	}
	return cmd
}
