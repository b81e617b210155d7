// SPDX-License-Identifier: Apache-2.0

package kamajitest

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"minos.dev/minos/sim/kubetest"
)

// The variables that make a test binary a double, which somebody can kill.
const (
	folderVariable     = "KAMAJITEST_FOLDER"
	kubeconfigVariable = "KAMAJITEST_KUBECONFIG"
)

// Main is for a package's TestMain: in a process that Process has started, it runs a double and does not return.
func Main() {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		return
	}
	double, _, err := open(os.Getenv(kubeconfigVariable), folder)
	if err == nil {
		err = double.Run(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Process runs the double of a site in a process of its own, and returns how to kill it.
func (s *Site) Process() (kill func()) {
	s.T.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), folderVariable+"="+s.Folder, kubeconfigVariable+"="+kubetest.Kubeconfig(s.T))
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		s.T.Fatal(err)
	}
	return func() {
		if err := command.Process.Kill(); err != nil {
			s.T.Error(err)
		}
		_ = command.Wait() // it was killed, and says so
	}
}
