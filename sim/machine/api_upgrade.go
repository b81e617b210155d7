// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Upgrade is the form of 1.12 and before, which later releases have too: one call that installs and reboots.
func (s *machineService) Upgrade(_ context.Context, in *machineapi.UpgradeRequest) (*machineapi.UpgradeResponse, error) {
	b := s.boot
	if err := b.canUpgrade(in.GetImage()); err != nil {
		return nil, err
	}
	answer := &machineapi.UpgradeResponse{Messages: []*machineapi.Upgrade{{Ack: "Upgrade request received", ActorId: b.begin.Identity}}}
	upgrade := command{stage: stageUpgrading, takes: b.rack.environment.Durations.Install, change: b.installing(in.GetImage()), then: again}
	if in.GetStage() {
		upgrade = command{stage: stageRebooting, then: again, change: func(content Content) (Content, error) {
			content.Staged = in.GetImage()
			return content, b.room()
		}}
	}
	b.say("", "asked to upgrade to %s, staged: %t", in.GetImage(), in.GetStage())
	return answer, accept(b.send(upgrade))
}

// canUpgrade says what Talos says before it begins.
func (b *boot) canUpgrade(reference string) error {
	if _, installed := b.begin.Running(); !installed {
		return status.Error(codes.FailedPrecondition, "Talos is not installed")
	}
	if _, err := b.rack.environment.Registry.Image(reference); err != nil {
		return status.Errorf(codes.Unknown, "error validating installer image %q: %v", reference, err)
	}
	return nil
}

// Rollback boots what was there before the last upgrade.
func (s *machineService) Rollback(context.Context, *machineapi.RollbackRequest) (*machineapi.RollbackResponse, error) {
	content, err := s.boot.options.Disk.Load()
	if err != nil {
		return nil, err
	}
	if _, can := content.Revert(); !can {
		return nil, status.Error(codes.Unknown, "there is nothing to roll back to")
	}
	s.boot.say("", "asked to roll back")
	revert := func(content Content) (Content, error) {
		content, _ = content.Revert()
		return content, nil
	}
	answer := &machineapi.RollbackResponse{Messages: []*machineapi.Rollback{{}}}
	return answer, accept(s.boot.send(command{stage: stageRebooting, change: revert, then: again}))
}

// imageService pulls images, since 1.13.
type imageService struct {
	machineapi.UnimplementedImageServiceServer
	boot *boot
}

// Pull fetches an image.
func (s *imageService) Pull(in *machineapi.ImageServicePullRequest, stream grpc.ServerStreamingServer[machineapi.ImageServicePullResponse]) error {
	if _, err := s.boot.rack.environment.Registry.Image(in.GetImageRef()); err != nil {
		return status.Error(codes.NotFound, err.Error())
	}
	if err := s.boot.room(); err != nil {
		return status.Errorf(codes.Unknown, "failed to pull image %q: %v", in.GetImageRef(), err)
	}
	s.boot.mutex.Lock()
	s.boot.pulled[in.GetImageRef()] = true
	s.boot.mutex.Unlock()
	return stream.Send(&machineapi.ImageServicePullResponse{Response: &machineapi.ImageServicePullResponse_Name{Name: in.GetImageRef()}})
}

// lifecycleService upgrades, since 1.13: the image is pulled before and the reboot asked for after, both by the caller.
type lifecycleService struct {
	machineapi.UnimplementedLifecycleServiceServer
	boot *boot
}

// Upgrade installs an image that was pulled, and does not reboot.
func (s *lifecycleService) Upgrade(in *machineapi.LifecycleServiceUpgradeRequest, stream grpc.ServerStreamingServer[machineapi.LifecycleServiceUpgradeResponse]) error {
	b, reference := s.boot, in.GetSource().GetImageName()
	if err := b.canUpgrade(reference); err != nil {
		return err
	}
	b.mutex.Lock()
	pulled := b.pulled[reference]
	b.mutex.Unlock()
	if !pulled {
		return status.Errorf(codes.NotFound, "image %q is not there: pull it first", reference)
	}
	if err := stream.Send(said(fmt.Sprintf("installing %s", reference))); err != nil {
		return err
	}
	if !b.rack.environment.wait(stream.Context(), b.rack.environment.Durations.Install) {
		return stream.Context().Err()
	}
	code := int32(0)
	if err := b.save(b.installing(reference)); err != nil {
		code = 1
		b.say("", "upgrade failed: %v", err)
		if err := stream.Send(said(err.Error())); err != nil {
			return err
		}
	}
	return stream.Send(&machineapi.LifecycleServiceUpgradeResponse{Progress: &machineapi.LifecycleServiceInstallProgress{
		Response: &machineapi.LifecycleServiceInstallProgress_ExitCode{ExitCode: code},
	}})
}

// said is a line of an installer.
func said(line string) *machineapi.LifecycleServiceUpgradeResponse {
	return &machineapi.LifecycleServiceUpgradeResponse{Progress: &machineapi.LifecycleServiceInstallProgress{
		Response: &machineapi.LifecycleServiceInstallProgress_Message{Message: line},
	}}
}
