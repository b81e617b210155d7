// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strings"
	"testing"
	"time"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/machine"
)

// TestParse is what a scenario has that says little, and in which order its steps are.
func TestParse(t *testing.T) {
	read, err := Parse([]byte("steps: [{at: 5m, scale: {workers: 2}}, {at: 1m, machines: w-*, do: reboot}]"))
	if err != nil {
		t.Fatal(err)
	}
	if read.Speed != defaultSpeed || read.Until.Duration != defaultUntil || read.Expect[0].Reaches != machine.StepReady {
		t.Errorf("%+v", read)
	}
	if read.Steps[0].Do != Reboot || read.Steps[1].Scale["workers"] != 2 {
		t.Errorf("the steps are %+v", read.Steps)
	}
}

// TestParseRefuses is what makes no sense, in one line that names the field.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"spede: 3":                          `spede: there is no such field, did you mean "speed"?`,
		"speed: fast":                       "speed: a text does not belong here",
		"expect: [{boots: [1]}]":            "expect.boots: a list does not belong here",
		"- speed: 3":                        "a scenario has fields, and this is a list",
		"speed: 3\nspeed: 4":                "already set in map",
		"until: soon":                       `time: invalid duration "soon"`,
		"steps: [":                          "yaml: line 1:",
		"speed: 0.5":                        "speed: 0.5 is not between 1 and 10000",
		"until: -1m":                        "until: -1m0s is less than nothing",
		"place: {latency: -1s}":             "place.latency: -1s is less than nothing",
		"pools: {workers: 100000}":          "pools.workers: 100000 is not between 0 and 2000",
		"steps: [{at: 31m, scale: {a: 1}}]": "steps[0].at: 31m0s is not within the rehearsal",
		"steps: [{at: 1m}]":                 "steps[0].at: exactly one of place, scale, do, set and upgrade",
		"steps: [{do: die, scale: {a: 1}, machines: a}]": "steps[0].at: exactly one of",
		"steps: [{do: die}]":                             `steps[0].machines: say which`,
		"steps: [{scale: {a: 1}, machines: a}]":          "steps[0].machines: only do, set and upgrade",
		"steps: [{do: explode, machines: a}]":            `steps[0].do: "explode" is not one of [die stop start reboot]`,
		"steps: [{do: die, machines: '['}]":              `steps[0].machines: "[" is not a pattern`,
		"steps: [{place: {quota: -1}}]":                  "steps[0].place.quota, rate and burst",
		"steps: [{scale: {a: -1}}]":                      "steps[0].scale.a: -1 is not between",
		"steps: [{await: {}, scale: {a: 1}}]":            "steps[0].await.reaches: say what is expected",
		"expect: [{by: 1m}]":                             "expect[0].reaches: say what is expected",
		"expect: [{reaches: moon}]":                      `expect[0].reaches: "moon" is not one of`,
		"expect: [{reaches: ready, stopsAt: cni}]":       "expect[0].stopsAt: a machine that reaches",
		"expect: [{reaches: ready, because: x}]":         "expect[0].because: only a machine that stops",
		"expect: [{reaches: ready, by: 2h}]":             "expect[0].by: 2h0m0s is not within",
		"expect: [{reaches: ready, after: 2m, by: 1m}]":  "expect[0].after: 2m0s is not before",
		"expect: [{reaches: ready, machines: '['}]":      `expect[0].machines: "[" is not a pattern`,
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// machineAt is a machine that reached steps, and the reason for which it does not reach the next.
func machineAt(name string, reached int, reason string) machine.Status {
	status := machine.Status{Machine: name, Stage: "booting", Image: machine.Image{Version: "v1.13.9"}}
	for at, step := range machine.Steps() {
		progress := machine.Progress{Step: step}
		switch {
		case at < reached:
			progress.Reached = time.Unix(1, 0)
		case at == reached:
			progress.Reason = reason
		}
		status.Steps = append(status.Steps, progress)
	}
	return status
}

// TestJudge holds expectations against machines.
func TestJudge(t *testing.T) {
	ready, stuck := machineAt("web-1", 7, ""), machineAt("db-1", 5, "ext-tailscale waits for its configuration")
	tests := map[string]struct {
		expect string
		now    time.Duration
		met    bool
		why    string
	}{
		"all are ready":       {`{reaches: ready}`, 0, false, "db-1 is booting and stands at services: ext-tailscale waits"},
		"some are ready":      {`{machines: "web-*", reaches: ready}`, 0, true, ""},
		"an earlier step":     {`{reaches: node}`, 0, true, ""},
		"it stops":            {`{machines: db-1, stopsAt: services, because: configuration}`, 0, true, ""},
		"for another reason":  {`{machines: db-1, stopsAt: services, because: device}`, 0, false, "db-1 is booting and stands at services"},
		"at another step":     {`{machines: db-1, stopsAt: cni}`, 0, false, "db-1 is booting and stands at services"},
		"it does not stop":    {`{machines: web-1, stopsAt: cni}`, 0, false, "web-1 stops nowhere"},
		"the version":         {`{version: v1.13.9}`, 0, true, ""},
		"another version":     {`{version: v1.14.1}`, 0, false, "web-1 runs v1.13.9"},
		"boots":               {`{boots: 2}`, 0, false, "web-1 booted 0 times"},
		"nobody":              {`{machines: "gpu-*", reaches: ready}`, 0, false, `there is no machine "gpu-*"`},
		"too late":            {`{machines: web-1, reaches: ready, by: 1m}`, 2 * time.Minute, false, ""},
		"too early":           {`{machines: web-1, reaches: ready, after: 5m}`, 2 * time.Minute, false, ""},
		"at the right moment": {`{machines: web-1, reaches: ready, after: 1m, by: 3m}`, 2 * time.Minute, true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := Parse([]byte("expect: [" + test.expect + "]"))
			if err != nil {
				t.Fatal(err)
			}
			judgement := Judgement{Expectation: read.Expect[0]}
			judgement.judge(test.now, []machine.Status{ready, stuck})
			if judgement.Met != test.met || !strings.HasPrefix(judgement.Why, test.why) || judgement.Met && judgement.At != test.now {
				t.Errorf("%+v", judgement)
			}
			judgement.judge(test.now+time.Second, nil)
			if judgement.Met != test.met {
				t.Error("it did not stay as it was")
			}
		})
	}
}

// TestAgain is when a call is made again.
func TestAgain(t *testing.T) {
	for reason, want := range map[backend.Reason]bool{
		backend.Invalid: false, backend.Taken: false, backend.Denied: true, backend.NoRoom: true, backend.Unsure: true,
		backend.Unavailable: true, backend.TooFast: true, backend.Gone: true,
	} {
		before := time.Duration(0)
		for tries := range 100 {
			wait, more := again(reason, tries)
			if more != want || more && (wait < before || wait <= 0 || wait > time.Minute) {
				t.Errorf("%s after %d tries: %s, %v", reason, tries, wait, more)
			}
			before = wait
		}
	}
}
