// SPDX-License-Identifier: Apache-2.0

// Package secret finds secrets that stand readable in text: keys and tokens of Talos and Kubernetes, and what stands beside them in
// the repositories of people who run both. It is pure: text in, leaks out.
//
// It reads line by line and knows at every line which keys lead to it, by indentation and braces, so that it can say which key of
// which authority it saw. It needs no valid YAML: templates, notes and half a file are read alike. It takes time in proportion to
// the text, whatever the text is.
//
// What is no leak: what SOPS encrypted (ENC[…]), sealed secrets, certificates and public keys, keys under a passphrase, placeholders
// such as ${TOKEN}, <token>, REDACTED or changeme, and the values by which Minos rehearses machines.
//
// A value that only looks like a secret, such as a test vector, is marked by a comment with a reason, at the end of its line or on
// the line before:
//
//	token: abc123.0123456789abcdef # minos:not-secret: the one of the Kubernetes documentation
//
// Before a fenced block of Markdown, such a comment (<!-- … -->) marks the block.
//
// A whole file is marked in one of its first ten lines. This holds only below a folder named test, tests, testdata, fixtures or
// examples, so that one comment cannot hide the secrets of a real cluster; being in such a folder is not enough by itself:
//
//	# minos:not-secret-file: made for this test
package secret
