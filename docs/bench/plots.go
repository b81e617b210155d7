// SPDX-License-Identifier: Apache-2.0

package main

// A plot is a picture with its name and what it shows.
type plot struct{ name, title, svg string }

// wish is a chart that is to be drawn of a benchmark: units by the names of their lines, in order.
type wish struct {
	name, benchmark, title, x, y string
	lines                        [][2]string
	times                        float64 // how many of what x counts are in one of the size; zero is one
}

// wishes are all charts.
var wishes = []wish{
	{
		name: "machines-cost", benchmark: "Machines", title: "One cluster: processor time for each machine more", x: "machines", y: "milliseconds",
		lines: [][2]string{{"all, with Minos", "all-cpu-ms/machine"}, {"all, without", "bare-all-cpu-ms/machine"}, {"the operator", "minos-cpu-ms/machine"}},
	},
	{
		name: "machines-calls", benchmark: "Machines", title: "One cluster: calls of the operator for each machine more", x: "machines", y: "calls",
		lines: [][2]string{{"management", "calls/machine"}, {"tenant", "tenant-calls/machine"}, {"place", "place-calls/machine"}},
	},
	{
		name: "machines-memory", benchmark: "Machines", title: "One cluster: most memory of the operator", x: "machines", y: "MB",
		lines: [][2]string{{"the operator", "minos-peak-MB"}},
	},
	{
		name: "pools-cost", benchmark: "Pools", title: "Many clusters: processor time for each pool more", x: "pools", y: "milliseconds", times: poolsOfCluster,
		lines: [][2]string{{"Minos", "minos-ms/pool"}, {"Cluster API", "capi-ms/pool"}},
	},
	{
		name: "pools-calls", benchmark: "Pools", title: "Many clusters: calls for each pool more", x: "pools", y: "calls", times: poolsOfCluster,
		lines: [][2]string{{"Minos", "minos-calls/pool"}, {"Cluster API", "capi-calls/pool"}},
	},
	{
		name: "pools-memory", benchmark: "Pools", title: "Many clusters: most memory", x: "pools", y: "MB", times: poolsOfCluster,
		lines: [][2]string{{"Minos", "minos-peak-MB"}, {"Cluster API", "capi-peak-MB"}},
	},
}

// poolsOfCluster is how many pools each cluster of the benchmark has.
const poolsOfCluster = 5

// plots are those that results have figures for.
func plots(found results) []plot {
	var made []plot
	for _, one := range wishes {
		if svg := one.chart(found).draw(); svg != "" {
			made = append(made, plot{one.name, one.title, svg})
		}
	}
	if svg := drawRatios(found); svg != "" {
		made = append(made, plot{"ratios", ratiosTitle, svg})
	}
	return made
}

// chart is what is wished for, with the figures.
func (w wish) chart(found results) chart {
	made := chart{title: w.title, x: w.x, y: w.y}
	for _, wanted := range w.lines {
		one := series{name: wanted[0]}
		for _, line := range found.sized(w.benchmark) {
			if figure, ok := line.figures[wanted[1]]; ok {
				size, _ := line.size()
				one.points = append(one.points, point{size * max(w.times, 1), figure})
			}
		}
		made.series = append(made.series, one)
	}
	return made
}
