// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
)

// A subject is what one benchmark is about.
type subject struct {
	benchmark, title string
	// what says what is measured and how, in Markdown.
	what string
	// columns are the units that the page shows, each with its heading.
	columns [][2]string
	// full is the largest size of a whole run; zero if there are no others.
	full float64
	// plots are shown below its table.
	plots []string
	// says is what the largest of its figures mean, in a line.
	says func(largest, smallest line) string
}

// subjects are all benchmarks, in the order of the page.
var subjects = []subject{
	{
		benchmark: "Machines", title: "One cluster, many machines", full: 1000,
		what: "The operator as a process of its own, with the rights of its manifests; one hosted cluster with a real API server and a real signer; four " +
			"pools of [simulated machines](sim/machine.md), on the same cores as all of that. Each row is a step up from the row before. " +
			"Calls are counted before the management cluster's API server and before the place; those to the tenant are the operator's own count. " +
			"*Without Minos* are machines that were made in the same run by asking the place for the very same, while no operator ran. *All* is the operator, " +
			"both API servers, the place with its machines, and the counting, with what these do while time passes; *of it the operator* is what Minos itself " +
			"computes. Below the steps up: the operator started again looks at everything, which must not write anything; a tenth is removed; a tenth is rolled.",
		columns: [][2]string{
			{"s", "seconds until all are ready"}, {"bare-s", "without Minos"}, {"all-cpu-ms/machine", "processor time a machine, ms"}, {"bare-all-cpu-ms/machine", "without Minos"},
			{"minos-cpu-ms/machine", "of it the operator"}, {"calls/machine", "calls a machine"}, {"tenant-calls/machine", "in the tenant"},
			{"place-calls/machine", "to the place"}, {"minos-peak-MB", "most memory of the operator, MB"}, {"writes", "writes"},
		},
		plots: []string{"machines-cost", "machines-calls", "machines-memory"},
		says: func(largest, smallest line) string {
			return fmt.Sprintf("With Minos, and all that it needs around it, a machine costs %s times the processor time that it costs without, and all are ready after %s times the time. "+
				"The operator itself computes %s times what the joining of the same machines costs everybody else. One of the last machines costs it %s times what one of the first did%s.",
				number(largest.figures["times-bare-cpu"]), number(largest.figures["times-bare-s"]), number(largest.figures["minos/bare-cpu"]),
				number(largest.figures["growth"]), exponent(largest, smallest))
		},
	},
	{
		benchmark: "Pools", title: "Many clusters, five pools each", full: 200,
		what: "Each pool is a `MachineDeployment` of no machines with its template and health check, tokens and configuration. Beside it is what the same " +
			"`MachineDeployment`s cost Cluster API's own controllers meanwhile, and then what as many cost them that are made without Minos. Both are processes of their " +
			"own. Those made by hand show what Cluster API costs without Minos: what Minos writes gives it more to do. Two hundred hosted API servers do not fit on a machine: one real API server stands behind all clusters, and the benchmark stands in for Kamaji. Each row is a step up from the row before.",
		columns: [][2]string{
			{"s", "seconds until all rests"}, {"minos-ms/pool", "processor time a pool, ms"}, {"capi-ms/pool", "Cluster API"}, {"minos-calls/pool", "calls a pool"},
			{"capi-calls/pool", "Cluster API"}, {"minos-ms/cluster", "processor time a cluster, ms"}, {"minos-calls/cluster", "calls a cluster"},
			{"minos-peak-MB", "most memory, MB"}, {"capi-peak-MB", "Cluster API"},
		},
		plots: []string{"pools-cost", "pools-calls", "pools-memory"},
		says: func(largest, smallest line) string {
			return fmt.Sprintf("A pool costs the operator %s times what it costs Cluster API, and one of the last costs it %s times what one of the first did%s.",
				number(largest.figures["minos/capi"]), number(largest.figures["growth"]), exponent(largest, smallest))
		},
	},
	{
		benchmark: "Join", title: "Simulated machines that join",
		what:    "Machines of the simulator until all are ready, beside as many Nodes that are registered with the fewest calls, on the same API server.",
		columns: [][2]string{{"machines/s", "machines a second"}, {"floor/s", "bare registrations a second"}, {"of-floor", "of those"}, {"KiB/machine", "KiB a machine"}},
		says: func(largest, _ line) string {
			return fmt.Sprintf("A whole simulated machine joins at %s of the speed of a bare registration.", number(largest.figures["of-floor"]))
		},
	},
	{
		benchmark: "Signer", title: "The signer",
		what: "Certificates for workers, beside a server that checks nothing and only signs; both processes of their own, by turns.",
		columns: [][2]string{
			{"cpu-ms/cert", "processor time a certificate, ms"}, {"floor-cpu-ms/cert", "only signing"}, {"certs/s", "certificates a second"}, {"floor-certs/s", "only signing"},
			{"idle-MB", "memory at rest, MB"}, {"peak-MB", "most memory, MB"},
		},
		says: func(largest, _ line) string {
			return fmt.Sprintf("Tokens, policies, limits and the audit log cost %s times what only signing does.", number(largest.figures["times-the-floor"]))
		},
	},
	{
		benchmark: "Render", title: "Rendering beside talhelper",
		what:    "A fleet from files to files, validated, on equivalent input.",
		columns: [][2]string{{"minos-cpu-ms", "processor time, ms"}, {"talhelper-cpu-ms", "talhelper"}, {"times-less-cpu", "times less"}},
		says: func(largest, _ line) string {
			return fmt.Sprintf("Minos takes %s times less than talhelper.", number(largest.figures["times-less-cpu"]))
		},
	},
	{
		benchmark: "RenderGrows", title: "Rendering, how it grows", what: "The same, up to thousands of machines.",
		columns: [][2]string{{"cpu-ms/machine", "processor time a machine, ms"}, {"times-that-of-50", "times that of 50"}},
		says:    grows("times-that-of-50"),
	},
	{
		benchmark: "CheckGrows", title: "Judging machines, how it grows", what: "`minos check` of a fleet, by every rule.",
		columns: [][2]string{{"cpu-ms", "processor time, ms"}, {"cpu-ms/machine", "a machine, ms"}, {"times-that-of-50", "times that of 50"}},
		says:    grows("times-that-of-50"),
	},
	{
		benchmark: "Clusters", title: "Judging clusters, how it grows", what: "A fleet of many small clusters, by every rule.",
		columns: [][2]string{{"µs/cluster", "µs a cluster"}, {"times-that-of-100", "times that of 100"}},
		says:    grows("times-that-of-100"),
	},
	{
		benchmark: "History", title: "A repository with its history", what: "A thousand files and five thousand commits, searched for secrets, beside a plain `git log -p`.",
		columns: [][2]string{{"s/gather", "seconds"}, {"s/git-log", "git log -p"}, {"ratio", "times"}},
		says: func(largest, _ line) string {
			return fmt.Sprintf("Reading all of it takes %s times as long as git takes to print it.", number(largest.figures["ratio"]))
		},
	},
	{
		benchmark: "Read", title: "Reading declarations", what: "Pools read and held to every rule of the API server, beside merely decoding them.",
		columns: [][2]string{{"µs/pool", "µs a pool"}, {"x-decode", "times decoding"}},
		says: func(largest, _ line) string {
			return fmt.Sprintf("Strictness costs %s times what decoding does.", number(largest.figures["x-decode"]))
		},
	},
}

// grows says how cost grows, by a figure that is one for what is linear.
func grows(unit string) func(line, line) string {
	return func(largest, _ line) string {
		if figure := largest.figures[unit]; figure > 1 {
			return fmt.Sprintf("One of many costs %s times what one of few does: linear is 1.", number(figure))
		}
		return fmt.Sprintf("One of many costs %s times what one of few does: what is done once is shared.", number(largest.figures[unit]))
	}
}

// exponent says with which power of the size the cost of one more grows.
func exponent(largest, smallest line) string {
	most, _ := largest.size()
	least, _ := smallest.size()
	growth := largest.figures["growth"]
	if most <= least || growth <= 0 {
		return ""
	}
	return fmt.Sprintf(" (the whole grows as the size to the power of about %s; linear is 1)", number(1+math.Log(growth)/math.Log(most/least)))
}
