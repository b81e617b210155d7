// SPDX-License-Identifier: Apache-2.0

package roles_test

import (
	"testing"

	"minos.dev/minos/check/roles"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, roles.Rules()) }
