// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// withParent has the kernel kill a process when the one that started it ends. It is the end of a thread that counts, and Go
// ends none of those that start processes. A group of its own keeps Ctrl-C away from it: that is for us, who end it in order.
func withParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
