// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/talos/extension"
)

// TestContent tells what is on a disk after things happened to it.
func TestContent(t *testing.T) {
	old, young := Image{Version: "v1.13.9"}, Image{Version: "v1.14.1"}
	installed := Content{}.Install(old)
	configured := installed.Configure([]byte("text"))
	configured.Identity, configured.Kubelet = "me", KubeletFiles{Key: []byte("key")}
	must := func(c Content, ok bool) Content {
		if !ok {
			t.Helper()
			t.Error("it was refused")
		}
		return c
	}
	tests := map[string]struct{ got, want Content }{
		"the first image has nothing to go back to":        {installed, Content{Slots: [2]*Image{&old, nil}}},
		"an upgrade takes the other slot, unproven":        {installed.Install(young), Content{Slots: [2]*Image{&old, &young}, Active: 1, Unproven: true}},
		"a third image takes the first slot again":         {installed.Install(young).Prove().Install(old), Content{Slots: [2]*Image{&old, &young}, Unproven: true}},
		"a boot that fails goes back":                      {must(installed.Install(young).Fail()), Content{Slots: [2]*Image{&old, &young}}},
		"a rollback goes back":                             {must(installed.Install(young).Prove().Revert()), Content{Slots: [2]*Image{&old, &young}}},
		"the configuration is wiped and the kubelet stays": {configured.Wipe([]string{"STATE"}), Content{Slots: [2]*Image{&old, nil}, Kubelet: configured.Kubelet}},
		"the kubelet is wiped and the configuration stays": {configured.Wipe([]string{"EPHEMERAL"}), Content{Slots: [2]*Image{&old, nil}, Config: []byte("text"), Identity: "me"}},
		"everything is wiped":                              {configured.Wipe(nil), Content{}},
		"an identity is made once":                         {configured.PowerOn("other"), func() Content { c := configured; c.Boots = 1; return c }()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, ok := installed.Install(young).Prove().Fail(); ok {
		t.Error("a slot that proved itself is left")
	}
	if _, ok := installed.Revert(); ok {
		t.Error("there is nothing to go back to")
	}
}

// TestFolderDisk expects a folder to keep content, and not to be installed twice.
func TestFolderDisk(t *testing.T) {
	folder := t.TempDir()
	disk, err := NewFolder(folder, Image{Version: "v1.13.9"})
	if err != nil {
		t.Fatal(err)
	}
	content, err := disk.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := content.Configure([]byte("text"))
	if err := disk.Save(want); err != nil {
		t.Fatal(err)
	}
	again, err := NewFolder(folder, Image{Version: "v1.14.1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Load()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestExtensionServices holds the rules of what a boot waits for.
func TestExtensionServices(t *testing.T) {
	catalogue, err := extension.Load()
	if err != nil {
		t.Fatal(err)
	}
	nvidia := "nvidia-container-toolkit-lts"
	tests := map[string]struct {
		extensions []string
		around     Surroundings
		want       string
	}{
		"without services":     {extensions: []string{"drbd", "spin"}},
		"zfs without a module": {extensions: []string{"zfs"}, want: `service "ext-zfs-service" waits for file "/dev/zfs" to exist`},
		"zfs with its module":  {extensions: []string{"zfs"}, around: Surroundings{Modules: []string{"zfs"}}},
		"tailscale":            {extensions: []string{"tailscale"}, want: `service "ext-tailscale" waits for extension service config "tailscale"`},
		"tailscale configured": {extensions: []string{"tailscale"}, around: Surroundings{Configured: []string{"tailscale"}}},
		"a GPU that is not there": {extensions: []string{nvidia}, around: Surroundings{Modules: []string{"nvidia"}},
			want: `service "ext-nvidia-cdi-gen" waits for service "ext-nvidia-persistenced" to be up; ` +
				`service "ext-nvidia-persistenced" waits for file "/sys/bus/pci/drivers/nvidia" to exist`},
		"a GPU":                        {extensions: []string{nvidia}, around: Surroundings{Devices: []string{"/sys/bus/pci/drivers/nvidia"}}},
		"a path that Talos itself has": {extensions: []string{"metal-agent"}},
		"one service after another":    {extensions: []string{"nfs-utils"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Waiting(ExtensionServices(catalogue, Image{Extensions: test.extensions}, test.around)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestMarks expects Talos's way with labels: its own follow, those of others stay.
func TestMarks(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"theirs": "a", "kept": "b"}}}
	applyMarks(node, map[string]string{"theirs": "mine", "new": "1", "gone": "1"}, nil)
	if !applyMarks(node, map[string]string{"theirs": "mine", "new": "2"}, nil) {
		t.Error("nothing changed")
	}
	if diff := cmp.Diff(map[string]string{"theirs": "a", "kept": "b", "new": "2"}, node.Labels); diff != "" {
		t.Error(diff)
	}
	if applyMarks(node, map[string]string{"theirs": "mine", "new": "2"}, nil) {
		t.Error("the same twice is a change")
	}
}

// TestStatus tells where a machine stopped.
func TestStatus(t *testing.T) {
	status := Status{Steps: blank()}
	status.reach(StepConfig, time.Now())
	if stopped, _ := status.Stopped(); stopped.Step != StepTrustd {
		t.Errorf("%+v", stopped)
	}
	status.stop(StepCNI, "no network")
	if stopped, _ := status.Stopped(); stopped.Step != StepCNI {
		t.Errorf("a step with a reason comes before one that only waits: %+v", stopped)
	}
	if status.stop(StepConfig, "late") || status.reach(StepConfig, time.Now()) {
		t.Error("a step that was reached changes")
	}
}

// TestFactory reads references as the Image Factory writes them.
func TestFactory(t *testing.T) {
	factory := &Factory{Extensions: map[string][]string{"abc": {"drbd"}}, Missing: []string{"f/metal-installer/abc:v1.0.0"}}
	image, err := factory.Image("f.example.com:5000/metal-installer/abc:v1.14.1")
	want := Image{Reference: "f.example.com:5000/metal-installer/abc:v1.14.1", Version: "v1.14.1", Schematic: "abc", Extensions: []string{"drbd"}}
	if diff := cmp.Diff(want, image); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, reference := range []string{"f/metal-installer/other:v1.14.1", "f/metal-installer/abc", "f/metal-installer/abc:v1.0.0"} {
		if _, err := factory.Image(reference); err == nil {
			t.Errorf("%s is found", reference)
		}
	}
}
