// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/blang/semver/v4"
)

// Since says whether a version such as v1.14.0-rc.1 is of a minor version such as "1.14" or newer. A pre-release counts as its
// release. What is no version is not.
func Since(version, minor string) bool {
	own, err := semver.ParseTolerant(version)
	if err != nil {
		return false
	}
	wanted, err := semver.ParseTolerant(minor)
	if err != nil {
		return false
	}
	own.Pre = nil
	return own.GE(wanted)
}
