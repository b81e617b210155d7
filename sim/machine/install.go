// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
)

// install writes an image and reboots into it. A machine that cannot keeps the system that it has.
func (b *boot) install(reference string) verdict {
	end := b.obey(b.context, command{
		stage: stageInstalling, takes: b.rack.environment.Durations.Install, change: b.installing(reference), then: again,
	})
	if end != goingOn {
		return end
	}
	if b.begin.Staged != "" { // it is tried once
		if err := b.save(func(content Content) (Content, error) { content.Staged = ""; return content, nil }); err == nil {
			return again
		}
	}
	b.stop(StepConfig, fmt.Sprintf("install %s: the image cannot be installed", reference))
	return b.hang()
}

// installing is what an installer does to the disk.
func (b *boot) installing(reference string) func(Content) (Content, error) {
	return func(content Content) (Content, error) {
		if b.turned().Upgrade == UpgradeFails {
			return content, errors.New("installer exited with code 1")
		}
		if err := b.room(); err != nil {
			return content, err
		}
		image, err := b.rack.environment.Registry.Image(reference)
		if err != nil {
			return content, err
		}
		if running, found := content.Running(); found {
			if err := upgradeable(running.Version, image.Version); err != nil {
				return content, err
			}
		}
		return content.Install(image), nil
	}
}

// upgradeable asks Talos whether one release can follow another.
func upgradeable(from, to string) error {
	host, err := compatibility.ParseTalosVersion(&machineapi.VersionInfo{Tag: from})
	if err != nil {
		return err
	}
	target, err := compatibility.ParseTalosVersion(&machineapi.VersionInfo{Tag: to})
	if err != nil {
		return err
	}
	return target.UpgradeableFrom(host)
}
