// SPDX-License-Identifier: Apache-2.0

// Package controller is the shells of the operator, one folder a kind: each observes, asks plan what to do, does it, and reports.
// They decide nothing.
package controller
