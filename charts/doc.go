// SPDX-License-Identifier: Apache-2.0

// Package charts holds what is installed into a management cluster, and gives the definitions of our kinds to whoever
// needs them at run time: there is one copy of them, generated from api/.
package charts

import "embed"

// CRDs is the generated custom resource definitions, one file a kind.
//
//go:embed minos/crds/*.yaml
var CRDs embed.FS

// Operator is how the operator is installed: its rights, generated from the code, and what runs it.
//
//go:embed minos/operator/*.yaml
var Operator embed.FS
