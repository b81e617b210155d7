// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import "syscall"

// withParent keeps Ctrl-C away from a process, which is for us, who end it in order. It hears of our own end by that of its
// standard input.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
