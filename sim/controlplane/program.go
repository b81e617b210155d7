// SPDX-License-Identifier: Apache-2.0

package controlplane

import "minos.dev/minos/sim/program"

// ProgramVariable names another minos-kube than the one that would be found.
const ProgramVariable = "MINOS_KUBE"

// Program finds minos-kube, as all programs are found.
func Program() (string, error) { return program.Find(program.Kube) }
