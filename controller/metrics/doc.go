// SPDX-License-Identifier: Apache-2.0

// Package metrics is what the operator counts and measures. Every metric is defined once, in definitions.go, from where its page in
// docs/reference is made too.
//
// Nothing is asked for the sake of a metric: the controllers hand over what they saw anyway. How many series there are does not
// depend on how many pools or machines there are; a cluster has a handful, which go when it goes. What happens once is counted with
// the write that makes it so, which a restart does not repeat; where nothing is written, as for machines of Cluster API, only what
// began and ended under the eyes of one operator is counted.
package metrics
