// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos"
	"minos.dev/minos/talos/image"
)

// everyRole returns the built-in roles, resolved.
func everyRole(t *testing.T) []*api.NodeRole {
	t.Helper()
	var roles []*api.NodeRole
	for _, name := range talos.BuiltinRoleNames() {
		roles = append(roles, builtin(t, api.Name(name)))
	}
	return roles
}

// matrix returns the matrix of roles, which leaves nothing out.
func matrix(t *testing.T, roles ...*api.NodeRole) *image.Matrix {
	t.Helper()
	m, leftOut, err := image.NewMatrix(roles, metal(nil), image.Disk)
	if err != nil || leftOut != nil {
		t.Fatalf("left out: %v (%v)", leftOut, err)
	}
	return m
}

func TestMatrixIsComplete(t *testing.T) {
	var names []string
	seen := map[string]bool{}
	for _, build := range matrix(t, everyRole(t)...).Include {
		names = append(names, build.Name)
		if seen[build.File] {
			t.Errorf("two images are kept as %s", build.File)
		}
		seen[build.File] = true
	}
	want := []string{
		"compute-amd64", "compute-arm64", "control-plane-amd64", "control-plane-arm64", "gateway-amd64", "gateway-arm64", "gpu-amd-amd64",
		"gpu-intel-amd64", "gpu-nvidia-amd64", "gpu-nvidia-arm64", "plain-amd64", "plain-arm64", "storage-amd64", "storage-arm64",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestMatrixAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(matrix(t, role()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const vanilla = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	build := func(arch string) string {
		return `{"name":"edge-` + arch + `","role":"edge","arch":"` + arch + `","extensions":[],"suffix":"-edge","purpose":"Machines of role edge.",` +
			`"schematic":"` + vanilla + `","url":"https://factory.talos.dev/image/` + vanilla + `/v1.13.9/metal-` + arch + `.raw.zst",` +
			`"file":"metal-` + arch + `-edge.raw.zst"}`
	}
	want := `{"include":[` + build("amd64") + "," + build("arm64") + "]}"
	if diff := cmp.Diff(compact(t, want), compact(t, string(got))); diff != "" {
		t.Error(diff)
	}
}

// compact reads JSON for a comparison.
func compact(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMatrixLeavesOut(t *testing.T) {
	m, leftOut, err := image.NewMatrix([]*api.NodeRole{role("amdgpu")}, metal(nil), image.Disk)
	want := []string{`no image for arm64: role "edge": system extension "amdgpu" has nothing for arm64: it is for [amd64] only`}
	if diff := cmp.Diff(want, leftOut); diff != "" || err != nil || len(m.Include) != 1 {
		t.Errorf("%v\n%s", err, diff)
	}
	_, leftOut, err = image.NewMatrix([]*api.NodeRole{role()}, metal(func(i *image.Image) { i.Platform = "upcloud" }), image.Disk)
	if diff := cmp.Diff([]string{`no image for arm64: role "edge": platform upcloud has none`}, leftOut); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	_, _, err = image.NewMatrix([]*api.NodeRole{role(), role("zsf")}, metal(nil), image.Disk)
	if !strings.Contains(message(err), "zsf") {
		t.Errorf("a role that cannot be built is passed over: %v", err)
	}
}

// A workflow is what the tests look at of one.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Env         map[string]string
	Jobs        map[string]struct {
		Strategy struct {
			Matrix struct{ Include []map[string]string }
		}
		Env   map[string]string
		Steps []struct{ Name, Run, Uses string }
	}
}

// parsed returns a workflow as GitHub would read it.
func parsed(t *testing.T, text string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

var pinnedAction = regexp.MustCompile(`^[a-z/-]+@[0-9a-f]{40}$`)

func TestWorkflow(t *testing.T) {
	text, err := matrix(t, everyRole(t)...).Workflow()
	if err != nil {
		t.Fatal(err)
	}
	w := parsed(t, text)
	if strings.Contains(text, "secrets.") || len(w.Permissions) > 0 || regexp.MustCompile("@[A-Z]+@").MatchString(text) {
		t.Errorf("it asks for too much, or something was not filled in:\n%s", text)
	}
	if len(w.Jobs["image"].Strategy.Matrix.Include) != 14 {
		t.Errorf("%d images", len(w.Jobs["image"].Strategy.Matrix.Include))
	}
	for _, entry := range w.Jobs["image"].Strategy.Matrix.Include {
		for _, key := range []string{"name", "role", "arch", "suffix", "purpose", "schematic", "url", "file", "document"} {
			if entry[key] == "" {
				t.Errorf("%s has no %s", entry["name"], key)
			}
		}
	}
	for _, step := range w.Jobs["image"].Steps {
		if step.Uses != "" && !pinnedAction.MatchString(step.Uses) {
			t.Errorf("%s is not pinned", step.Uses)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s: an expression in a script lets its value be code", step.Name)
		}
	}
}

func TestWorkflowIsNotFooled(t *testing.T) {
	sly := role()
	sly.Spec.Description = `"${{ secrets.KEY }}": 'x' # y`
	text, err := matrix(t, sly).Workflow()
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed(t, text).Jobs["image"].Strategy.Matrix.Include[0]["purpose"]; got != `"$ {{ secrets.KEY }}": 'x' # y` {
		t.Errorf("got %s", got)
	}
	_, err = matrix(t, withArguments("x=${{ github.token }}")).Workflow()
	if want := `role "edge": a kernel argument holds "${{", which GitHub would evaluate: leave it out`; message(err) != want {
		t.Errorf("got %v", err)
	}
}

// curl stands in for the factory: it knows the schematic that KNOWN names, or answers with that as status, and answers a new
// one with ANSWER.
const curl = `#!/bin/bash
echo "curl ${*: -1}" >> "$LOG"
while [ $# -gt 1 ]; do
  case "$1" in
    --output) output=$2 ;;
    --data-binary) sent=$2 ;;
  esac
  shift
done
case "$1" in
  */schematics) printf '{"id":"%s"}' "$ANSWER" > "$output"; echo "sent $(cat "${sent#@}" | sha256sum | cut -d' ' -f1)" >> "$LOG" ;;
  */schematics/*) if [ "${1##*/}" = "$KNOWN" ]; then printf 200; else printf "${KNOWN:-404}"; fi ;;
  *) printf image > "$output" ;;
esac
`

// TestWorkflowRuns runs the steps of one job as GitHub would.
func TestWorkflowRuns(t *testing.T) {
	text, err := matrix(t, builtin(t, "compute")).Workflow()
	if err != nil {
		t.Fatal(err)
	}
	asked := "curl https://factory.talos.dev/schematics/" + compute + "\n"
	sent := "curl https://factory.talos.dev/schematics\nsent " + compute + "\n"
	fetched := "curl https://factory.talos.dev/image/" + compute + "/v1.13.9/metal-amd64.raw.zst\n"
	tests := map[string]struct{ known, answer, document, wantLog, wantFailed string }{
		"the factory knows it":   {known: compute, wantLog: asked + fetched},
		"the factory learns it":  {answer: compute, wantLog: asked + sent + fetched},
		"the factory disagrees":  {answer: "0000", wantLog: asked + sent, wantFailed: "Make sure that the factory knows the schematic"},
		"the factory is ill":     {known: "502", wantLog: asked, wantFailed: "Make sure that the factory knows the schematic"},
		"the schematic was bent": {document: "customization: {}\n", wantFailed: "Check that the schematic is the one that its identity says"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, tools := t.TempDir(), t.TempDir()
			write(t, filepath.Join(tools, "curl"), curl, 0o750)
			log := filepath.Join(tools, "log")
			write(t, log, "", 0o600)
			w := parsed(t, text)
			entry := w.Jobs["image"].Strategy.Matrix.Include[0]
			variables := []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "LOG=" + log, "KNOWN=" + test.known, "ANSWER=" + test.answer}
			for name, value := range w.Env {
				variables = append(variables, name+"="+value)
			}
			for name, value := range w.Jobs["image"].Env {
				key := strings.TrimSuffix(strings.TrimPrefix(value, "${{ matrix."), " }}")
				variables = append(variables, name+"="+entry[key])
			}
			if test.document != "" {
				variables = append(variables, "DOCUMENT="+test.document)
			}
			failed := runSteps(t, dir, variables, w)
			said, err := os.ReadFile(log)
			if diff := cmp.Diff(test.wantLog, string(said)); diff != "" || err != nil || failed != test.wantFailed {
				t.Errorf("failed: %q (%v)\n%s", failed, err, diff)
			}
			sum, err := os.ReadFile(filepath.Join(dir, "image/metal-amd64-compute.raw.zst.sha256"))
			if test.wantFailed == "" && (err != nil || !strings.HasSuffix(string(sum), "  metal-amd64-compute.raw.zst\n")) {
				t.Errorf("checksum %q (%v)", sum, err)
			}
		})
	}
}

// runSteps runs the scripts of a job in order and returns the name of the one that failed.
func runSteps(t *testing.T, dir string, variables []string, w workflow) string {
	t.Helper()
	for _, step := range w.Jobs["image"].Steps {
		if step.Run == "" {
			continue
		}
		if out, err := try(dir, variables, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run); err != nil {
			t.Logf("%s: %s", step.Name, out)
			return step.Name
		}
	}
	return ""
}
