// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"

	api "minos.dev/minos/api/v1alpha1"
)

// disown keeps a machine whose cluster is gone from speaking for another that is there. Its own words are all that say whose its
// instance is, and whoever could write them could else have somebody's instance deleted.
func (s *scope) disown(ctx context.Context) error {
	if s.cluster != nil || s.words.Cluster == "" {
		return nil
	}
	var all api.TalosClusterList
	if err := s.Client.List(ctx, &all); err != nil {
		return fmt.Errorf("machine %s: list the clusters: %w", s.machine.Name, err)
	}
	for at := range all.Items {
		if string(all.Items[at].UID) == s.words.Cluster {
			s.words.Cluster = string(s.machine.UID) // who has no instances
		}
	}
	return nil
}
