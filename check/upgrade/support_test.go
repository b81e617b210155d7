// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// TestEtcdOf knows which etcd a Talos brings; of the newest, what Talos itself says.
func TestEtcdOf(t *testing.T) {
	for version, want := range map[string]string{"1.9.6": "3.5", "1.10.9": "3.5", "1.11.0": "3.6", "1.12.11": "3.6", "1.13.9": "3.6", "1.14.1": "3.7"} {
		if got := etcdOf(semver.MustParse(version)); got != want {
			t.Errorf("Talos %s: etcd %s, want %s", version, got, want)
		}
	}
	theirs := strings.TrimPrefix(constants.DefaultEtcdVersion, "v")
	if got := etcdOf(newest.version); !strings.HasPrefix(theirs, got+".") {
		t.Errorf("Talos %s: etcd %s, and Talos itself says %s", newest.version, got, theirs)
	}
}
