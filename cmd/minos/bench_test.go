// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// perPool is how many hosts are put into one pool, which takes 256 at most.
const perPool = 250

// BenchmarkRender renders and validates a fleet from files to files, by this program and by talhelper, on equivalent input.
// What counts is processor time of the whole process, as a ratio within the run.
func BenchmarkRender(b *testing.B) {
	minos, talhelper := program(b, "minos"), program(b, "peers/talhelper")
	for _, machines := range []int{50, 500} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			var ours, theirs float64
			for b.Loop() {
				folder := b.TempDir()
				writeTheirs(b, folder, machines)
				writeOurs(b, folder, machines)
				ours += cpu(b, folder, minos, "render", "ours", "-o", "out")
				theirs += cpu(b, folder, talhelper, "genconfig", "--offline-mode", "--no-gitignore", "-c", "talconfig.yaml", "-s", "talsecret.yaml")
				wantFiles(b, filepath.Join(folder, "out", "bench"), machines)
				wantFiles(b, filepath.Join(folder, "clusterconfig"), machines)
			}
			runs := float64(b.N)
			b.ReportMetric(0, "ns/op") // the sum of both says nothing
			b.ReportMetric(1000*ours/runs, "minos-cpu-ms")
			b.ReportMetric(1000*theirs/runs, "talhelper-cpu-ms")
			b.ReportMetric(theirs/ours, "times-less-cpu")
		})
	}
}

// BenchmarkRenderGrows shows how the cost of a machine changes with their number: linear means that it does not.
func BenchmarkRenderGrows(b *testing.B) {
	minos := program(b, "minos")
	var first float64
	for _, machines := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			var used float64
			for b.Loop() {
				folder := b.TempDir()
				writeTheirs(b, folder, 0)
				writeOurs(b, folder, machines)
				used += cpu(b, folder, minos, "render", "ours", "-o", "out")
				wantFiles(b, filepath.Join(folder, "out", "bench"), machines)
			}
			each := 1000 * used / float64(b.N) / float64(machines)
			if first == 0 {
				first = each
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(each, "cpu-ms/machine")
			b.ReportMetric(each/first, "times-that-of-50")
		})
	}
}

// program is a built program.
func program(b *testing.B, name string) string {
	b.Helper()
	path, err := filepath.Abs(filepath.Join("../../bin", name))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		b.Fatalf("%v: run 'make build peers' first", err)
	}
	return path
}

// cpu runs a program and returns the seconds of processor time that it took.
func cpu(b *testing.B, folder, program string, args ...string) float64 {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", filepath.Base(program), err, text)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// wantFiles counts the configurations in a folder.
func wantFiles(b *testing.B, folder string, want int) {
	b.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(found) != want {
		b.Fatalf("%d configurations in %s, want %d: %v", len(found), folder, want, err)
	}
}

// address is that of machine i.
func address(i int) string {
	return fmt.Sprintf("172.16.%d.%d", i/250, i%250+1)
}

// isPlane says which machines are control planes: the first three.
func isPlane(i int) bool { return i < 3 }

// writeTheirs writes a folder of talhelper's: two groups, two extensions each, one patch.
func writeTheirs(b *testing.B, folder string, machines int) {
	b.Helper()
	secrets, err := exec.Command(program(b, "peers/talhelper"), "gensecret").Output()
	if err != nil {
		b.Fatal(err)
	}
	const schematic = "  schematic:\n    customization:\n      systemExtensions:\n        officialExtensions: [siderolabs/iscsi-tools, siderolabs/util-linux-tools]\n"
	var text strings.Builder
	text.WriteString("clusterName: bench\ntalosVersion: v1.13.9\nkubernetesVersion: v1.36.3\nendpoint: https://172.20.0.10:6443\n" +
		"controlPlane:\n" + schematic + "worker:\n" + schematic +
		"  patches:\n    - |-\n      machine:\n        sysctls:\n          vm.max_map_count: \"262144\"\nnodes:\n")
	for i := range machines {
		fmt.Fprintf(&text, "  - {hostname: machine-%d, ipAddress: %s, controlPlane: %t, installDisk: /dev/sda}\n", i, address(i), isPlane(i))
	}
	write(b, filepath.Join(folder, "talconfig.yaml"), text.String())
	write(b, filepath.Join(folder, "talsecret.yaml"), string(secrets))
	write(b, filepath.Join(folder, "ours", "bench.secrets.yaml"), string(secrets))
}

// writeOurs writes the same as a folder of ours.
func writeOurs(b *testing.B, folder string, machines int) {
	b.Helper()
	var text strings.Builder
	text.WriteString(`apiVersion: minos.dev/v1alpha1
kind: TalosCluster
metadata: {name: bench}
spec:
  kubernetesVersion: v1.36.3
  talosVersion: v1.13.9
  endpoint: {host: 172.20.0.10}
  controlPlane: {talos: {}}
---
apiVersion: minos.dev/v1alpha1
kind: Location
metadata: {name: bench}
spec: {metal: {}}
---
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata: {name: plane}
spec: {machineType: ControlPlane, extensions: [iscsi-tools, util-linux-tools]}
---
apiVersion: minos.dev/v1alpha1
kind: NodeRole
metadata: {name: worker}
spec:
  extensions: [iscsi-tools, util-linux-tools]
  config: {patches: [{machine: {sysctls: {vm.max_map_count: "262144"}}}]}
`)
	for i := range machines {
		if i == 0 || i == 3 || i%perPool == 0 {
			role := map[bool]string{true: "plane", false: "worker"}[isPlane(i)]
			fmt.Fprintf(&text, "---\napiVersion: minos.dev/v1alpha1\nkind: NodePool\nmetadata: {name: pool-%d}\nspec:\n  clusterName: bench\n  role: %s\n"+
				"  locationRef: {kind: Location, name: bench}\n  machine:\n    metal:\n      hosts:\n", i, role)
		}
		fmt.Fprintf(&text, "        - {name: machine-%d, address: %s, disk: {path: /dev/sda}}\n", i, address(i))
	}
	write(b, filepath.Join(folder, "ours", "fleet.yaml"), text.String())
}

// write writes a file.
func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}
