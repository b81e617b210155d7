// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the tests of the double with the older version of KamajiControlPlane. They are apart because a
// management cluster serves one or the other.
package v1alpha1
