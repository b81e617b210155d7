// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Patch returns a patch, as git applies it, for the script with which Cozystack generates the profiles of its Talos
// images, gen-profiles.sh. Upstream, a set of extensions is written into the script twice, so that every role wants a
// patch of its own. With this one patch a role is variables:
//
//   - TALOS_EXTENSIONS, the extensions, with blanks between them; set and empty is none;
//   - TALOS_ARCH, the architecture;
//   - TALOS_ROLE_SUFFIX, what is appended to the folder of the profiles;
//   - TALOS_BASE_INSTALLER, the installer that is built upon: from Talos 1.14 on it must be ghcr.io/siderolabs/installer-base.
//
// Without them the script writes what it wrote before, byte by byte. The text is that of the script and name its path
// from the top of the checkout. A script that does not have the expected places is refused.
func Patch(name, text string) (string, error) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	if strings.Contains(text, "TALOS_EXTENSIONS") {
		return "", errors.New("the script takes TALOS_EXTENSIONS already: it is patched")
	}
	s := &script{lines: strings.SplitAfter(text, "\n")}
	for _, edit := range edits {
		if err := edit(s); err != nil {
			return "", fmt.Errorf("this is not Cozystack's gen-profiles.sh, or one of another release: %w", err)
		}
	}
	from, to := "a/"+name, "b/"+name
	lines := strings.SplitAfterN(string(diff.Diff(from, []byte(text), to, []byte(strings.Join(s.lines, "")))), "\n", 2)
	return "diff --git " + from + " " + to + "\n" + lines[len(lines)-1], nil
}

// A script is a shell script that is being edited.
type script struct {
	lines      []string // each with its end
	extensions []string // those that the script names
	item       string   // how the template writes the reference of an extension, up to the reference
}

// edits is what the patch does, in order.
var edits = []func(*script) error{takeVariables, suffixFolder, takeArchitecture, takeInstaller, listInTemplate, collectInLoop}

// takeVariables lets the extensions come from outside, and the rest with them.
func takeVariables(s *script) error {
	at := s.find(func(line string) bool { return strings.HasPrefix(line, `EXTENSIONS="`) })
	if at < 0 {
		return errors.New(`no line EXTENSIONS="…"`)
	}
	value, rest, closed := strings.Cut(strings.TrimPrefix(s.lines[at], `EXTENSIONS="`), `"`)
	if !closed || strings.TrimSpace(rest) != "" || strings.ContainsAny(value, "$`") || len(strings.Fields(value)) == 0 {
		return errors.New(`the line EXTENSIONS="…" is not a list of names`)
	}
	if s.find(func(line string) bool { return strings.HasPrefix(line, "ARCH=") }) >= 0 {
		return errors.New("the script has a variable ARCH of its own")
	}
	s.extensions = strings.Fields(value)
	s.replace(at,
		// Without a colon: set and empty is a role without extensions, and not the default.
		`EXTENSIONS="${TALOS_EXTENSIONS-`+value+`}"`,
		`ARCH="${TALOS_ARCH:-amd64}"`,
		`ROLE_SUFFIX="${TALOS_ROLE_SUFFIX:-}"`)
	return nil
}

// profiles is the folder of the profiles.
const profiles = "images/talos/profiles"

// suffixFolder gives every role a folder of its own.
func suffixFolder(s *script) error {
	return s.substitute(profiles, profiles+"${ROLE_SUFFIX}")
}

// takeArchitecture replaces the architecture where the template names it.
func takeArchitecture(s *script) error {
	return errors.Join(
		s.substitute("arch: amd64\n", "arch: ${ARCH}\n"),
		s.substitute("/usr/install/amd64/", "/usr/install/${ARCH}/"),
	)
}

// baseInstaller is what upstream builds its installer upon.
const baseInstaller = "ghcr.io/siderolabs/installer"

// takeInstaller lets the installer come from outside, in a script that names this one: a later one may not.
func takeInstaller(s *script) error {
	if s.substitute(baseInstaller+":", "${BASE_INSTALLER}:") == nil {
		after := s.find(func(line string) bool { return strings.HasPrefix(line, "ROLE_SUFFIX=") })
		s.lines = slices.Insert(s.lines, after+1, `BASE_INSTALLER="${TALOS_BASE_INSTALLER:-`+baseInstaller+`}"`+"\n")
	}
	return nil
}

// listInTemplate replaces the lines of the template that name an extension each by a list. Firmware stays as it is: the
// template has it in another order than the script's list of it.
func listInTemplate(s *script) error {
	var at []int
	for _, name := range s.extensions {
		variable := "${" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_IMAGE}"
		found := s.find(func(line string) bool {
			before, ok := strings.CutSuffix(line, variable+"\n")
			return ok && strings.TrimSpace(before) == "- imageRef:"
		})
		if found < 0 {
			return fmt.Errorf("no line '- imageRef: %s' in the template", variable)
		}
		if len(at) > 0 && found != at[len(at)-1]+1 {
			return errors.New("the template has the extensions in another order than the list, so that its output would change")
		}
		s.item = strings.TrimSuffix(s.lines[found], variable+"\n")
		at = append(at, found)
	}
	s.lines = slices.Delete(s.lines, at[0]+1, at[len(at)-1]+1)
	s.replace(at[0], "${extension_refs}")
	return nil
}

// collectInLoop makes the list in the loop that looks the extensions up.
func collectInLoop(s *script) error {
	start := s.find(func(line string) bool { return line == "for extension in $EXTENSIONS; do\n" })
	if start < 0 {
		return errors.New("no loop 'for extension in $EXTENSIONS; do'")
	}
	length := slices.Index(s.lines[start:], "done\n")
	if length < 0 || !slices.ContainsFunc(s.lines[start:start+length], func(line string) bool { return strings.HasPrefix(line, "  image=") }) {
		return errors.New("the loop over the extensions does not set image")
	}
	collect := []string{`  extension_refs="${extension_refs:+$extension_refs` + "\n", "}" + s.item + `$image"` + "\n"}
	if s.find(func(line string) bool { return strings.HasPrefix(line, "FIRMWARES=") }) >= 0 {
		// The template has every firmware already, and twice the same extension is none that the imager takes.
		collect = append([]string{`  case " $FIRMWARES " in *" $extension "*) continue ;; esac` + "\n"}, collect...)
	}
	s.lines = slices.Insert(s.lines, start+length, collect...)
	s.lines = slices.Insert(s.lines, start, "extension_refs=\n")
	return nil
}

// find returns where the first line is that passes, or -1.
func (s *script) find(passes func(string) bool) int { return slices.IndexFunc(s.lines, passes) }

// replace puts lines in the place of one.
func (s *script) replace(at int, lines ...string) {
	for i := range lines {
		lines[i] += "\n"
	}
	s.lines = slices.Replace(s.lines, at, at+1, lines...)
}

// substitute replaces a text wherever it stands, and wants it to stand somewhere.
func (s *script) substitute(old, with string) error {
	found := false
	for i, line := range s.lines {
		if strings.Contains(line, old) {
			s.lines[i] = strings.ReplaceAll(line, old, with)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no %q in it", strings.TrimSpace(old))
	}
	return nil
}
