// SPDX-License-Identifier: Apache-2.0

// Package check is pure: rules over facts that others gathered. Facts in, findings out.
package check
