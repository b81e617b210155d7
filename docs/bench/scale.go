// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A scale leads from figures to places in a picture.
type scale struct {
	low, high float64
	from, to  float64
	powers    bool
}

// place is where a figure is. With one figure only it is in the middle.
func (s scale) place(figure float64) float64 {
	low, high := s.low, s.high
	if s.powers {
		low, high, figure = math.Log(low), math.Log(high), math.Log(figure)
	}
	if high == low {
		return (s.from + s.to) / 2
	}
	return s.from + (figure-low)/(high-low)*(s.to-s.from)
}

// ticks are five round figures from the lowest to the highest.
func (s scale) ticks() []float64 {
	var found []float64
	for at := range 5 {
		found = append(found, s.low+(s.high-s.low)*float64(at)/4)
	}
	return found
}

// roof is a round figure that is not below another: one of 1, 2, 4, 6, 8 and 10, at some power of ten.
func roof(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, round := range []float64{1, 2, 4, 6, 8} {
		if most <= round*power {
			return round * power
		}
	}
	return 10 * power
}

// insert puts a number into a sorted list, if it is not there.
func insert(list []float64, number float64) []float64 {
	at, found := slices.BinarySearch(list, number)
	if found {
		return list
	}
	return slices.Insert(list, at, number)
}

// apart moves places so that words there do not cover each other. Their order stays.
func apart(places []float64, least float64) []float64 {
	order := make([]int, len(places))
	for at := range order {
		order[at] = at
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	moved := slices.Clone(places)
	for at := 1; at < len(order); at++ {
		moved[order[at]] = max(moved[order[at]], moved[order[at-1]]+least)
	}
	return moved
}

// number is a figure for people: three digits that count, and thousands apart.
func number(figure float64) string {
	size := math.Abs(figure)
	digits := 0
	for limit := 100.0; digits < 3 && size < limit && size != math.Trunc(size); limit /= 10 {
		digits++
	}
	text := strconv.FormatFloat(figure, 'f', digits, 64)
	whole, rest, broken := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0 && whole[at-1] != '-'; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if broken {
		return whole + "." + rest
	}
	return whole
}
