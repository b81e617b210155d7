// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What 'make demo' runs, as far as the demo can tell: a compiler that fetches, compiles two packages and ends when it is let, and a
// minos that notes what it is asked for.
const (
	stubGo   = "#!/bin/sh\nfor package in 1 2 3 4 5 6 7; do echo $package; done\n"
	stubMake = `#!/bin/sh
[ "$2" = build ] || { echo "made $2"; exit; }
echo $$ >compiler
printf '%s\n' 'go build -v -o bin/' 'go: downloading example.com/a v1.0.0' 'go: downloading example.com/b v1.0.0' example.com/a example.com/b
until [ -e let-go ] || [ ! -e tools ]; do sleep 0.1; done
exit "$(cat let-go)"
`
	stubMinos = `#!/bin/sh
echo "$*" >>asked
case $1 in
init) for folder; do :; done; mkdir "$folder"; echo 'workloads: Allowed' >"$folder/cluster.yaml" ;;
diff) exit 2 ;;
esac
`
)

// A demo is one that runs, in a folder with nothing of ours but its script.
type demo struct {
	folder   string
	shell    *exec.Cmd
	lines    *bufio.Scanner
	compiler int // its process
}

// startDemo starts one, and returns when the compiler runs, and it has said how far that is.
func startDemo(t *testing.T) *demo {
	t.Helper()
	script, err := os.ReadFile("demo")
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{folder: t.TempDir()}
	for name, text := range map[string]string{"sim/demo": string(script), "tools/go": stubGo, "tools/make": stubMake, "bin/minos": stubMinos} {
		file := filepath.Join(d.folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(text), 0o700)); err != nil { //nolint:gosec // they are programs
			t.Fatal(err)
		}
	}
	said := filepath.Join(d.folder, "compiler") // a pipe: whoever reads it waits for what is said
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	d.shell = exec.CommandContext(ctx, filepath.Join(d.folder, "sim", "demo"))
	d.shell.Env = append(os.Environ(), "PATH="+filepath.Join(d.folder, "tools")+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
	out, err := d.shell.StdoutPipe()
	if err == nil {
		err = d.shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.lines = bufio.NewScanner(out)
	if d.until("packages compiled") == "" {
		t.Fatal("it did not say how far it is")
	}
	text, err := os.ReadFile(said)
	if err == nil {
		d.compiler, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// until is the next line that has some words in it; nothing if there is none.
func (d *demo) until(words string) string {
	for d.lines.Scan() {
		if strings.Contains(d.lines.Text(), words) {
			return d.lines.Text()
		}
	}
	return ""
}

// letGo has the compiler end with a code.
func (d *demo) letGo(t *testing.T, code string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(filepath.Join(d.folder, "later"), []byte(code), 0o600),
		os.Rename(filepath.Join(d.folder, "later"), filepath.Join(d.folder, "let-go"))); err != nil {
		t.Fatal(err)
	}
}

// asked is what minos was asked for.
func (d *demo) asked() string {
	text, _ := os.ReadFile(filepath.Join(d.folder, "asked")) // it was asked for nothing then
	return string(text)
}

func TestDemo(t *testing.T) {
	d := startDemo(t)
	d.letGo(t, "0")
	if got := d.until("compiled"); !strings.HasPrefix(got, "  2 of at most 7 packages compiled, 0m") {
		t.Errorf("at the end of the build it says %q", got)
	}
	if d.until("made kube") == "" {
		t.Error("the control plane was not built")
	}
	d.until("nothing more")
	if err := d.shell.Wait(); err != nil {
		t.Fatal(err)
	}
	last := regexp.MustCompile(`(?m)^dev --once --before build=\d+s --before tour of a folder=\d+s\n\z`)
	if asked := d.asked(); !strings.HasPrefix(asked, "init ") || !last.MatchString(asked) {
		t.Errorf("minos was asked for\n%s", asked)
	}
}

func TestDemoThatDoesNotCompile(t *testing.T) {
	d := startDemo(t)
	d.letGo(t, "2")
	if d.until("example.com/b") == "" {
		t.Error("what the compiler said is not told")
	}
	d.until("nothing more")
	if exit, ok := errors.AsType[*exec.ExitError](d.shell.Wait()); !ok || exit.ExitCode() != 1 || d.asked() != "" {
		t.Errorf("it ended with %v, and minos was asked for %q", exit, d.asked())
	}
}

func TestDemoThatIsInterrupted(t *testing.T) {
	d := startDemo(t)
	if err := d.shell.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.until("nothing more")
	if exit, ok := errors.AsType[*exec.ExitError](d.shell.Wait()); !ok || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v", exit)
	}
	if err := syscall.Kill(d.compiler, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the compiler is left: %v", err)
	}
}
