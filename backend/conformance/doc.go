// SPDX-License-Identifier: Apache-2.0

// Package conformance is the suite that every place must pass, run against a double of the place: something that speaks the
// place's own protocol and can be told to go wrong. Whoever brings a new place gives a [Subject] and calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Subject{New: func(t testing.TB) conformance.Double { … }})
//	}
//
// Every check is a sentence of the contract. A double that cannot bring about what a check needs names the check in
// Subject.Uncovered, with the reason: what is neither checked nor named fails.
package conformance
