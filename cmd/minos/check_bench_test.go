// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

// BenchmarkCheckGrows has a fleet rendered and judged by every rule in one go, and shows how the cost of a machine changes with their
// number: linear means that it does not.
func BenchmarkCheckGrows(b *testing.B) {
	minos := program(b, "minos")
	var first float64
	for _, machines := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			var used float64
			for b.Loop() {
				folder := b.TempDir()
				writeOurs(b, folder, machines)
				used += checked(b, folder, minos)
			}
			each := 1000 * used / float64(b.N) / float64(machines)
			if first == 0 {
				first = each
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1000*used/float64(b.N), "cpu-ms")
			b.ReportMetric(each, "cpu-ms/machine")
			b.ReportMetric(each/first, "times-that-of-50")
		})
	}
}

// checked checks a folder and returns the seconds of processor time that it took. That there are findings is no failure.
func checked(b *testing.B, folder, program string) float64 {
	b.Helper()
	cmd := exec.Command(program, "check", "ours", "-o", "json")
	cmd.Dir = folder
	text, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		err = nil
	}
	if err != nil {
		b.Fatal(err)
	}
	var report struct {
		Summary struct {
			Rules   int `json:"rules"`
			Objects int `json:"objects"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		b.Fatal(err)
	}
	if report.Summary.Rules < 9 || report.Summary.Objects < 5 {
		b.Fatalf("%+v", report.Summary)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}
