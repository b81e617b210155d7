// SPDX-License-Identifier: Apache-2.0

// Package older holds the test of the operator with the older version of KamajiControlPlane. It is apart because a management cluster
// serves one or the other.
package older
