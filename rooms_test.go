// SPDX-License-Identifier: Apache-2.0

// The rooms of the project and who may import whom. The table is the rule: when it is in the way, change it in the same
// commit and say why.
package minos_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "minos.dev/minos"

// A room is a folder at the root, with all that is below it.
type room struct {
	may   []string // rooms of ours that it may import, beside itself
	never []string // packages of others: exact for the standard library, by prefix for modules
	asks  string   // the one package of the room that may have clients
}

// io is what a room without I/O cannot import. Of net, netip and url are values and remain.
var io = []string{
	"os", "os/exec", "os/signal", "os/user", "syscall", "io/ioutil", "net", "net/http", "net/http/httptest", "net/rpc",
	"net/smtp", "plugin", "database/sql", "log", "log/slog", "log/syslog",
}

// chance is what makes two runs differ. Of time only the clock does, and a linter watches that.
var chance = []string{"crypto/rand", "math/rand", "math/rand/v2", "hash/maphash"}

// clients talk to somebody.
var clients = []string{
	"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "google.golang.org/grpc", "github.com/siderolabs/talos/pkg/machinery/client",
	"github.com/cosi-project/runtime",
}

// programs are what a room cannot import that reads what nobody has to trust: nothing of it is executed, or asked for
// elsewhere.
var programs = []string{"os/exec", "syscall", "net", "net/http", "net/rpc", "net/smtp", "plugin"}

// pure rooms do no I/O, have no clock, no randomness and no client of their own; a context marks I/O.
var pure = slices.Concat(io, chance, clients, []string{"context"})

var rooms = map[string]room{
	"api":        {may: []string{"charts"}, never: slices.Concat(io, chance, clients)},
	"talos":      {may: []string{"api"}, never: pure},
	"sops":       {never: pure},
	"check":      {may: []string{"api", "talos", "sops"}, never: pure},
	"plan":       {may: []string{"api", "talos"}, never: pure},
	"backend":    {may: []string{"api", "talos", "plan"}, never: []string{"sigs.k8s.io/controller-runtime/pkg/manager"}},
	"controller": {may: []string{"api", "talos", "check", "plan", "backend"}},
	"autoscale":  {may: []string{"api", "talos", "check", "plan"}},
	"gather": { // of what gathers one part asks running clusters, by a client for each of their APIs; the others are about folders
		may: []string{"api", "talos", "sops", "check", "adopt"}, never: slices.Concat([]string{"net", "net/http", "net/rpc", "net/smtp", "plugin"}, clients),
		asks: "gather/live",
	},
	"adopt":   {may: []string{"api", "talos", "sops", "check", "plan", "backend"}, never: slices.Concat(programs, clients)},
	"cli":     {may: []string{"api", "talos", "sops", "check", "plan", "backend", "adopt", "gather"}},
	"web":     {may: []string{"api", "talos", "check", "plan", "backend", "charts"}},
	"trust":   {},
	"charts":  {never: slices.Concat(io, chance, clients)},
	"docs":    {may: []string{"api", "talos", "charts", "controller", "check"}}, // the page of metrics is made from where they are defined, those of rules and roles from rules and roles
	"release": {},                                                               // it has the go command build what is delivered, and leans on none of it
	"sim": {may: []string{
		"api", "talos", "sops", "check", "plan", "backend", "controller", "autoscale", "adopt", "gather", "cli", "web", "trust", "charts",
	}},
	"cmd": {may: []string{
		"api", "talos", "sops", "check", "plan", "backend", "controller", "autoscale", "adopt", "gather", "cli", "web", "trust", "charts", "sim",
	}},
}

func TestRooms(t *testing.T) {
	for _, trespass := range trespasses(imports(t)) {
		t.Error(trespass)
	}
}

