// SPDX-License-Identifier: Apache-2.0

package extensions_test

import (
	"testing"

	"minos.dev/minos/check/extensions"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, extensions.Rules()) }
