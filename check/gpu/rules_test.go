// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"testing"

	"minos.dev/minos/check/gpu"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, gpu.Rules()) }
