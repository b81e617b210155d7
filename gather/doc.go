// SPDX-License-Identifier: Apache-2.0

// Package gather collects what the checks judge by: the files of a folder, what Git tracks and ignores, and the secrets in its
// history. With the package below it, which asks running clusters, it is the only part of the checks that does I/O.
//
// It works on repositories that nobody has to trust: it reads nothing outside of the folder, follows no link out of it, and asks Git
// in a way in which nothing that a repository holds or configures is executed, and nothing is fetched. It writes nothing, and keeps
// no memory between two runs: whatever a repository could leave behind for the next run would have to be trusted then.
package gather
