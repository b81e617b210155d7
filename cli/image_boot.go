// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/api/load"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/boot"
	"minos.dev/minos/talos/extension"
	"minos.dev/minos/talos/fleet"
	"minos.dev/minos/talos/image"
)

// newImageBoot returns the command that says how machines of a role boot.
func newImageBoot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "boot ROLE [DIR]",
		Short: "Say whether a machine of a role ends its boot",
		Long: `Says in advance how a machine with the image of a role boots: which services
its extensions start, what each waits for, what brings that, and whether the
boot ends. A service that waits for ever keeps Talos from ending its boot: the
Node may be Ready, and the machine reboots after 70 minutes, again and again.

The machine has the configuration that the role leads to, or that of --config.
It has the graphics processor that the role asks for, or that of --gpu, and what
--device names; nothing else. Exits with 3 if the boot does not end.`,
		Example: "minos image boot compute\nminos image boot gateway fleet --config worker.yaml\nminos image boot guest fleet --device /dev/virtio-ports/org.qemu.guest_agent.0",
	}
	format := OutputFlag(cmd)
	asked := &bootQuestion{}
	talosFlag(cmd, &asked.image)
	cmd.Flags().StringVar(&asked.image.Platform, "platform", image.Metal, "`platform` by Talos's name for it")
	_ = cmd.RegisterFlagCompletionFunc("platform", cobra.FixedCompletions(image.Platforms(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&asked.config, "config", "", "`file` of the machine configuration, if not that of the role")
	cmd.Flags().StringArrayVar(&asked.devices, "device", nil, "`path` that the hardware or the hypervisor brings; may be given several times")
	gpu := &choice[string]{value: &asked.gpu, accepted: []string{"nvidia", "amd", "intel", "none"}, kind: "vendor"}
	cmd.Flags().Var(gpu, "gpu", "maker of the graphics processor: "+orList(gpu.accepted))
	_ = cmd.RegisterFlagCompletionFunc("gpu", gpu.complete) // as in OutputFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		role, err := readRole(cmd, args)
		if err != nil {
			return err
		}
		answer, err := asked.predict(role)
		if err != nil {
			return err
		}
		if err := Print(cmd.OutOrStdout(), *format, answer, answer.table); err != nil {
			return err
		}
		sayAssumed(cmd, asked.image.Version, role)
		return answer.conclude(cmd)
	}
	return cmd
}

// A bootQuestion is what is known of a machine.
type bootQuestion struct {
	image       image.Image
	config, gpu string
	devices     []string
}

// A predictedBoot is how a machine of a role boots.
type predictedBoot struct {
	Role      string           `json:"role"`
	Talos     api.TalosVersion `json:"talos"`
	Completes bool             `json:"completes"`
	Services  []boot.Service   `json:"services"`
	// Then is what follows if the boot does not end.
	Then []string `json:"then,omitempty"`

	blocked []boot.Service
}

// predict answers the question for a role.
func (q *bootQuestion) predict(role *api.NodeRole) (*predictedBoot, error) {
	found, err := image.For(role, q.image)
	if err != nil {
		return nil, err
	}
	if _, err := found.InstallerImage(); err != nil { // which knows the platforms
		return nil, err
	}
	catalogue, err := extension.Load()
	if err != nil {
		return nil, err
	}
	text, err := q.configuration(role)
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes(text)
	if err != nil {
		return nil, fmt.Errorf("the machine configuration cannot be read: %w", err)
	}
	around := boot.Configured(provider)
	around.Devices, around.Platform, around.GPU = q.devices, q.image.Platform, q.gpu
	if hardware := role.Spec.Hardware; q.gpu == "" && hardware != nil {
		around.GPU = strings.ToLower(string(hardware.GPU))
	}
	prediction := boot.Predict(catalogue, image.Extensions(role), around)
	answer := &predictedBoot{
		Role: role.Name, Talos: q.image.Version, Completes: prediction.Completes(), Services: prediction.Services, blocked: prediction.Blocked(),
	}
	if !answer.Completes {
		answer.Then = boot.Loop(false)
	}
	return answer, nil
}

// configuration is the machine configuration: that of the file, or what the role leads to.
func (q *bootQuestion) configuration(role *api.NodeRole) ([]byte, error) {
	if q.config != "" {
		text, err := readText(q.config)
		return []byte(text), err
	}
	cluster := &api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	cluster.Spec.TalosVersion, cluster.Spec.KubernetesVersion = q.image.Version, "v"+constants.DefaultKubernetesVersion
	cluster.Spec.ControlPlane.Talos = &api.TalosControlPlane{}
	location := &api.Location{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	location.Spec.Sim = &api.SimLocation{}
	pool := &api.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	pool.Spec.ClusterName, pool.Spec.Role = "any", api.Name(role.Name)
	pool.Spec.LocationRef = api.LocationReference{Kind: "Location", Name: "any"}
	pool.Spec.Machine.Sim = &api.SimMachine{}
	all, err := fleet.New([]load.Object{cluster, location, pool, role})
	if err != nil {
		return nil, err
	}
	machines, err := all.Rehearse(pool)
	if err != nil {
		return nil, fmt.Errorf("role %q: %w", role.Name, err)
	}
	return machines[0].Config, nil
}

// table is the answer for people: a row for each thing that a service waits for.
func (b *predictedBoot) table() Table {
	table := Table{Columns: []string{"Service", "Waits for", "Provided by", "Verdict"}}
	for _, service := range b.Services {
		verdict := map[boot.State]string{boot.Provided: "runs", boot.Missing: "waits for ever"}[service.State]
		if service.Once && service.State == boot.Provided {
			verdict = "ends"
		}
		if len(service.Needs) == 0 {
			table.Rows = append(table.Rows, []string{service.Name, "nothing", "", verdict})
		}
		for _, need := range service.Needs {
			by := need.By
			if need.State == boot.Missing {
				by = "nothing"
			}
			table.Rows = append(table.Rows, []string{service.Name, string(need.Kind) + " " + need.Name, by, verdict})
		}
	}
	return table
}

// conclude says how the boot ends, and what to do if it does not.
func (b *predictedBoot) conclude(cmd *cobra.Command) error {
	if b.Completes {
		say(cmd, "The boot ends.")
		return nil
	}
	say(cmd, "The boot does not end.")
	for _, sentence := range b.Then {
		say(cmd, "%s", sentence)
	}
	for _, service := range b.blocked {
		if need, lacks := service.Lacking(); lacks {
			say(cmd, "%s: %s", service.Name, need.Remedy)
		}
	}
	return Exit(ExitFindings, nil)
}
