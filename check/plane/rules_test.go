// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"testing"

	"minos.dev/minos/check/plane"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, plane.Rules()) }
