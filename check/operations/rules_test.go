// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"testing"

	"minos.dev/minos/check/operations"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, operations.Rules()) }
