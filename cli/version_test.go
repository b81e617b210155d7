// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionOf(t *testing.T) {
	for name, tc := range map[string]struct {
		info debug.BuildInfo
		want Version
	}{
		"a build from a working tree": {
			info: debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}},
			want: Version{Version: "devel", GoVersion: "go1.26.0"},
		},
		"go install of a release": {
			info: debug.BuildInfo{
				GoVersion: "go1.26.0",
				Main:      debug.Module{Version: "v1.2.3"},
				Deps: []*debug.Module{
					{Path: "github.com/siderolabs/talos/pkg/machinery", Version: "v1.14.1"},
					{Path: "k8s.io/api", Version: "v0.1.0"},
					{Path: "k8s.io/apimachinery", Version: "v0.37.1"},
				},
			},
			want: Version{Version: "v1.2.3", GoVersion: "go1.26.0", TalosMachinery: "v1.14.1", Kubernetes: "v0.37.1"},
		},
		"a tree with changes": {
			info: debug.BuildInfo{Settings: []debug.BuildSetting{
				{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "0123abc"},
			}},
			want: Version{Version: "devel", Commit: "0123abc-dirty"},
		},
		"a clean tree": {
			info: debug.BuildInfo{Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "false"},
			}},
			want: Version{Version: "devel", Commit: "0123abc"},
		},
		"a library that was replaced": {
			info: debug.BuildInfo{Deps: []*debug.Module{
				{Path: "k8s.io/apimachinery", Version: "v0.1.0", Replace: &debug.Module{Version: "v0.37.1"}},
			}},
			want: Version{Version: "devel", Kubernetes: "v0.37.1 (replaced)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, versionOf(&tc.info)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadVersion(t *testing.T) {
	v := ReadVersion("v1.2.3", "0123abc")
	if v.Version != "v1.2.3" || v.Commit != "0123abc" {
		t.Errorf("what the linker was told is lost: %+v", v)
	}
	if v.GoVersion != runtime.Version() || v.Platform == "" {
		t.Errorf("what the program knows is lost: %+v", v)
	}
}
