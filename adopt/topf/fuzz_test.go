// SPDX-License-Identifier: Apache-2.0

package topf_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/topf"
)

// FuzzTopf reads any text as topf.yaml and any other as a template for all machines. Nothing may panic or hang; an error is
// one line.
func FuzzTopf(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no stories: %v", err)
	}
	secrets, err := adopttest.Bundle()
	if err != nil {
		f.Fatal(err)
	}
	folder := fstest.MapFS{"secrets.yaml": {Data: secrets}}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		config := ""
		for _, file := range archive.Files {
			switch {
			case file.Name == "topf.yaml":
				config = string(file.Data)
			case strings.HasSuffix(file.Name, ".tpl"):
				f.Add(config, string(file.Data))
			case !strings.HasPrefix(file.Name, "want/"):
				folder[file.Name] = &fstest.MapFile{Data: file.Data}
			}
		}
		f.Add(config, "{{ range $i, $e := .Data }}{{ $i }}{{ end }}")
	}
	f.Fuzz(func(t *testing.T, config, patch string) {
		if strings.Count(config, "host") > 4 {
			return // more machines find nothing more, and take long
		}
		one := fstest.MapFS{"topf.yaml": {Data: []byte(config)}, "all/99-fuzz.yaml.tpl": {Data: []byte(patch)}}
		for name, file := range folder {
			if _, given := one[name]; !given {
				one[name] = file
			}
		}
		source, _, err := topf.Read(&adopt.Folder{FS: one}, adopt.Given{})
		if err == nil {
			_, err = adopt.Convert(source, adopt.Options{})
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	})
}
