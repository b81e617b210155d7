// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"testing"

	"minos.dev/minos/check/images"
	"minos.dev/minos/check/rule/ruletest"
)

func TestRules(t *testing.T) { ruletest.Run(t, images.Rules()) }
