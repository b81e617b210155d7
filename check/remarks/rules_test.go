// SPDX-License-Identifier: Apache-2.0

package remarks_test

import (
	"testing"

	"minos.dev/minos/check/remarks"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, remarks.Rules()) }
