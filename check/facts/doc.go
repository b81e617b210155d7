// SPDX-License-Identifier: Apache-2.0

// Package facts is what rules judge by: declarations, machine configurations, schematics, manifests, workflows, the files of a
// repository and what a running cluster said of itself. It reads them from text that others gathered; it does no I/O.
package facts
