// SPDX-License-Identifier: Apache-2.0

// Package policy decides which names and addresses a machine may carry in its certificate. It is pure: a request is a
// value, and so is the verdict.
//
// Two questions are asked, in this order. Does the request ask for what belongs to the control plane or to the signer
// itself? Whoever holds a certificate for those can answer in the signer's place, and a worker takes the administrators
// that the answer names. And does the request stay within what its token allows?
package policy
