// SPDX-License-Identifier: Apache-2.0

// Package kamaji is a double of Kamaji and of its Cluster API control plane provider. It makes every KamajiControlPlane of
// a management cluster a real API server at an address of its own, runs the signer beside it as the object declares it,
// and writes the Secrets and the status that the real ones write, in their order.
//
// All that it must remember lies in its folder. It has one way to end, and that is the power cut: started again on the
// same folder, every control plane comes back with its authority, its address and its data.
package kamaji
