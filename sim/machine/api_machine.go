// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"time"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// machineService is Talos's oldest service, as far as Minos and talosctl need it.
type machineService struct {
	machineapi.UnimplementedMachineServiceServer
	boot *boot
}

// atLeast says whether a version is of a minor release of Talos 1, or of a later one.
func atLeast(version string, minor uint64) bool {
	parsed, err := semver.ParseTolerant(version)
	return err == nil && (parsed.Major > 1 || parsed.Minor >= minor)
}

// Version says what runs.
func (s *machineService) Version(context.Context, *emptypb.Empty) (*machineapi.VersionResponse, error) {
	return &machineapi.VersionResponse{Messages: []*machineapi.Version{{
		Version:  &machineapi.VersionInfo{Tag: s.boot.image.Version, Os: "linux", Arch: s.boot.options.Architecture},
		Platform: &machineapi.PlatformInfo{Name: s.boot.options.Platform, Mode: s.boot.setting().String()},
	}}}, nil
}

// Hostname says the name.
func (s *machineService) Hostname(context.Context, *emptypb.Empty) (*machineapi.HostnameResponse, error) {
	return &machineapi.HostnameResponse{Messages: []*machineapi.Hostname{{Hostname: s.boot.name()}}}, nil
}

// ServiceList says what runs and what waits.
func (s *machineService) ServiceList(context.Context, *emptypb.Empty) (*machineapi.ServiceListResponse, error) {
	list := &machineapi.ServiceList{}
	for _, service := range s.boot.allServices() {
		health := &machineapi.ServiceHealth{Healthy: service.State != serviceWaiting, Unknown: service.State == serviceWaiting}
		message := service.State
		if service.Waits != "" {
			message = "Waiting for " + service.Waits
		}
		list.Services = append(list.Services, &machineapi.ServiceInfo{
			Id: service.Name, State: service.State, Health: health,
			Events: &machineapi.ServiceEvents{Events: []*machineapi.ServiceEvent{{Msg: message, State: service.State}}},
		})
	}
	return &machineapi.ServiceListResponse{Messages: []*machineapi.ServiceList{list}}, nil
}

// allServices are Talos's own and those of extensions.
func (b *boot) allServices() []ServiceState {
	all := []ServiceState{}
	for _, name := range []string{"apid", "containerd", "machined"} {
		all = append(all, ServiceState{Name: name, State: serviceRunning})
	}
	if !complete(b.config()) {
		return all
	}
	all = append(all, ServiceState{Name: "cri", State: serviceRunning})
	kubelet := ServiceState{Name: "kubelet", State: serviceRunning}
	if b.client() == nil {
		kubelet = ServiceState{Name: "kubelet", State: serviceWaiting, Waits: "a client certificate"}
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append(append(all, kubelet), b.services...)
}

// accept turns a machine's refusal into Talos's.
func accept(err error) error {
	if err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// Reboot reboots.
func (s *machineService) Reboot(context.Context, *machineapi.RebootRequest) (*machineapi.RebootResponse, error) {
	s.boot.say("", "asked to reboot")
	answer := &machineapi.RebootResponse{Messages: []*machineapi.Reboot{{}}}
	return answer, accept(s.boot.send(command{stage: stageRebooting, then: again}))
}

// Shutdown switches off. The machine stays off until its power is switched on.
func (s *machineService) Shutdown(context.Context, *machineapi.ShutdownRequest) (*machineapi.ShutdownResponse, error) {
	s.boot.say("", "asked to shut down")
	answer := &machineapi.ShutdownResponse{Messages: []*machineapi.Shutdown{{}}}
	return answer, accept(s.boot.send(command{stage: stageShuttingDown, change: switchOff, then: down}))
}

// switchOff is a disk of a machine that was shut down.
func switchOff(content Content) (Content, error) {
	content.Off = true
	return content, nil
}

// Reset wipes, and then reboots or switches off.
func (s *machineService) Reset(_ context.Context, in *machineapi.ResetRequest) (*machineapi.ResetResponse, error) {
	var partitions []string
	for _, partition := range in.GetSystemPartitionsToWipe() {
		if !partition.GetWipe() {
			continue
		}
		if partition.GetLabel() != partitionState && partition.GetLabel() != partitionEphemeral && partition.GetLabel() != "META" {
			return nil, status.Errorf(codes.Unknown, "failed to get system volume: %s", partition.GetLabel())
		}
		partitions = append(partitions, partition.GetLabel())
	}
	if in.GetMode() == machineapi.ResetRequest_USER_DISKS {
		partitions = []string{"none of the system's"}
	}
	s.boot.say("", "asked to reset %v", partitions)
	wipe := command{stage: stageResetting, takes: time.Second, then: again, change: func(content Content) (Content, error) {
		content = content.Wipe(partitions)
		content.Off = !in.GetReboot()
		return content, nil
	}}
	if !in.GetReboot() {
		wipe.then = down
	}
	return &machineapi.ResetResponse{Messages: []*machineapi.Reset{{ActorId: s.boot.begin.Identity}}}, accept(s.boot.send(wipe))
}

// EtcdSnapshot streams a snapshot from a control plane. There is no etcd behind it: the bytes only say whose they are.
func (s *machineService) EtcdSnapshot(_ *machineapi.EtcdSnapshotRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	if provider := s.boot.config(); !complete(provider) || !provider.Machine().Type().IsControlPlane() {
		return status.Error(codes.Unimplemented, "etcd snapshot is only available on control plane nodes")
	}
	return stream.Send(&common.Data{Bytes: []byte("simulated etcd snapshot of " + s.boot.name() + "\n")})
}
