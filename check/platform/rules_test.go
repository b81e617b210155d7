// SPDX-License-Identifier: Apache-2.0

package platform_test

import (
	"testing"

	"minos.dev/minos/check/platform"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, platform.Rules()) }
