// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A chart shows how figures change with a size, which is on a scale of powers: ten times as many is the same way each time.
type chart struct {
	title string
	// x is what the sizes count, and y the unit of the figures.
	x, y   string
	series []series
}

// A series is one line of a chart.
type series struct {
	name   string
	points []point
}

// A point is a size and its figure.
type point struct{ x, y float64 }

// The measures of every picture.
const (
	width, height            = 680, 340
	left, right, top, bottom = 60, 190, 50, 48
)

// colours are one for each line, legible on white and on black.
var colours = []string{"#1f77d0", "#d9730d", "#2a9d5c", "#b0489f"}

// opening begins a picture. Its words and axes are dark on a light page and light on a dark one.
func opening(title string, tall int) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>%s</title>
<style>
text { fill: #24292f } .axis { stroke: #57606a } .grid { stroke: #8c959f; stroke-opacity: .3 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .axis { stroke: #9198a1 } }
</style>
<text x="%d" y="24" font-size="15" font-weight="600">%s</text>
`, width, tall, width, tall, escaped(title), left, escaped(title))
}

// draw is a chart as SVG. One without points is empty.
func (c chart) draw() string {
	x, y, ok := c.scales()
	if !ok {
		return ""
	}
	var text strings.Builder
	text.WriteString(opening(c.title, height))
	for _, tick := range y.ticks() {
		fmt.Fprintf(&text, `<line class="grid" x1="%d" x2="%d" y1="%s" y2="%[3]s"/>`+"\n", left, width-right, short(y.place(tick)))
		fmt.Fprintf(&text, `<text x="%d" y="%s" text-anchor="end">%s</text>`+"\n", left-8, short(y.place(tick)+4), number(tick))
	}
	for _, size := range c.sizes() {
		fmt.Fprintf(&text, `<line class="axis" x1="%s" x2="%[1]s" y1="%d" y2="%d"/>`+"\n", short(x.place(size)), height-bottom, height-bottom+5)
		fmt.Fprintf(&text, `<text x="%s" y="%d" text-anchor="middle">%s</text>`+"\n", short(x.place(size)), height-bottom+19, number(size))
	}
	fmt.Fprintf(&text, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%[3]d"/>`+"\n", left, width-right, height-bottom)
	fmt.Fprintf(&text, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", width-right, height-8, escaped(c.x))
	fmt.Fprintf(&text, `<text x="%d" y="42">%s</text>`+"\n", left, escaped(c.y))
	c.drawLines(&text, x, y)
	text.WriteString("</svg>\n")
	return text.String()
}

// drawLines draws every line with its points, and its name and last figure behind it.
func (c chart) drawLines(text *strings.Builder, x, y scale) {
	names := apart(c.lasts(y), 16)
	for at, one := range c.series {
		if len(one.points) == 0 {
			continue
		}
		colour := colours[at%len(colours)]
		var path []string
		for _, p := range one.points {
			path = append(path, short(x.place(p.x))+","+short(y.place(p.y)))
		}
		fmt.Fprintf(text, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colour, strings.Join(path, " "))
		for _, p := range one.points {
			fmt.Fprintf(text, `<circle cx="%s" cy="%s" r="3.5" fill="%s"><title>%s at %s: %s</title></circle>`+"\n",
				short(x.place(p.x)), short(y.place(p.y)), colour, escaped(one.name), number(p.x), number(p.y))
		}
		last := one.points[len(one.points)-1]
		fmt.Fprintf(text, `<rect x="%d" y="%s" width="10" height="10" fill="%s"/>`+"\n", width-right+12, short(names[at]-5), colour)
		fmt.Fprintf(text, `<text x="%d" y="%s">%s: %s</text>`+"\n", width-right+28, short(names[at]+4), escaped(one.name), number(last.y))
	}
}

// sizes are those of the points, each once, in order.
func (c chart) sizes() []float64 {
	var found []float64
	for _, one := range c.series {
		for _, p := range one.points {
			found = insert(found, p.x)
		}
	}
	return found
}

// lasts is where each line ends.
func (c chart) lasts(y scale) []float64 {
	var found []float64
	for _, one := range c.series {
		end := 0.0
		if len(one.points) > 0 {
			end = y.place(one.points[len(one.points)-1].y)
		}
		found = append(found, end)
	}
	return found
}

// scales are those of a chart: sizes by powers, figures from zero.
func (c chart) scales() (x, y scale, ok bool) {
	sizes := c.sizes()
	if len(sizes) == 0 {
		return x, y, false
	}
	most := 0.0
	for _, one := range c.series {
		for _, p := range one.points {
			most = max(most, p.y)
		}
	}
	x = scale{low: sizes[0], high: sizes[len(sizes)-1], from: left + 20, to: width - right - 20, powers: true}
	y = scale{high: roof(most), from: height - bottom, to: top}
	return x, y, true
}

// escaped is text that may stand in a picture.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// short is a place in a picture.
func short(place float64) string { return strconv.FormatFloat(math.Round(place*10)/10, 'f', -1, 64) }
