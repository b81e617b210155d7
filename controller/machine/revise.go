// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"slices"
	"strings"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	talos "github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/plan/machines"
	"minos.dev/minos/talos/pki"
	"minos.dev/minos/talos/redact"
)

// revise gives a machine a configuration that Talos takes while it runs. One that Talos refuses is not offered again: it would answer
// the same, and whoever looks after the pool replaces the machine. What fails otherwise is tried again: the machine works as before
// meanwhile, and its status shows the revision that it has.
func (s *scope) revise(ctx context.Context, identity *pki.Secrets, address string) {
	wanted, given := string(s.machine.Spec.Revision), s.machine.Annotations[machines.AnnotationRevision]
	if given != "" && given != wanted && machines.Refused(s.machine) == "" {
		values := map[string]string{machines.AnnotationRevision: wanted}
		if words, err := s.give(ctx, identity, address); err != nil {
			log.FromContext(ctx).Info("the configuration could not be changed live", "revision", wanted, "cause", plain(err))
			s.after = again
			return
		} else if words != "" {
			values = map[string]string{machines.AnnotationRefused: machines.Refuses(wanted, words)}
		}
		if err := s.annotate(ctx, values); err != nil {
			s.after = again // it is given once more, which changes nothing
			return
		}
	}
	if machines.Refused(s.machine) != "" || meta.FindStatusCondition(s.machine.Status.Conditions, api.ConditionUpToDate) != nil {
		s.set(machines.Revised(s.machine))
	}
}

// give has Talos take the configuration, or says in its words why it does not. An error is of somebody else's: Talos has not answered.
func (s *scope) give(ctx context.Context, identity *pki.Secrets, address string) (refused string, err error) {
	data, err := s.configuration(ctx)
	if err != nil {
		return "", err
	}
	client, err := s.connect(ctx, identity, address, role.Admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }() // what was asked was answered
	_, err = client.ApplyConfiguration(ctx, &machineapi.ApplyConfigurationRequest{Data: data, Mode: machineapi.ApplyConfigurationRequest_NO_REBOOT})
	if isRefusal(err) {
		return refusal(err, data), nil
	}
	return "", err
}

// immediate is how Talos says that it cannot change something while it runs. It has no code of its own for it.
const immediate = "can't be applied in immediate mode"

// isRefusal says whether an error is Talos's verdict on a configuration, rather than that it could not be asked.
func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	return slices.Contains([]codes.Code{codes.InvalidArgument, codes.FailedPrecondition}, talos.StatusCode(err)) || strings.Contains(err.Error(), immediate)
}

// longestRefusal is how much is kept of what Talos says.
const longestRefusal = 400

// refusal is what Talos says of a configuration, in one line and without what the configuration holds: it shows differences, and
// nothing of them is ours to show.
func refusal(err error, configuration []byte) string {
	text := err.Error()
	if _, end, found := strings.Cut(text, "desc = "); found {
		text = end
	}
	text, _, _ = strings.Cut(text, "\ndiff:")
	for _, secret := range redact.Secrets(configuration) {
		text = strings.ReplaceAll(text, secret, redact.Mark)
	}
	text, _ = (&redact.Redactor{}).Text(nil, strings.Join(strings.Fields(text), " "))
	return strings.ToValidUTF8(text[:min(len(text), longestRefusal)], "")
}