// TestRoomsWouldNotice plants a package in the real tree, by an overlay, and expects the rule to see it.
func TestRoomsWouldNotice(t *testing.T) {
	tests := map[string]struct{ folder, imported, want string }{
		"a pure room with files":      {"talos", "os", "talos imports os: this room may not"},
		"a pure room with a network":  {"check", "net/http", "check imports net/http: this room may not"},
		"a pure room with a client":   {"plan", "k8s.io/client-go/rest", "plan imports k8s.io/client-go/rest: this room may not"},
		"a pure room with randomness": {"talos/deep", "math/rand/v2", "talos/deep imports math/rand/v2: this room may not"},
		"a pure room with a context":  {"plan", "context", "plan imports context: this room may not"},
		"the kinds with a manager":    {"api/more", "sigs.k8s.io/controller-runtime/pkg/manager", "api/more imports sigs.k8s.io/controller-runtime/pkg/manager: this room may not"},
		"what reads folders asks":     {"gather", "k8s.io/client-go/rest", "gather imports k8s.io/client-go/rest: this room may not"},
		"what asks listens":           {"gather/live", "net/http", "gather/live imports net/http: this room may not"},
		"against the direction":       {"api/more", module + "/talos", "api/more imports talos: api may import only [charts]"},
		"siblings":                    {"check", module + "/cli", "check imports cli: check may import only [api talos sops]"},
		"the signer leans on us":      {"trust", module + "/api/nearest", "trust imports api/nearest: trust may import only []"},
		"a concrete place":            {"controller/pool", module + "/backend/sim", "controller/pool imports backend/sim: only cmd and sim name a place"},
		"one place leans on another":  {"backend/metal", module + "/backend/sim", "backend/metal imports backend/sim: only cmd and sim name a place"},
		"a package without a room":    {"util", "fmt", "util: there is no such room in the table"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := trespasses(imports(t, planted{test.folder, test.imported}, planted{"backend/sim", "fmt"}))
			if diff := cmp.Diff([]string{test.want}, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// trespasses says in a sentence each what is imported and may not be. It looks at direct imports only: Talos's own
// libraries reach files and networks, and that is theirs to answer for.
func trespasses(imports map[string][]string) []string {
	var found []string
	for importer, imported := range imports {
		name, _, _ := strings.Cut(importer, "/")
		rule, ok := rooms[name]
		if !ok {
			found = append(found, fmt.Sprintf("%s: there is no such room in the table", importer))
			continue
		}
		for _, path := range imported {
			if text := rule.forbids(importer, path); text != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", importer, strings.TrimPrefix(path, module+"/"), text))
			}
		}
	}
	slices.Sort(found)
	return found
}

// forbids says why a package of the room may not import another, or nothing.
func (r room) forbids(importer, path string) string {
	name, _, _ := strings.Cut(importer, "/")
	ours, isOurs := strings.CutPrefix(path, module+"/")
	if !isOurs {
		client := importer == r.asks && slices.ContainsFunc(clients, func(client string) bool { return matches(client, path) })
		if !client && slices.ContainsFunc(r.never, func(never string) bool { return matches(never, path) }) {
			return "this room may not"
		}
		return ""
	}
	target, _, _ := strings.Cut(ours, "/")
	if target == "backend" && isPlace(ours) && name != "cmd" && name != "sim" && !strings.HasPrefix(importer, ours) {
		return "only cmd and sim name a place"
	}
	if target != name && !slices.Contains(r.may, target) {
		return fmt.Sprintf("%s may import only %v", name, r.may)
	}
	return ""
}

// isPlace says whether a package is a concrete place rather than the contract or its suite.
func isPlace(path string) bool {
	return path != "backend" && !strings.HasPrefix(path, "backend/conformance")
}

// matches compares modules by prefix and the standard library exactly: net/netip is pure and net is not.
func matches(never, path string) bool {
	first, _, _ := strings.Cut(never, "/")
	return path == never || strings.Contains(first, ".") && strings.HasPrefix(path, never+"/")
}

// planted is a file that is not there: a folder and what a package in it imports.
type planted struct{ folder, imported string }

// imports asks the go command for every package of the module and its direct imports, tests left out.
func imports(t *testing.T, plant ...planted) map[string][]string {
	t.Helper()
	arguments := []string{"list", "-e", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`}
	if len(plant) > 0 {
		arguments = append(arguments, "-overlay", overlay(t, plant))
	}
	list := exec.Command("go", append(arguments, "./...")...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if path := strings.TrimPrefix(words[0], module+"/"); path != module {
			found[path] = words[1:]
		}
	}
	if len(found) < 5 {
		t.Fatalf("go list found only %d packages", len(found))
	}
	return found
}

// overlay writes the planted files outside of the tree and tells the go command to see them in it.
func overlay(t *testing.T, plant []planted) string {
	t.Helper()
	replace := map[string]string{}
	for i, p := range plant {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("planted%d.go", i))
		name := filepath.Base(p.folder)
		if err := os.WriteFile(file, fmt.Appendf(nil, "package %s\n\nimport _ %q\n", name, p.imported), 0o600); err != nil {
			t.Fatal(err)
		}
		here, err := filepath.Abs(filepath.Join(p.folder, "planted.go"))
		if err != nil {
			t.Fatal(err)
		}
		replace[here] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEveryRoomSaysWhatItIsFor holds every room to a first sentence.
func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}}	{{.Doc}}	{{len .GoFiles}}`, "./...")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) == 3 && columns[1] == "" && columns[2] != "0" {
			t.Errorf("%s has no package comment", columns[0])
		}
	}
}
