// SPDX-License-Identifier: Apache-2.0

package box

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Program is the name that usage, errors and the ready lines are written under.
const Program = "minos-kube"

// A Call is one use of a command: its arguments, without the command's name, and where it reads and writes.
type Call struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// A Command is one of the programs in the box.
type Command struct {
	Name  string
	About string // a line for the list of commands
	// Run does the work and answers the exit code. A command from upstream may also end the process itself.
	Run func(Call) int
}

// Main runs the command that argv asks for, on the process's own streams.
func Main(argv []string, commands []Command) int {
	return run(argv, commands, Call{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: ownStderr()})
}

// ownStderr is standard error as nobody else has it: a command may divert os.Stderr, to which libraries write.
func ownStderr() io.Writer {
	descriptor, err := syscall.Dup(syscall.Stderr)
	if err != nil {
		return os.Stderr
	}
	syscall.CloseOnExec(descriptor)
	return os.NewFile(uintptr(descriptor), os.Stderr.Name())
}

// Fail reports an error as one line and answers the exit code for it.
func Fail(call Call, err error) int {
	_, _ = fmt.Fprintf(call.Stderr, "%s: %v\n", Program, err)
	return 1
}

func run(argv []string, commands []Command, call Call) int {
	name, args := split(argv, commands)
	switch name {
	case "", "-h", "--help":
		usage(call.Stdout, commands)
		return 0
	case "--version":
		name = "version"
	case "help":
		if len(args) == 0 {
			usage(call.Stdout, commands)
			return 0
		}
		name, args = args[0], []string{"--help"}
	}
	command, found := lookup(commands, name)
	if !found {
		return Fail(call, unknown(name, commands))
	}
	call.Args = args
	return command.Run(call)
}

// split gives the command's name and its arguments. A link named after a command is that command; under any other
// name the first argument says which one.
func split(argv []string, commands []Command) (string, []string) {
	if len(argv) == 0 {
		return "", nil
	}
	if called := filepath.Base(argv[0]); known(commands, called) {
		return called, argv[1:]
	}
	if len(argv) == 1 {
		return "", nil
	}
	return argv[1], argv[2:]
}

func lookup(commands []Command, name string) (Command, bool) {
	at := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name })
	if at < 0 {
		return Command{}, false
	}
	return commands[at], true
}

func known(commands []Command, name string) bool {
	_, found := lookup(commands, name)
	return found
}

func usage(out io.Writer, commands []Command) {
	_, _ = fmt.Fprintf(out, "%s is a Kubernetes control plane in one program.\n\n", Program)
	_, _ = fmt.Fprintf(out, "Usage: %s COMMAND [flags]\n\nCommands:\n", Program)
	for _, c := range commands {
		_, _ = fmt.Fprintf(out, "  %-24s %s\n", c.Name, c.About)
	}
	_, _ = fmt.Fprintf(out, "  %-24s %s\n", "help [COMMAND]", "this list, or a command's flags")
	_, _ = fmt.Fprintf(out, "\nA link to %s named after a command runs that command.\n", Program)
}

func unknown(name string, commands []Command) error {
	if hint := nearest(name, commands); hint != "" {
		return fmt.Errorf("no command %q; did you mean %q? (%s help lists them)", name, hint, Program)
	}
	return fmt.Errorf("no command %q (%s help lists them)", name, Program)
}
