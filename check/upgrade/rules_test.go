// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"testing"

	"minos.dev/minos/check/rule/ruletest"
	"minos.dev/minos/check/upgrade"
)

func TestRules(t *testing.T) { ruletest.Run(t, upgrade.Rules()) }
