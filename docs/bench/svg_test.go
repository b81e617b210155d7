// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNumber(t *testing.T) {
	for figure, want := range map[float64]string{
		0: "0", 1: "1", 0.905: "0.905", 1.1309: "1.13", 15.69: "15.7", 99.96: "100.0", 355.4: "355", 1000: "1,000", 1234567: "1,234,567", 0.0123: "0.012", -1234: "-1,234", -123: "-123",
	} {
		if got := number(figure); got != want {
			t.Errorf("%v is %q, want %q", figure, got, want)
		}
	}
}

func TestRoof(t *testing.T) {
	for most, want := range map[float64]float64{0: 1, 0.9: 1, 1: 1, 1.1: 2, 3: 4, 7: 8, 9: 10, 11: 20, 450: 600, 0.03: 0.04} {
		if got := roof(most); number(got) != number(want) {
			t.Errorf("over %v is %v, want %v", most, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	powers := scale{low: 10, high: 1000, from: 0, to: 100, powers: true}
	if got := powers.place(100); short(got) != "50" {
		t.Errorf("a hundred is at %v, between ten and a thousand", got)
	}
	upwards := scale{high: 8, from: 300, to: 100}
	if got := upwards.place(2); got != 250 {
		t.Errorf("two of eight is at %v", got)
	}
	if diff := cmp.Diff([]float64{0, 2, 4, 6, 8}, upwards.ticks()); diff != "" {
		t.Error(diff)
	}
	if got := (scale{low: 5, high: 5, from: 0, to: 10}).place(5); got != 5 {
		t.Errorf("the only figure is at %v", got)
	}
}

// TestApart wants words that are too near to move down, and the others to stay.
func TestApart(t *testing.T) {
	if diff := cmp.Diff([]float64{126, 10, 110, 200}, apart([]float64{112, 10, 110, 200}, 16)); diff != "" {
		t.Error(diff)
	}
}

// TestUsed wants a limit to be used up by what is too much, and by what is too little.
func TestUsed(t *testing.T) {
	if got := (ratio{limit: 2}).used(3); got != 1.5 {
		t.Errorf("3 of at most 2 uses %v", got)
	}
	if got := (ratio{limit: 3, least: true}).used(2); got != 1.5 {
		t.Errorf("2 of at least 3 uses %v", got)
	}
}

func TestEmptyChart(t *testing.T) {
	if got := (chart{title: "nothing", series: []series{{name: "none"}}}).draw(); got != "" {
		t.Errorf("a chart of nothing is %s", got)
	}
}

// TestAnyWords wants any words to be words in the picture too.
func TestAnyWords(t *testing.T) {
	made := chart{title: `a < b & "c" > d`, x: "<x>", y: "&y", series: []series{{name: "<one>", points: []point{{1, 2}}}}}
	wellFormed(t, "any words", made.draw())
}
