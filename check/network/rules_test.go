// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"testing"

	"minos.dev/minos/check/network"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, network.Rules()) }
