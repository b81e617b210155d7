// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"minos.dev/minos/plan/machines"
	"minos.dev/minos/talos/pki"
)

// revise gives a machine a configuration that Talos takes while it runs. Talos itself refuses one that needs a reboot. What fails is
// tried again: the machine works as before meanwhile, and its status shows the revision that it has.
func (s *scope) revise(ctx context.Context, identity *pki.Secrets, address string) {
	wanted := string(s.machine.Spec.Revision)
	if given := s.machine.Annotations[machines.AnnotationRevision]; given == "" || given == wanted {
		return
	}
	if err := s.give(ctx, identity, address); err != nil {
		log.FromContext(ctx).Info("the configuration could not be changed live", "revision", wanted, "cause", plain(err))
		s.after = again
		return
	}
	if err := s.annotate(ctx, map[string]string{machines.AnnotationRevision: wanted}); err != nil {
		s.after = again // it is given once more, which changes nothing
	}
}

// give has Talos take the configuration.
func (s *scope) give(ctx context.Context, identity *pki.Secrets, address string) error {
	data, err := s.configuration(ctx)
	if err != nil {
		return err
	}
	client, err := s.connect(ctx, identity, address, role.Admin)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was asked was answered
	_, err = client.ApplyConfiguration(ctx, &machineapi.ApplyConfigurationRequest{Data: data, Mode: machineapi.ApplyConfigurationRequest_NO_REBOOT})
	return err
}
