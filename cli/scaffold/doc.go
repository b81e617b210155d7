// SPDX-License-Identifier: Apache-2.0

// Package scaffold turns the ten decisions about a cluster into the files of a new folder. It asks nobody and writes
// nothing: questions, answers and files are values, and the command line does the talking and the writing.
//
// What it makes is held to the same rules as any other folder before anybody sees it.
package scaffold
