// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"testing"

	"minos.dev/minos/check/rule/ruletest"
	"minos.dev/minos/check/secrets"
)

func TestRules(t *testing.T) { ruletest.Run(t, secrets.Rules()) }
