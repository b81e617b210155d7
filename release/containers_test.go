// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/charts"
)

// instructions are the lines of a file for an image that do something: what they do, and with what.
func instructions(t *testing.T, program string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(program, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(word, "#") {
			found[word] = append(found[word], rest)
		}
	}
	return found
}

// TestContainers holds what images are made of to the release, and to how they are run.
func TestContainers(t *testing.T) {
	for _, program := range targets[0].programs {
		t.Run(program, func(t *testing.T) {
			found := instructions(t, program)
			var labels []string
			for _, label := range found["LABEL"] {
				name, _, _ := strings.Cut(label, "=")
				labels = append(labels, strings.TrimPrefix(name, "org.opencontainers.image."))
			}
			delete(found, "LABEL")
			want := map[string][]string{
				"FROM":       {"scratch"}, // neither a shell nor a package manager
				"ARG":        {"TARGETARCH", "VERSION=unknown"},
				"COPY":       {"LICENSE /LICENSE", "linux-${TARGETARCH}/" + program + " /" + program},
				"USER":       {"65532:65532"}, // a number: runAsNonRoot does not believe in names
				"ENTRYPOINT": {`["/` + program + `"]`},
			}
			if ports := ports(t, program); ports != nil {
				want["EXPOSE"] = []string{strings.Join(ports, " ")}
			} else {
				want["WORKDIR"] = []string{"/work"}
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"title", "description", "licenses", "version"}, labels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ports are those at which manifests expect a program, sorted.
func ports(t *testing.T, program string) (all []string) {
	t.Helper()
	for _, text := range manifests(t) {
		for _, document := range strings.Split(text, "\n---\n") {
			var read any
			if err := yaml.Unmarshal([]byte(document), &read); err != nil {
				t.Fatal(err)
			}
			for _, container := range containers(read, "REGISTRY/"+program+":VERSION") {
				for _, port := range container["ports"].([]any) {
					all = append(all, strconv.Itoa(int(port.(map[string]any)["containerPort"].(float64))))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// manifests are the texts that people install our images with.
func manifests(t *testing.T) (all []string) {
	t.Helper()
	for _, source := range []struct {
		files   fs.FS
		pattern string
	}{{charts.Operator, "minos/operator/operator.yaml"}, {os.DirFS("../docs/signer"), "*.yaml"}} {
		names, err := fs.Glob(source.files, source.pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", source.pattern, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(source.files, name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	return all
}

// containers are all that run an image, wherever they are in a document.
func containers(document any, image string) (all []map[string]any) {
	switch here := document.(type) {
	case map[string]any:
		if here["image"] == image {
			all = append(all, here)
		}
		for _, value := range here {
			all = append(all, containers(value, image)...)
		}
	case []any:
		for _, value := range here {
			all = append(all, containers(value, image)...)
		}
	}
	return all
}
