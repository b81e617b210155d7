// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/trust"
)

// prefix is how every variable begins.
const prefix = "MINOS_SIGNER_"

// A task is what the program was asked to do.
type task struct {
	verb     string
	config   trust.Config
	warnings []string
}

// errHelp asks for the help.
var errHelp = errors.New("help")

// verbs are what can be asked for; the first one is meant if there is none.
var verbs = []string{"serve", "check", "version", "help"}

// Parse reads arguments and environment as the program does, for one who runs the signer where there is no process of its
// own. exists looks whether there is a file at a path as the signer would see it.
func Parse(args, environ []string, exists func(string) bool) (trust.Config, error) {
	t, err := parse(args, environ, exists)
	if err == nil && t.verb != verbs[0] {
		err = fmt.Errorf("%q does not serve", t.verb)
	}
	return t.config, err
}

// parse reads arguments and environment. exists looks whether there is a file, for the one default that depends on it.
func parse(args, environ []string, exists func(string) bool) (task, error) {
	t := task{verb: verbs[0], config: trust.Default()}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		t.verb, args = args[0], args[1:]
	}
	if !slices.Contains(verbs, t.verb) {
		return t, fmt.Errorf("there is no command %q: use one of %s", t.verb, strings.Join(verbs, ", "))
	}
	if t.verb == "help" {
		return t, errHelp
	}
	flags, err := parseFlags(args)
	if err != nil {
		return t, err
	}
	variables := parseEnvironment(environ)
	if err := t.legacy(flags, variables, exists); err != nil {
		return t, err
	}
	return t, t.apply(flags, variables)
}

// parseFlags reads flags into their texts. A list that is given twice is one list.
func parseFlags(args []string) (map[string]string, error) {
	set := flag.NewFlagSet("minos-signer", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	found := map[string]string{}
	for _, group := range groups() {
		for _, option := range group.options {
			take := func(text string) error {
				if before, twice := found[option.name]; twice && option.value == "LIST" {
					text = before + "," + text
				}
				found[option.name] = text
				return nil
			}
			if option.name == requireSource {
				set.BoolFunc(option.name, "", take)
			} else {
				set.Func(option.name, "", take)
			}
		}
	}
	for _, name := range legacyFlags {
		set.Func(name, "", func(text string) error { found[name] = text; return nil })
	}
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, errHelp
	case err != nil:
		words := strings.NewReplacer("flag provided but not defined: -", "there is no flag --", "flag needs an argument: -", "there is no value for --").Replace(err.Error())
		return nil, fmt.Errorf("%s: see 'minos-signer --help'", words)
	case set.NArg() > 0:
		return nil, fmt.Errorf("%q is one argument too many: see 'minos-signer --help'", set.Arg(0))
	}
	return found, nil
}

// parseEnvironment reads variables. An empty one is none.
func parseEnvironment(environ []string) map[string]string {
	found := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && value != "" {
			found[name] = value
		}
	}
	return found
}

// variableOf is the variable of a flag.
func variableOf(name string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// apply sets the options. A flag wins over a variable.
func (t *task) apply(flags, variables map[string]string) error {
	known := map[string]bool{}
	given := map[string]bool{}
	for _, group := range groups() {
		for _, option := range group.options {
			variable := variableOf(option.name)
			known[variable] = true
			text, from := flags[option.name], "--"+option.name
			if _, ok := flags[option.name]; !ok {
				if text, ok = variables[variable]; !ok {
					continue
				}
				from = variable
			}
			if text == "" {
				return fmt.Errorf("%s is empty", from)
			}
			if err := option.set(&t.config, text); err != nil {
				return fmt.Errorf("%s %q: %w", from, text, err)
			}
			given[option.name] = true
		}
	}
	t.warnOfUnknown(variables, known)
	return t.consistent(given)
}

// consistent checks what depends on several options.
func (t *task) consistent(given map[string]bool) error {
	if given["serving-names"] && (given["tls-cert"] || given["tls-key"]) {
		return errors.New("--serving-names and --tls-cert exclude each other: let the signer make its certificate, or give it one")
	}
	if room := t.config.Room; room.PerSource > room.Connections || room.Handshakes > room.Connections {
		return fmt.Errorf("--max-connections %d is less than --max-connections-per-source %d or --max-handshakes %d", room.Connections, room.PerSource, room.Handshakes)
	}
	return nil
}

// linked is what Kubernetes puts into the environment of every Pod beside a Service whose name begins as ours.
var linked = regexp.MustCompile(`^MINOS_SIGNER(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// warnOfUnknown finds variables that mean nothing. That is no error: what else a system puts there must not stop a signer
// that worked yesterday.
func (t *task) warnOfUnknown(variables map[string]string, known map[string]bool) {
	var unknown []string
	for name := range variables {
		if strings.HasPrefix(name, prefix) && !known[name] && !linked.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		t.warnings = append(t.warnings, name+" means nothing: see 'minos-signer --help'")
	}
}
