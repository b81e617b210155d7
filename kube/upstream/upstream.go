// SPDX-License-Identifier: Apache-2.0

// Package upstream wraps the programs of etcd and Kubernetes as they are, each with its own flags and its own help.
package upstream

import (
	"os"
	_ "time/tzdata" // time zones where the machine has none

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what a kubeconfig may ask of kubectl
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the components' clients
	_ "k8s.io/component-base/metrics/prometheus/version"  // and of their version
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"minos.dev/minos/kube/box"
)

// Commands are the programs. Each is built only when it is the one to run: building kube-apiserver's command already
// catches the process's signals.
func Commands() []box.Command {
	return []box.Command{
		program("etcd", "the store", runEtcd),
		program("kube-apiserver", "the API server", component(apiserver.NewAPIServerCommand)),
		program("kube-controller-manager", "the controllers", component(controllers.NewControllerManagerCommand)),
		program("kube-scheduler", "the scheduler", component(func() *cobra.Command { return scheduler.NewSchedulerCommand() })),
		program("kubectl", "the client", runKubectl),
	}
}

// program makes the process look as if it had been started under the program's own name: upstream reads os.Args.
func program(name, about string, run func() int) box.Command {
	return box.Command{Name: name, About: about, Run: func(call box.Call) int {
		os.Args = append([]string{name}, call.Args...)
		return run()
	}}
}

func component(command func() *cobra.Command) func() int {
	return func() int { return cli.Run(command()) }
}

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	// Before the command exists, because making it looks for plugins and preferences, and logs what it finds.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints and exits in kubectl's own way
	}
	return 0
}
