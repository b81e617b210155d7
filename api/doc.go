// SPDX-License-Identifier: Apache-2.0

// Package api holds the kinds: one file each, with conditions and reasons documented and generated code beside. Its
// packages are v1alpha1, the kinds themselves; schema, which evaluates their definitions without an API server; load,
// which reads them from files; and nearest, which finds the name that was meant.
package api
