// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// billSuffix is how a bill of materials is called, as tools expect it of CycloneDX.
const billSuffix = ".cdx.json"

// A bill is a bill of materials in the form of CycloneDX 1.5, as far as it is used. It has neither a serial number nor a time,
// which the form leaves free: the same program has the same bill.
type bill struct {
	Format     string      `json:"bomFormat"`
	Form       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

// metadata says what the bill is of.
type metadata struct {
	Component component `json:"component"`
}

// A component is a program, or what is in it.
type component struct {
	Type       string     `json:"type"`
	Reference  string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []choice   `json:"licenses,omitempty"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

// A hash is the sum of a file.
type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// A choice is a licence, by its identifier of SPDX.
type choice struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

// A property is what the form has no field for.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf makes the bill of a built program, from what Go wrote into it. Licences are by module.
func billOf(binary, version string, licences map[string][]string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum, err := sumOf(binary)
	if err != nil {
		return nil, err
	}
	program := part("application", info.Main.Path, version)
	program.Name = filepath.Base(binary)
	program.Reference, program.URL = program.URL+"#cmd/"+program.Name, program.URL+"#cmd/"+program.Name
	program.Hashes = []hash{{"SHA-256", sum}}
	program.Licences = licensed(licences[info.Main.Path]...)
	program.Properties = settings(info)
	text, err := json.MarshalIndent(bill{
		Format: "CycloneDX", Form: "1.5", Version: 1,
		Metadata:   metadata{program},
		Components: parts(info, licences),
	}, "", "  ")
	return append(text, '\n'), err
}

// parts are the modules of a program, and the standard library, which is a part like others where faults are looked up.
func parts(info *debug.BuildInfo, licences map[string][]string) []component {
	library := part("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	library.Licences = licensed("BSD-3-Clause")
	found := []component{library}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		one := part("library", module.Path, module.Version)
		one.Licences = licensed(licences[module.Path]...)
		if module.Sum != "" {
			one.Properties = []property{{"go:sum", module.Sum}}
		}
		found = append(found, one)
	}
	slices.SortFunc(found, func(a, b component) int { return cmp.Compare(a.Reference, b.Reference) })
	return found
}

// part is a component with its address. Letters keep their case, as modules of Go do, and as other tools write it.
func part(kind, path, version string) component {
	address := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Reference: address, Name: path, Version: version, URL: address}
}

// licensed are the licences of a part, as far as they are known.
func licensed(ids ...string) (found []choice) {
	for _, id := range ids {
		one := choice{}
		one.Licence.ID = id
		found = append(found, one)
	}
	return found
}

// settings are those of the build, which whoever builds it again needs.
func settings(info *debug.BuildInfo) (found []property) {
	for _, one := range info.Settings {
		found = append(found, property{"go:build:" + one.Key, one.Value})
	}
	return found
}
