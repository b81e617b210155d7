// SPDX-License-Identifier: Apache-2.0

package pool

import "fmt"

// refusals says on how many machines Talos does not take the newest revision while it runs, with the words of the first; empty if on
// none.
func refusals(machines []Machine) string {
	some, words := 0, ""
	for _, machine := range machines {
		if machine.Refused != "" {
			if some++; some == 1 {
				words = machine.Refused
			}
		}
	}
	if some == 0 {
		return ""
	}
	return fmt.Sprintf("; Talos does not take it while it runs on %d: %s", some, words)
}
