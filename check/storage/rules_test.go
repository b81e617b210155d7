// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"testing"

	"minos.dev/minos/check/rule/ruletest"
	"minos.dev/minos/check/storage"
)

func TestRules(t *testing.T) { ruletest.Run(t, storage.Rules()) }
