// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A repository is a Git repository with files.
type repository struct {
	git     string // the program
	dir     string // where its files lie
	inside  string // the path of the folder that is looked at within the repository, with a slash at its end; empty if it is all of it
	prefix  string // what stands before its paths in what is told: the path of a submodule, with a slash at its end
	shallow bool
}

// errNoGit says that there is no Git to ask.
var errNoGit = errors.New("the program git is not installed, or not in the PATH: what is tracked, and the history, cannot be known")

// harmless are settings under which Git executes nothing that a repository names: they win over the repository's own.
var harmless = []string{
	"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false", "-c", "core.pager=cat", "-c", "core.quotePath=true",
	"-c", "core.alternateRefsCommand=", "-c", "core.sshCommand=false", "-c", "core.gitProxy=false", "-c", "core.askPass=false", "-c", "core.editor=false",
	"-c", "credential.helper=", "-c", "gpg.program=false", "-c", "log.showSignature=false", "-c", "diff.external=", "-c", "protocol.allow=never",
	"-c", "safe.bareRepository=explicit", "-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "maintenance.auto=false", "-c", "gc.auto=0",
}

// surroundings are the variables with which Git runs: those of the user, without what leads Git elsewhere, and nothing that may
// reach out or ask.
func surroundings() []string {
	kept := []string{"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C"}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		// Settings of the user and the system remain: they are where somebody says which repositories of others are safe.
		if strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_CONFIG_") || name == "LC_ALL" {
			continue
		}
		kept = append(kept, variable)
	}
	return kept
}

// command prepares a command of Git.
func (r *repository) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, r.git, append(append([]string{}, harmless...), arguments...)...)
	command.Dir = r.dir
	command.Env = surroundings()
	return command
}

// run returns what a command of Git prints.
func (r *repository) run(ctx context.Context, arguments ...string) ([]byte, error) {
	command := r.command(ctx, arguments...)
	out, err := command.Output()
	if err != nil {
		return nil, inWords(ctx, err)
	}
	return out, nil
}

// inWords is an error of Git with what Git said.
func inWords(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		text, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		return errors.New("git: " + strings.TrimPrefix(text, "fatal: "))
	}
	return fmt.Errorf("git: %w", err)
}

// errNoRepository says that a folder is in no repository.
var errNoRepository = errors.New("the folder is not in a Git repository")

// open finds the repository that a folder is in. That there is none, or that Git does not trust it, is an error in words.
func open(ctx context.Context, dir string) (*repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, errNoGit
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	found := &repository{git: program, dir: dir}
	out, err := found.run(ctx, "rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix")
	if err != nil {
		return nil, refusal(ctx, err, dir)
	}
	lines := strings.Split(string(bytes.TrimRight(out, "\n")), "\n")
	if len(lines) < 2 || lines[0] != "true" {
		return nil, errNoRepository
	}
	found.shallow = lines[1] == "true"
	if len(lines) > 2 {
		found.inside = lines[2]
	}
	return found, nil
}

// refusal is what Git says of a folder that it does not take for a repository, in words that help.
func refusal(ctx context.Context, err error, dir string) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(err.Error(), "dubious ownership"):
		return fmt.Errorf("git does not trust this repository, because it belongs to somebody else: if you trust it, run: git config --global --add safe.directory %s", dir)
	case strings.Contains(err.Error(), "not a git repository"):
		return errNoRepository
	}
	return err
}

// place is the path of a file of the repository as it is told; false if it is outside of the folder that is looked at.
func (r *repository) place(path string) (string, bool) {
	below, ok := strings.CutPrefix(path, r.inside)
	return r.prefix + below, ok
}
