// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/sim/machine"
	"minos.dev/minos/talos/boot"
	"minos.dev/minos/talos/extension"
)

// A guess is a machine by chance, and how it boots as it is predicted from its files alone.
type guess struct {
	options    machine.Options
	extensions []string
	prediction boot.Prediction
}

// A dealer makes machines by chance: the same ones in every run.
type dealer struct {
	*site
	*rand.Rand
	catalogue *extension.Catalogue
	names     []string // extensions that have services, and some that have none
	base      string   // a configuration without any of what extensions need
}

// newDealer returns a dealer for the release of a site.
func newDealer(s *site) *dealer {
	s.t.Helper()
	catalogue, err := extension.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	names, err := catalogue.Names(s.version)
	if err != nil {
		s.t.Fatal(err)
	}
	plain := 0
	names = slices.DeleteFunc(names, func(name string) bool {
		found, _ := catalogue.Find(name)
		if len(found.Services) == 0 {
			plain++
		}
		return len(found.Services) == 0 && plain > 20 && !strings.Contains(name, "nvidia")
	})
	return &dealer{site: s, Rand: rand.New(rand.NewPCG(7, uint64(len(names)))), catalogue: catalogue, names: names, base: string(s.configuration("plain", nil))}
}

// some are a few of several.
func some[T any](d *dealer, all []T, likely float64) []T {
	return slices.DeleteFunc(slices.Clone(all), func(T) bool { return d.Float64() > likely })
}

// deal returns a machine: an image, a configuration that has some of what the image needs, and hardware.
func (d *dealer) deal() guess {
	d.t.Helper()
	extensions := some(d, d.names, 0.06)
	var modules, services []string
	likely := []float64{0.5, 0.95, 1}[d.IntN(3)]
	for _, name := range extensions {
		found, _ := d.catalogue.Find(name)
		for _, service := range some(d, found.Services, likely) {
			services = append(services, service.Name)
		}
		for _, module := range some(d, found.Modules, likely) {
			modules = append(modules, module.AnyOf[0])
		}
	}
	text := d.with(unrepeated(modules), unrepeated(services))
	devices := some(d, []string{boot.PathGuestChannel, boot.PathNVIDIA, boot.PathHyperVKVP, boot.PathHyperVVSS, boot.PathZFS, boot.PathMultipath}, likely*0.7)
	one := guess{extensions: extensions, options: machine.Options{
		UserData: text, Disk: machine.NewMemory(d.image(extensions...)), Devices: devices,
		GPU: []string{"", "nvidia", "amd"}[d.IntN(3)], Platform: []string{"nocloud", "azure"}[d.IntN(2)],
	}}
	one.prediction = d.predict(one)
	return one
}

// with is a configuration that loads modules, in the form of the release, and configures services.
func (d *dealer) with(modules, services []string) []byte {
	text := d.base
	for _, module := range modules {
		if d.version == "v1.14.1" {
			text += fmt.Sprintf("---\napiVersion: v1alpha1\nkind: KernelModuleConfig\nname: %s\n", module)
		}
	}
	if d.version != "v1.14.1" && len(modules) > 0 {
		text = strings.Replace(text, "\nmachine:\n", "\nmachine:\n    kernel: {modules: [{name: "+strings.Join(modules, "}, {name: ")+"}]}\n", 1)
	}
	for _, service := range services {
		text += fmt.Sprintf("---\napiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: %s\nenvironment: [LEVEL=1]\n", service)
	}
	return []byte(text)
}

// unrepeated are words, each once.
func unrepeated(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// predict is what 'minos image boot' does: it reads the configuration, and knows the hardware that it was told of.
func (d *dealer) predict(one guess) boot.Prediction {
	d.t.Helper()
	provider, err := configloader.NewFromBytes(one.options.UserData)
	if err != nil {
		d.t.Fatal(err)
	}
	around := boot.Configured(provider)
	around.Devices, around.GPU, around.Platform = one.options.Devices, one.options.GPU, one.options.Platform
	return boot.Predict(d.catalogue, one.extensions, around)
}

// waits is what a prediction says that services wait for, in the words of a machine.
func waits(prediction boot.Prediction) string {
	var lines []string
	for _, service := range prediction.Blocked() {
		need, _ := service.Lacking()
		lines = append(lines, fmt.Sprintf("service %q waits for %s", service.Name, need.Waits()))
	}
	return strings.Join(lines, "; ")
}

// guesses is how many machines are held to what is predicted of them, in each release.
const guesses = 150

// TestPredictionAgrees has machines by chance, and expects each to wait for what was predicted and for nothing else. They reach no
// cluster, which has no part in it.
func TestPredictionAgrees(t *testing.T) {
	for _, version := range []api.TalosVersion{"v1.13.9", "v1.14.1"} { // the old fields, and the new documents
		t.Run(string(version), func(t *testing.T) {
			s := newSite(t, version)
			d := newDealer(s)
			rack, err := machine.NewRack(machine.Environment{
				Scale: 1000, Durations: machine.Durations{Deadline: 24 * 365 * time.Hour, Retry: 24 * time.Hour}, Registry: s.factory,
				Trustd: func(string) []string { return nil },
				Dial:   func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("there is no cluster") },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(rack.Close)
			complete := 0
			for range guesses {
				one := d.deal()
				m := s.add(rack, one.options)
				said := ""
				status := s.becomes(m, func(status machine.Status) bool {
					said = reason(status, machine.StepServices)
					return said != "" || status.Reached(machine.StepServices)
				})
				if diff := cmp.Diff(waits(one.prediction), said); diff != "" {
					t.Errorf("%v with %v (-predicted +simulated):\n%s", one.extensions, one.options.Devices, diff)
				}
				if got := status.Reached(machine.StepServices); got != one.prediction.Completes() {
					t.Errorf("%v: the boot ends: %v, and it was predicted: %v", one.extensions, got, one.prediction.Completes())
				}
				if one.prediction.Completes() {
					complete++
				}
				m.Kill()
			}
			if complete < guesses/10 || complete > guesses*9/10 {
				t.Errorf("%d of %d end their boot: chance is not fair", complete, guesses)
			}
		})
	}
}

// reason is why a step was not reached; empty if it was, or if nobody knows yet.
func reason(status machine.Status, step machine.Step) string {
	at := slices.IndexFunc(status.Steps, func(p machine.Progress) bool { return p.Step == step })
	if at < 0 || !status.Steps[at].Reached.IsZero() {
		return ""
	}
	return status.Steps[at].Reason
}

// TestPredictionComesTrue has fewer machines, in a cluster, and waits for the end: those of which it was predicted run, and the
// others reboot at the deadline, again and again.
func TestPredictionComesTrue(t *testing.T) {
	s := newSite(t, "v1.14.1")
	d := newDealer(s)
	patient := s.newRack(machine.Durations{Deadline: 24 * 365 * time.Hour})
	short := s.newRack(machine.Durations{Deadline: 100 * time.Second, Boot: time.Second, Retry: 24 * time.Hour})
	for range 12 {
		one := d.deal()
		if one.prediction.Completes() {
			s.becomes(s.add(patient, one.options), func(status machine.Status) bool { return status.Stage == "running" })
			continue
		}
		m := s.add(short, one.options)
		status := s.becomes(m, func(status machine.Status) bool { return status.Boots >= 3 })
		if status.Stage == "running" || s.said(m.Name(), "running") {
			t.Errorf("%v: it runs, and it was predicted to wait for %s", one.extensions, waits(one.prediction))
		}
		m.Kill()
	}
}
