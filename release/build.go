// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A target is a platform and what is delivered for it.
type target struct {
	system, processor string
	programs          []string
}

// targets are all that is delivered: people sit before any computer, and clusters run on Linux.
var targets = []target{
	{"linux", "amd64", []string{"minos", "minos-operator", "minos-signer"}},
	{"linux", "arm64", []string{"minos", "minos-operator", "minos-signer"}},
	{"darwin", "amd64", []string{"minos"}},
	{"darwin", "arm64", []string{"minos"}},
}

func (t target) String() string { return t.system + "/" + t.processor }

// folder is where its programs are in a release.
func (t target) folder() string { return t.system + "-" + t.processor }

// baseline is the oldest processor that programs run on. It is set here because Go takes it from whoever builds, and the bytes
// depend on it.
var baseline = map[string]string{"amd64": "GOAMD64=v1", "arm64": "GOARM64=v8.0"}

// kept is what a build needs to know of this computer: where Go, its modules and its cache are, and how modules are
// fetched. Nothing else reaches it, so that no setting of one person is in what all get.
var kept = []string{"PATH", "HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB"}

// environment is that of a build.
func environment(one target, here []string) []string {
	made := []string{
		"CGO_ENABLED=0", "GOTOOLCHAIN=local", "GOENV=off", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOOS=" + one.system, "GOARCH=" + one.processor, baseline[one.processor],
	}
	for _, variable := range here {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(kept, name) {
			made = append(made, variable)
		}
	}
	return made
}

// build builds the programs of a target into its folder.
func (o order) build(ctx context.Context, one target) error {
	out, err := filepath.Abs(filepath.Join(o.out, one.folder()))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	arguments := []string{
		"build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X main.version=" + o.version + " -X main.commit=" + o.commit, "-o", out + "/",
	}
	for _, program := range one.programs {
		arguments = append(arguments, "./cmd/"+program)
	}
	_, err = o.goCommand(ctx, one, arguments...)
	return err
}

// goCommand runs the go command for a target, and returns what it prints.
func (o order) goCommand(ctx context.Context, one target, arguments ...string) (string, error) {
	var words strings.Builder
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = o.tree
	command.Env = environment(one, os.Environ())
	command.Stderr = &words
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s for %s: %w\n%s", arguments[0], one, err, words.String())
	}
	return string(out), nil
}
