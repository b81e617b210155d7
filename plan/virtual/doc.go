// SPDX-License-Identifier: Apache-2.0

// Package virtual decides which objects of Cluster API a pool of virtual machines is: the template of a machine, the deployment,
// the health check; which of their predecessors nobody needs any more; and what Cluster API says of the machines, in our words.
package virtual
