// SPDX-License-Identifier: Apache-2.0

package talhelper_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/adopttest"
	"minos.dev/minos/adopt/talhelper"
)

// FuzzTalhelper reads any text as talconfig.yaml, beside the files of the stories. Nothing may panic or hang; an error is one
// line; and what can be read can be converted or is refused with a line, too.
func FuzzTalhelper(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no stories: %v", err)
	}
	secrets, err := adopttest.Bundle()
	if err != nil {
		f.Fatal(err)
	}
	folder := fstest.MapFS{"talsecret.yaml": {Data: secrets}}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			switch {
			case strings.HasPrefix(file.Name, "talconfig."):
				f.Add(string(file.Data), "A: b\n")
			case !strings.HasPrefix(file.Name, "want/"):
				folder[file.Name] = &fstest.MapFile{Data: file.Data}
			}
		}
	}
	f.Add("clusterName: ${A:-${B}}\n", "A: \"b")
	f.Add("nodes: [{networkInterfaces: [{vlans: [{vlanId: -1}], routes: [null]}]}]", "")
	f.Fuzz(func(t *testing.T, config, env string) {
		if strings.Count(config, "hostname") > 3 {
			return // more machines find nothing more, and take long
		}
		one := fstest.MapFS{"talconfig.yaml": {Data: []byte(config)}, "talenv.yaml": {Data: []byte(env)}}
		for name, file := range folder {
			if _, given := one[name]; !given {
				one[name] = file
			}
		}
		source, _, err := talhelper.Read(&adopt.Folder{FS: one}, adopt.Given{})
		if err == nil {
			_, err = adopt.Convert(source, adopt.Options{})
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
	})
}
