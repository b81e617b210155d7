// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// A ratio is a figure that has a limit: it is what is promised, where the others depend on the machine.
type ratio struct {
	// benchmark, variant and unit say which. Without a variant it is the largest size.
	benchmark, variant, unit string
	limit                    float64
	// least says that the limit is the lowest, and not the highest.
	least bool
	// name is what it is of what.
	name string
}

// ratios are all that is promised. A limit is set before it is measured, and is not moved because a run breaks it: the page says then
// that it is not kept.
var ratios = []ratio{
	{benchmark: "Machines", unit: "minos/bare-cpu", limit: 1, name: "what the operator computes for a machine, of what its joining costs all others"},
	{benchmark: "Machines", unit: "growth", limit: 1.5, name: "what one of the last machines costs the operator, of one of the first"},
	{benchmark: "Pools", unit: "minos/capi", limit: 1, name: "what the operator computes for a pool, of what Cluster API does"},
	{benchmark: "Pools", unit: "growth", limit: 1.5, name: "what one of the last pools costs the operator, of one of the first"},
	{benchmark: "Join", unit: "of-floor", limit: 0.5, least: true, name: "simulated machines a second, of bare registrations"},
	{benchmark: "Signer", variant: "connections=fresh", unit: "times-the-floor", limit: 1.15, name: "processor time for a certificate, of a server that only signs; fresh connections"},
	{benchmark: "Signer", variant: "connections=reused", unit: "times-the-floor", limit: 1.15, name: "the same, connections reused"},
	{benchmark: "Render", unit: "times-less-cpu", limit: 5, least: true, name: "processor time of talhelper, of what rendering takes Minos"},
	{benchmark: "RenderGrows", unit: "times-that-of-50", limit: 1.1, name: "rendering one of many machines, of one of 50"},
	{benchmark: "CheckGrows", unit: "times-that-of-50", limit: 1.1, name: "judging one of many machines, of one of 50"},
	{benchmark: "Clusters", unit: "times-that-of-100", limit: 1.25, name: "judging one of many clusters, of one of 100"},
	{benchmark: "History", unit: "ratio", limit: 1.5, name: "reading a repository with its history, of git log -p"},
	{benchmark: "Read", unit: "x-decode", limit: 6, name: "reading and judging a pool, of merely decoding it"},
}

// in is the figure of a ratio in results, and at which variant it was.
func (r ratio) in(found results) (figure float64, variant string, ok bool) {
	one := found.of(r.benchmark, r.variant)
	if sized := found.sized(r.benchmark); r.variant == "" && len(sized) > 0 {
		one = &sized[len(sized)-1]
	}
	if one == nil {
		return 0, "", false
	}
	figure, ok = one.figures[r.unit]
	return figure, one.variant, ok
}

// used is how much of the limit is used: above one it is broken.
func (r ratio) used(figure float64) float64 {
	if r.least {
		return r.limit / figure
	}
	return figure / r.limit
}

// bound is the limit in words.
func (r ratio) bound() string {
	if r.least {
		return "at least " + number(r.limit)
	}
	return "at most " + number(r.limit)
}

// ratiosTitle is what the picture of all ratios shows.
const ratiosTitle = "How much of its limit each ratio uses"

// drawRatios is a picture of all ratios beside their limits.
func drawRatios(found results) string {
	const row, name, bars = 26, 330, 270 // the height of a row, where bars begin and how long one is that is at its limit
	var rows strings.Builder
	at := 0
	for _, one := range ratios {
		figure, variant, ok := one.in(found)
		if !ok {
			continue
		}
		used := one.used(figure)
		y, colour := top+at*row, colours[2]
		if used > 1 {
			colour = "#d1242f"
		}
		label := one.benchmark + ", " + words(variant) + ": " + one.unit
		if variant == "" {
			label = one.benchmark + ": " + one.unit
		}
		fmt.Fprintf(&rows, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", name-8, y+15, escaped(label))
		fmt.Fprintf(&rows, `<rect x="%d" y="%d" width="%s" height="16" fill="%s" fill-opacity=".5"><title>%s</title></rect>`+"\n",
			name, y+3, short(min(used, 1.25)*bars), colour, escaped(one.name))
		fmt.Fprintf(&rows, `<text x="%d" y="%d">%s, %s</text>`+"\n", name+6, y+15, number(figure), one.bound())
		at++
	}
	if at == 0 {
		return ""
	}
	tall := top + at*row + 36
	return opening(ratiosTitle, tall) + rows.String() +
		fmt.Sprintf(`<line class="axis" x1="%d" x2="%[1]d" y1="%d" y2="%d" stroke-width="2" stroke-dasharray="4 3"/>`+"\n", name+bars, top-4, top+at*row+4) +
		fmt.Sprintf(`<text x="%d" y="%d" text-anchor="middle">the limit</text>`+"\n</svg>\n", name+bars, top+at*row+20)
}
