// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "minos.dev/minos/api/v1alpha1"
)

func TestRefused(t *testing.T) {
	tests := map[string]string{
		"profile=homlab":                                  `--profile: "homlab" is not one of homelab, production, edge, hosted, did you mean "homelab"?`,
		"profile=homelab name=Home":                       `--name: "Home" is not made of lower-case letters, digits and '-', from a letter or digit to a letter or digit`,
		"profile=homelab name=a.b":                        `--name: "a.b" is not made of lower-case letters, digits and '-', from a letter or digit to a letter or digit`,
		"profile=homelab name=" + strings.Repeat("a", 33): `--name: "` + strings.Repeat("a", 33) + `" has 33 characters, and 32 are allowed: names of pools are made from it`,

		"profile=homelab talos=v1.11":        `--talos: "v1.11" is too old: folders are made for Talos 1.12 and newer`,
		"profile=homelab talos=v1.99":        `--talos: no release of "v1.99" is known here: give a full version such as v1.14.1`,
		"profile=homelab talos=v1.99.1":      "--talos: Talos v1.99.1 is not known to this release of Minos: choose a version that it knows, or upgrade Minos",
		"profile=homelab talos=1.13.9":       `--talos: talos version "1.13.9" is not a full version such as v1.13.9`,
		"profile=homelab kubernetes=v1.30.0": "--kubernetes: Talos v1.14.1 does not run Kubernetes v1.30.0: it runs 1.32 to 1.37",
		"profile=homelab kubernetes=new":     `--kubernetes: kubernetes version "new": `,
		"profile=homelab arch=riscv64":       `--arch: "riscv64" is not one of amd64, arm64`,

		"profile=homelab platform=metall":                                `--platform: "metall" is not one of metal, virtual, cloud, edge, did you mean "metal"?`,
		"profile=homelab topology=two":                                   `--topology: "two" is not one of single, three, five`,
		"profile=homelab control-plane=a=1.2.3.4,b=1.2.3.5":              "--control-plane: there are 2, and etcd wants one, three or five",
		"profile=homelab control-plane=a=1.2.3.4 topology=three":         "--control-plane: there are 1, and --topology three is 3: name as many, or leave --topology out",
		"profile=homelab control-plane=a":                                `--control-plane: "a" is not of the form NAME=ADDRESS, for example node-1=192.0.2.11`,
		"profile=homelab control-plane=A=1.2.3.4":                        `--control-plane: "A": a host is named with lower-case letters, digits and '-'`,
		"profile=homelab worker=a=1.2.3":                                 `--worker: a: "1.2.3" is not an IP address, such as 192.0.2.11`,
		"profile=homelab control-plane=a=1.2.3.4 worker=a=1.2.3.5":       `--worker: two machines are called "a": rename one of them`,
		"profile=homelab worker=a=192.168.1.11":                          "--worker: home-cp-1 and a both have the address 192.168.1.11: give each its own",
		"profile=homelab workloads=maybe":                                `--workloads: "maybe" is not one of true, false`,
		"profile=edge workloads=false":                                   "--worker: there is none, and the control planes take no workloads: give --worker NAME=ADDRESS, or --workloads",
		"profile=homelab disk=sda":                                       `--disk: "sda" is not a device: give a path such as /dev/sda or one of /dev/disk/by-id`,
		"profile=homelab management=operator":                            "--management: the operator runs in a management cluster: choose git or ci, or --profile hosted",
		"profile=production topology=single":                             "--topology: single is a single point of failure, and this is for production: choose three, or another profile",
		"profile=production control-plane=a=1.2.3.4,b=1.2.3.5,c=1.2.3.6": "--endpoint: several control planes need one of their own: give a free address that they share and --vip-link, or a load balancer",

		"profile=homelab cni=cillium":                                `--cni: "cillium" is not one of flannel, cilium, calico, none, did you mean "cilium"?`,
		"profile=homelab storage=ceph":                               `--storage: "ceph" is not one of none, local-path, linstor, longhorn, mayastor, nfs, rook-ceph`,
		"profile=production worker=a=1.2.3.4":                        "--storage: longhorn keeps copies on 3 machines, and there are 1: add workers, or choose another",
		"profile=hosted storage=rook-ceph":                           "--storage: rook-ceph wants disks of its own, and machines of a hosted cluster have one: choose another, or none",
		"profile=homelab extensions=drdb":                            `--extensions: system extension "drdb" does not exist, did you mean "drbd" (in every release)?`,
		"profile=homelab talos=v1.12 extensions=joydev":              `--extensions: system extension "joydev" exists since v1.13.0, and not in v1.12.11: choose a newer Talos version, or do without`,
		"profile=homelab arch=arm64 extensions=i915":                 `--extensions: system extension "i915" has nothing for arm64: it is for [amd64] only`,
		"profile=homelab extensions=tailscale":                       "--extensions: tailscale waits for settings that are yours to write: leave it out, and add a role such as 'minos role show gateway' afterwards",
		"profile=homelab extensions=qemu-guest-agent":                "--extensions: qemu-guest-agent waits for its hypervisor, and --platform is metal: machines would never end their boot; leave it out",
		"profile=homelab extensions=nvidia-fabricmanager-production": "--extensions: nvidia-fabricmanager-production needs nvidia-container-toolkit-production in the same image: add it",

		"profile=homelab secrets=pgp":          `--secrets: "pgp" is not one of age`,
		"profile=homelab age=AGE-SECRET-KEY-1": "--age: a secret key is no recipient: give the public one, which starts with age1",
		"profile=homelab upgrades=yolo":        `--upgrades: "yolo" is not one of rolling, canary, blue-green`,
		"profile=production backup=none":       "--backup: none is a risk that production does not take in silence: say how etcd is saved, or why not with --backup-reason",
		"profile=homelab backup=":              "--backup: nothing is said: say how etcd is saved, or none",
		"profile=homelab owner=":               "--owner: nobody is named: give a person or a team, or set USER",
		"profile=homelab date=today":           `--date: "today" is not a date such as 2026-11-15`,

		"profile=homelab endpoint=https://a:6443":                            `--endpoint: "https://a:6443" is not a host name or an IP address, without https:// and without a port`,
		"profile=production endpoint=192.0.2.12":                             "--endpoint: 192.0.2.12 is home-cp-2 alone, and would be gone with it: give a free address that the control planes share, or a load balancer",
		"profile=homelab vip-link=eno1":                                      "--endpoint: 192.168.1.11 is the address of home-cp-1: a shared address must be free",
		"profile=production endpoint=api.example.com vip-link=eno1":          `--vip-link: "api.example.com" is a name, and only an address can be shared: give an address as --endpoint, or leave --vip-link out`,
		"profile=production platform=cloud endpoint=192.0.2.9 vip-link=eno1": "--vip-link: the network of a cloud does not carry an address that machines share: leave it out, and give a load balancer as --endpoint",
		"profile=homelab vip-link=/dev/eth0":                                 `--vip-link: "/dev/eth0" is not the name of a network link, such as eno1`,
		"profile=hosted disk=/dev/sda":                                       `--disk: "/dev/sda" has no place in the profile hosted, where the management cluster makes machines and secrets: leave it out`,
		"profile=hosted platform=metal":                                      `--platform: "metal" has no place in the profile hosted, where the management cluster makes machines and secrets: leave it out`,
	}
	for words, want := range tests {
		t.Run(words, func(t *testing.T) {
			_, err := Fill(facts, flags(words), Presets)
			if err == nil {
				t.Fatal("nothing is wrong")
			}
			if got := err.Error(); got != want && !(strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestOneLine keeps what would end a comment, or a field, out of the files.
func TestOneLine(t *testing.T) {
	for _, name := range []string{"owner", "backup", "disk", "endpoint"} {
		_, err := Fill(facts, map[string]string{"profile": "homelab", name: "/dev/a\nkind: Other"}, Presets)
		if err == nil || !strings.HasSuffix(err.Error(), "has more than one line") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRefusedByTheFiles are answers that no question can judge alone: the rules of the files do.
func TestRefusedByTheFiles(t *testing.T) {
	for words, want := range map[string]string{
		"profile=homelab control-plane=a=10.244.0.9": "these answers do not fit together: cluster.yaml:",
		"profile=homelab worker=a=10.96.0.9":         "these answers do not fit together: pools.yaml:",
	} {
		answers, err := Fill(facts, flags(words), Presets)
		if err != nil {
			t.Fatal(err)
		}
		if files, err := Files(answers); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %d files, %v; want %s…", words, len(files), err, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for words, want := range map[string][2]string{
		"":                                  {"v1.14.1", "v1.37.0"},
		"talos=v1.12":                       {"v1.12.11", "v1.35.8"},
		"talos=v1.13":                       {"v1.13.9", "v1.36.3"},
		"talos=v1.14":                       {"v1.14.1", "v1.37.0"},
		"talos=v1.12.3":                     {"v1.12.3", "v1.35.8"},
		"talos=v1.13.9 kubernetes=v1.34.1":  {"v1.13.9", "v1.34.1"},
		"talos=v1.14.0-rc.1":                {"v1.14.0-rc.1", "v1.37.0"},
		"talos=v1.12.99 kubernetes=v1.35.0": {"v1.12.99", "v1.35.0"},
	} {
		answers, err := Fill(facts, flags("profile=homelab "+words), Presets)
		if err != nil {
			t.Errorf("%s: %v", words, err)
		}
		if got := [2]string{string(answers.Talos), string(answers.Kubernetes)}; got != want {
			t.Errorf("%s: got %v, want %v", words, got, want)
		}
	}
}

// TestKubernetesOfALineThatIsNotInTheTable asks Talos's own matrix.
func TestKubernetesOfALineThatIsNotInTheTable(t *testing.T) {
	got, err := newestKubernetes("v1.11.6")
	if want := api.KubernetesVersion("v1.34.0"); got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// asked records which questions reach a person, who answers some of them and else presses Enter.
func asked(t *testing.T, given, answers string) (Answers, []string) {
	t.Helper()
	said := flags(answers)
	var names []string
	filled, err := Fill(facts, flags(given), func(q Question, preset string, wrong error) (string, error) {
		if wrong != nil {
			t.Errorf("%s: %v", q.Name, wrong)
			return "", wrong
		}
		if q.Ask == "" || q.Help == "" {
			t.Errorf("%s has no words", q.Name)
		}
		names = append(names, q.Name)
		if text, ok := said[q.Name]; ok {
			return text, nil
		}
		return preset, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return filled, names
}

func TestWhatIsAsked(t *testing.T) {
	for name, test := range map[string]struct{ given, answers, want string }{
		"everything": {
			"", "profile=production",
			"profile name talos kubernetes platform topology workloads control-plane worker disk management cni storage extensions age upgrades backup endpoint vip-link owner",
		},
		"no link for one control plane": {
			"profile=homelab name=a", "",
			"talos kubernetes platform topology workloads control-plane worker disk management cni storage extensions age upgrades backup endpoint owner",
		},
		"why there is no backup": {
			"profile=edge name=a talos=v1.13 kubernetes=v1.36.0 platform=edge topology=single workloads=true control-plane= worker= disk=/dev/sda management=git cni=none storage=none extensions=none age=", "backup=none",
			"upgrades backup backup-reason endpoint owner",
		},
		"nothing about machines of a hosted cluster": {
			"profile=hosted", "", "name talos kubernetes cni storage extensions upgrades backup endpoint owner",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, names := asked(t, test.given, test.answers)
			if diff := cmp.Diff(strings.Fields(test.want), names); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAskedAgain answers wrongly at first.
func TestAskedAgain(t *testing.T) {
	var problems []string
	tries := map[string][]string{"cni": {"cillium", "Cilium", "cilium"}, "disk": {"sda", "/dev/vda"}}
	answers, err := Fill(facts, flags("profile=homelab"), func(q Question, preset string, wrong error) (string, error) {
		if wrong != nil {
			problems = append(problems, q.Name)
		}
		if left := tries[q.Name]; len(left) > 0 {
			tries[q.Name] = left[1:]
			return left[0], nil
		}
		return preset, nil
	})
	if err != nil || answers.CNI != "cilium" || answers.Disk != "/dev/vda" {
		t.Errorf("got %s, %s, %v", answers.CNI, answers.Disk, err)
	}
	if answers.guessed["disk"] || !answers.guessed["endpoint"] {
		t.Error("what was typed counts as made up, or what was not does not")
	}
	if diff := cmp.Diff([]string{"disk", "cni", "cni"}, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheAskerMayGiveUp ends everything.
func TestTheAskerMayGiveUp(t *testing.T) {
	gone := errors.New("gone")
	_, err := Fill(facts, nil, func(Question, string, error) (string, error) { return "", gone })
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// TestNothingIsMadeUp for who says everything.
func TestNothingIsMadeUp(t *testing.T) {
	words := "profile=production control-plane=a=10.1.0.1,b=10.1.0.2,c=10.1.0.3 worker=d=10.1.0.4,e=10.1.0.5,f=10.1.0.6 " +
		"disk=/dev/nvme0n1 endpoint=10.1.0.9 vip-link=eth0"
	answers, files := made(t, words)
	for name, text := range files {
		if strings.Contains(text, "change me") {
			t.Errorf("%s: something is to be changed:\n%s", name, text)
		}
	}
	want := []string{
		"install Cilium once the API server answers: until then no node is ready",
		"install Longhorn with defaultSettings.defaultDataPath=/var/mnt/longhorn, in a namespace that allows privileged pods",
		"set up the backup (etcd-snapshots), and restore it once to see that it works",
	}
	if diff := cmp.Diff(want, answers.Todo()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"kind: Layer2VIPConfig\n        name: 10.1.0.9\n        link: eth0\n", "name: f\n          address: 10.1.0.6\n"} {
		if !strings.Contains(files["pools.yaml"], text) {
			t.Errorf("pools.yaml has no %q:\n%s", text, files["pools.yaml"])
		}
	}
	if strings.Count(files["pools.yaml"], "Layer2VIPConfig") != 1 {
		t.Error("workers share the address too")
	}
}

// TestMadeUpIsMarked wherever something stands that must be true of the place.
func TestMadeUpIsMarked(t *testing.T) {
	for words, want := range map[string]int{
		"profile=homelab":                             7, // an endpoint, three addresses, three disks
		"profile=homelab disk=/dev/sda":               4,
		"profile=homelab control-plane=a=10.1.0.1":    1, // its disk
		"profile=edge":                                3,
		"profile=production":                          15, // with the shared address and its link
		"profile=production platform=cloud":           13,
		"profile=production endpoint=api.example.com": 12,
		"profile=production vip-link=eth1":            14,
		"profile=hosted":                              0,
	} {
		_, files := made(t, words)
		if got := strings.Count(files["cluster.yaml"]+files["pools.yaml"]+files["roles.yaml"], "change me"); got != want {
			t.Errorf("%s: %d marks, want %d", words, got, want)
		}
	}
}
