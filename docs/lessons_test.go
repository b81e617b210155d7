// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// lessons is how many there are, and notYet how many of them have no answer. Whoever answers one lowers the number.
const (
	lessons = 55
	notYet  = 5
)

var lesson = regexp.MustCompile(`(?m)^\| L(\d+) \| (.+) \| (.+) \| (.*)\|$`)

// TestLessons holds the page of lessons to the code: each lesson stands there once, with tests that exist, or says what is missing.
func TestLessons(t *testing.T) {
	page, err := os.ReadFile("lessons.md")
	if err != nil {
		t.Fatal(err)
	}
	seen, missing := map[int]bool{}, 0
	for _, row := range lesson.FindAllStringSubmatch(string(page), -1) {
		number, err := strconv.Atoi(row[1])
		if err != nil || number < 1 || number > lessons || seen[number] {
			t.Errorf("L%s stands there twice, or is none", row[1])
		}
		seen[number] = true
		if strings.HasPrefix(row[3], "Not yet: ") {
			missing++
			continue
		}
		for _, problem := range unproven(row[4]) {
			t.Errorf("L%d: %s", number, problem)
		}
	}
	if len(seen) != lessons {
		t.Errorf("there are %d lessons on the page, and not %d", len(seen), lessons)
	}
	if missing != notYet {
		t.Errorf("%d lessons have no answer; notYet says %d", missing, notYet)
	}
}

// installed are the files that are installed, by their path.
func installed(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, pattern := range []string{"../charts/minos/operator/*.yaml", "../charts/minos/crds/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is like %s: %v", pattern, err)
		}
		for _, file := range files {
			if found[file], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return found
}

// TestTheChartsDoWithout holds what is installed, and what the operator may do, to what was decided against: Jobs, hooks, releases
// within releases, and an option of the autoscaler.
func TestTheChartsDoWithout(t *testing.T) {
	for file, text := range installed(t) {
		for _, word := range []string{"batch", "jobs", "kind: Job", "helm.sh/", "helm.toolkit.fluxcd.io", "force-delete-unregistered-nodes"} {
			if strings.HasPrefix(filepath.Base(filepath.Dir(file)), "operator") && bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has %q", file, word)
			}
		}
	}
}

// TestEveryContainerIsBounded wants requests and a memory limit on all that is installed.
func TestEveryContainerIsBounded(t *testing.T) {
	type container struct {
		Name      string
		Resources struct{ Requests, Limits map[string]string }
	}
	containers := 0
	for file, text := range installed(t) {
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var object struct {
				Spec struct {
					Template struct {
						Spec struct{ Containers, InitContainers []container }
					}
				}
			}
			if err := yaml.Unmarshal(document, &object); err != nil {
				continue // a definition, whose template is something else
			}
			for _, one := range append(object.Spec.Template.Spec.Containers, object.Spec.Template.Spec.InitContainers...) {
				containers++
				if one.Resources.Requests["memory"] == "" || one.Resources.Requests["cpu"] == "" || one.Resources.Limits["memory"] == "" {
					t.Errorf("%s: container %s has %+v", file, one.Name, one.Resources)
				}
			}
		}
	}
	if containers == 0 {
		t.Error("there is no container at all")
	}
}

// TestNoTestSleeps wants tests to wait for what they need, and not for time.
func TestNoTestSleeps(t *testing.T) {
	tests := 0
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "bin" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		tests++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("time."+"Sleep(")) {
			t.Errorf("%s sleeps", path)
		}
		return err
	})
	if err != nil || tests < 100 {
		t.Errorf("looked at %d tests: %v", tests, err)
	}
}
