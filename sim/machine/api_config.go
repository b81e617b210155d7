// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configdiff"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ApplyConfiguration takes a configuration: to everybody's in maintenance mode, and then only to an administrator's.
func (s *machineService) ApplyConfiguration(ctx context.Context, in *machineapi.ApplyConfigurationRequest) (*machineapi.ApplyConfigurationResponse, error) {
	b := s.boot
	maintenance := !complete(b.config())
	if !maintenance && !authz.HasRole(ctx, role.Admin) {
		return nil, authz.ErrNotAuthorized
	}
	provider, warnings, err := b.setting().read(in.GetData())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if !maintenance && !complete(provider) {
		return nil, status.Error(codes.InvalidArgument, "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?")
	}
	how, err := b.mode(in.GetMode(), maintenance)
	if err != nil {
		return nil, err
	}
	answer := &machineapi.ApplyConfiguration{Mode: how, Warnings: warnings, ModeDetails: modeDetails[how]}
	if in.GetDryRun() {
		answer.ModeDetails, err = b.difference(how, provider)
	} else {
		err = b.apply(how, in, provider)
	}
	if err != nil {
		return nil, err
	}
	return &machineapi.ApplyConfigurationResponse{Messages: []*machineapi.ApplyConfiguration{answer}}, nil
}

// The modes by short names.
const (
	modeReboot   = machineapi.ApplyConfigurationRequest_REBOOT //nolint:staticcheck // releases before 1.14 have it
	modeAuto     = machineapi.ApplyConfigurationRequest_AUTO
	modeNoReboot = machineapi.ApplyConfigurationRequest_NO_REBOOT
	modeStaged   = machineapi.ApplyConfigurationRequest_STAGED
	modeTry      = machineapi.ApplyConfigurationRequest_TRY
)

// modeDetails are what Talos says of each.
var modeDetails = map[machineapi.ApplyConfigurationRequest_Mode]string{
	modeReboot:   "Applied configuration with a reboot",
	modeNoReboot: "Applied configuration without a reboot",
	modeStaged:   "Staged configuration to be applied after the next reboot",
	modeTry:      "Applied configuration without a reboot\nThe config is applied in 'try' mode and will be automatically reverted back",
}

// mode is the mode that a request comes down to on this release.
func (b *boot) mode(asked machineapi.ApplyConfigurationRequest_Mode, maintenance bool) (machineapi.ApplyConfigurationRequest_Mode, error) {
	switch {
	case asked == modeAuto, asked == modeReboot && maintenance:
		return modeNoReboot, nil
	case asked == modeReboot && atLeast(b.image.Version, 14):
		return asked, status.Error(codes.Unimplemented, "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead")
	}
	if _, known := modeDetails[asked]; !known {
		return asked, status.Errorf(codes.InvalidArgument, "incorrect mode '%s' specified for the apply config call", asked)
	}
	return asked, nil
}

// difference is the answer to a dry run.
func (b *boot) difference(how machineapi.ApplyConfigurationRequest_Mode, provider talosconfig.Provider) (string, error) {
	text := "No changes."
	if now := b.config(); now != nil {
		found, err := configdiff.DiffConfigs(now, provider)
		if err != nil {
			return "", err
		}
		if found != "" {
			text = found
		}
	}
	return fmt.Sprintf("Dry run summary:\n%s (skipped in dry-run).\n%s", modeDetails[how], text), nil
}

// apply keeps a configuration, puts it in force, or both.
func (b *boot) apply(how machineapi.ApplyConfigurationRequest_Mode, in *machineapi.ApplyConfigurationRequest, provider talosconfig.Provider) error {
	before := b.config()
	if how == modeNoReboot && complete(before) && b.turned().NeedsReboot {
		// Talos shows what differs, and so whatever the configuration holds.
		return fmt.Errorf("this config change can't be applied in immediate mode\ndiff: %s", in.GetData())
	}
	if how != modeTry {
		keep := func(content Content) (Content, error) { return content.Configure(in.GetData()), nil }
		if err := b.write(keep); err != nil {
			return err
		}
	}
	b.say(StepConfig, "applied a configuration, mode %s", how)
	switch how {
	case modeStaged:
		return nil
	case modeReboot:
		return accept(b.send(command{stage: stageRebooting, then: again}))
	case modeTry:
		after := constants.ConfigTryTimeout
		if in.GetTryModeTimeout() != nil {
			after = in.GetTryModeTimeout().AsDuration()
		}
		b.revertAfter(after, provider, before)
	}
	b.use(provider)
	b.wake()
	return nil
}

// revertAfter puts the configuration back that was, unless another came meanwhile or the boot ended.
func (b *boot) revertAfter(after time.Duration, tried, before talosconfig.Provider) {
	timer := time.AfterFunc(b.rack.environment.scaled(after), func() {
		if b.context.Err() == nil && b.config() == tried {
			b.say(StepConfig, "the configuration that was tried is reverted")
			b.use(before)
			b.wake()
		}
	})
	context.AfterFunc(b.context, func() { timer.Stop() })
}
