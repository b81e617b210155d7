// SPDX-License-Identifier: Apache-2.0

// Package rule says what a rule is: a value with an identity, a question, a severity, a remedy, the reason why it exists, and a
// function that judges facts. Rules stand in the packages beside this one, a package a subject.
package rule
