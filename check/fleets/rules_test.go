// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"testing"

	"minos.dev/minos/check/fleets"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, fleets.Rules()) }
