// SPDX-License-Identifier: Apache-2.0

// Package check is pure: rules over facts that others gathered. Facts in, findings out. It knows all rules, has them judge, and
// sets aside what people bear with: by a suppression in the files, or by a baseline.
package check
