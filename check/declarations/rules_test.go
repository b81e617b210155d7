// SPDX-License-Identifier: Apache-2.0

package declarations_test

import (
	"testing"

	"minos.dev/minos/check/declarations"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, declarations.Rules()) }
