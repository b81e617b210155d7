// SPDX-License-Identifier: Apache-2.0

// Package cloud is a simulated cloud: its instances are simulated machines in a rack, and it serves an API over HTTP as real
// clouds do, with their latency, quotas, limits, late reads and faults.
//
// Its books are on disk, one file an instance, and they come first: a step is written down before it is done, and what is
// written down is done by the next start if this one was cut off. So the cloud can be killed at any moment.
//
// Of a kill between two steps:
//
//   - making: the record, then the address, the disk, the machine. What has a record is finished.
//   - deleting: the record says so, then the machine, the disk, the address, and the record last. What has a record that says
//     so is removed.
package cloud
