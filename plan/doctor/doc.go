// SPDX-License-Identifier: Apache-2.0

// Package doctor says why clusters and pools are not Ready: which step is missing, since when, why, and what to look at. It
// reads what the operator wrote into conditions, and knows for each step and reason what people have found to be behind it.
package doctor
