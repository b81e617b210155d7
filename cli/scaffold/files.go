// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/declarations"
)

// A File is one file of a folder.
type File struct {
	// Name is its path below the folder, with slashes.
	Name string
	Text []byte
	// Run says that it is a program.
	Run bool
}

//go:embed template
var templates embed.FS

// A page is a template and the file that it becomes.
type page struct {
	template, file string
	run            bool
	when           func(*view) bool // nil is always
}

var pages = []page{
	{template: "cluster.yaml", file: "cluster.yaml"},
	{template: "pools.yaml", file: "pools.yaml"},
	{template: "roles.yaml", file: "roles.yaml", when: func(v *view) bool { return len(v.Roles) > 0 }},
	{template: "README.md", file: "README.md"},
	{template: "gitignore", file: ".gitignore"},
	{template: "pre-commit", file: ".githooks/pre-commit", run: true},
	{template: "pre-commit-config.yaml", file: ".pre-commit-config.yaml"},
	{template: "workflow.yaml", file: ".github/workflows/minos.yaml"},
}

// A view is what templates see: the answers, and what follows from them.
type view struct {
	*Answers
	Environment api.Environment
	Provider    api.CNIProvider
	Pools       []pool
	Roles       []*role
	Decisions   []api.Decision
	Todo        []string
	Bundle      string
	Minos       string
}

// A pool is a NodePool to be written.
type pool struct {
	Name, Role, About string
	Hosts             []Host
	Volume            string
	Plane, OwnDisk    bool
}

// Files returns the files of a folder, but for its secrets. They have been read again by the rules that 'minos check'
// knows, and nothing in them is wrong.
func Files(a Answers) ([]File, error) {
	v, err := newView(&a)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("").Delims("[[", "]]").Option("missingkey=error").
		Funcs(template.FuncMap{"scalar": scalar, "sorted": sorted}).ParseFS(templates, "template/*")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, page := range pages {
		if page.when != nil && !page.when(v) {
			continue
		}
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, page.template, v); err != nil {
			return nil, err
		}
		files = append(files, File{Name: page.file, Text: text.Bytes(), Run: page.run})
	}
	return files, verify(files)
}

// newView computes what templates see.
func newView(a *Answers) (*view, error) {
	v := &view{
		Answers: a, Environment: a.preset().environment, Provider: cniProviders[a.CNI], Decisions: a.decisions(),
		Todo: a.Todo(), Bundle: a.BundleFile(), Minos: a.facts.Minos,
	}
	if !a.hosted() {
		made, err := a.planeRole()
		if err != nil {
			return nil, err
		}
		planes := pool{Name: a.Name + "-plane", About: "The machines that run the control plane.", Hosts: a.planes(), Plane: true}
		v.add(planes, made, a.storesOnPlanes())
	}
	if a.hosted() || len(a.workers()) > 0 {
		made, err := a.workerRole()
		if err != nil {
			return nil, err
		}
		v.add(pool{Name: a.Name + "-workers", About: "The machines that take the workloads.", Hosts: a.workers()}, made, true)
	}
	return v, nil
}

// add adds a pool with its role, and with the volume of the storage if it keeps data.
func (v *view) add(p pool, r *role, stores bool) {
	p.Role = r.use()
	if r.adds() {
		v.Roles = append(v.Roles, r)
	}
	if stores {
		p.Volume = storages[v.Storage].volume
	}
	// In production data has a disk of its own, so that it survives the reinstallation of the system.
	p.OwnDisk = v.production() && !v.hosted() && !storages[v.Storage].disks
	v.Pools = append(v.Pools, p)
}

// Hosted says whether the cluster is one of a management cluster.
func (v *view) Hosted() bool { return v.hosted() }

// Guessed says whether nobody gave an answer that must be true of the place.
func (v *view) Guessed(question string) bool { return v.guessed[question] }

// Made says whether a role is one of roles.yaml.
func (v *view) Made(name string) bool {
	return slices.ContainsFunc(v.Roles, func(r *role) bool { return r.Name == name })
}

// BundleFile is the name of the file with the cluster's secrets; empty if the operator keeps them.
func (a *Answers) BundleFile() string {
	if a.hosted() {
		return ""
	}
	return a.Name + ".secrets.sops.yaml"
}

// reader is made once: it compiles the rules of every kind.
var reader = sync.OnceValues(load.NewReader)

// verify reads files as 'minos check' does. That something is wrong in them is a conflict between answers that no
// question knew of, such as a host inside the network of pods.
func verify(files []File) error {
	reader, err := reader()
	if err != nil {
		return err
	}
	var documents []*load.Document
	var problems []load.Problem
	for _, file := range files {
		if strings.HasPrefix(file.Name, ".") || !strings.HasSuffix(file.Name, ".yaml") {
			continue
		}
		found, wrong := reader.Read(file.Name, file.Text)
		documents, problems = append(documents, found...), append(problems, wrong...)
	}
	for _, rules := range []func([]*load.Document) ([]load.Problem, error){declarations.References, declarations.Trials} {
		if len(problems) == 0 { // or it would say the same once more
			problems, err = rules(documents)
		}
		if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("these answers do not fit together: %s", problems[0])
	}
	return nil
}

// scalar writes a text as YAML would: as it is where it can be, in quotes where it must.
func scalar(value any) (string, error) {
	text, err := yaml.Marshal(fmt.Sprint(value))
	return strings.TrimSuffix(string(text), "\n"), err
}

// sorted are the keys of a map in their order.
func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
