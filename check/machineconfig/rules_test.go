// SPDX-License-Identifier: Apache-2.0

package machineconfig_test

import (
	"testing"

	"minos.dev/minos/check/machineconfig"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, machineconfig.Rules()) }
