// SPDX-License-Identifier: Apache-2.0

// Package cli holds the command constructors of minos: they print, and never decide.
//
// Data goes to stdout, words to stderr. An error is one line, "minos: what: why", and where the user can act a
// second line that starts with "hint:". The exit code is 0 when the thing is done or nothing had to change, 1 on
// an error, 2 when changes are pending and 3 when checks failed.
//
// A command is a constructor that returns a *cobra.Command with Use, Short, Example, GroupID and RunE, and a line
// in [New]. The frame does the rest, once for all of them:
//
//   - The usage line is the rule for arguments: "doctor NAME", "check [DIR]" and "apply FILE..." are counted as they
//     read, and Args stays empty unless a value has to be looked at too.
//   - Every flag is also a variable: --dry-run is MINOS_DRY_RUN. A flag wins over its variable, a variable over the
//     default, and an empty variable is an unset one.
//   - A command that has commands of its own does not run; alone it prints its help.
//   - Unknown commands and flags name the nearest that exists.
//
// A command about a management cluster takes its access as kubectl does, by accessFlags; what the API server refuses is
// explained in one line with what helps, what is changed can be tried with --dry-run and waited for with --wait, and an
// end by Ctrl-C leaves in place what was asked for.
//
// A command that needs a room which this one may not import is a constructor in that room; cmd/minos adds it to what
// New returned, and the audit in cmd/minos looks at the whole tree.
package cli
