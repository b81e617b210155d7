// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of minos.dev/v1alpha1, one file a kind.
//
// The same types are served by a management cluster and read from a Git folder. Validation lives in the markers here,
// as schema and CEL, so that there is one text of every rule: the API server enforces it at admission, and api/schema
// evaluates the very same generated definitions over files.
//
// What a comment on a field says is what a user reads in "kubectl explain" and in docs/reference. It therefore says
// what the field does for them, and whether changing it touches machines: "rolls" means that machines are replaced or
// rebooted in turn, within the limits of the pool's rollout policy.
//
// +kubebuilder:object:generate=true
// +groupName=minos.dev
package v1alpha1
