// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// Todo is what remains to be done by hand before machines can be made from the folder, a line each: first what had to
// be made up, then what no file can do.
func (a *Answers) Todo() []string {
	return slices.Concat(a.guesses(), a.installs())
}

// guesses are answers that must be true of the place and that nobody gave.
func (a *Answers) guesses() []string {
	var lines []string
	add := func(made bool, format string, args ...any) {
		if made {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	var made []string
	for _, host := range slices.Concat(a.planes(), a.workers()) {
		if host.Made {
			made = append(made, host.Name)
		}
	}
	add(len(made) > 0, "pools.yaml: give %s the addresses that the machines have", strings.Join(made, ", "))
	add(a.guessed["disk"], "pools.yaml: see that %s is the disk that Talos may have: all that is on it is lost", a.Disk)
	switch {
	case !a.guessed["endpoint"] || a.hosted():
	case a.ControlPlanes == 1:
		add(a.planes()[0].Made, "cluster.yaml: make spec.endpoint.host the address of %s", a.planes()[0].Name)
	default:
		lines = append(lines, fmt.Sprintf("cluster.yaml: make spec.endpoint.host a free address of your network, or a load balancer, in place of %s", a.Endpoint))
	}
	add(a.hosted(), "cluster.yaml: see that spec.network does not overlap the networks of the management cluster: it cannot change later")
	add(a.guessed["vip-link"], "pools.yaml: Layer2VIPConfig has the same address as the endpoint, and the link that the control planes have it on (now %s)", a.Link)
	return lines
}

// installs are things that the cluster needs and that are not configuration of machines.
func (a *Answers) installs() []string {
	var lines []string
	switch {
	case a.CNI == None:
		lines = append(lines, "deliver a pod network: until then no node is ready")
	case a.CNI != "flannel" || a.hosted():
		lines = append(lines, fmt.Sprintf("install %s once the API server answers: until then no node is ready", cnis[a.CNI].answer))
	}
	if todo := storages[a.Storage].todo; todo != "" {
		lines = append(lines, todo)
	}
	if least, has := storages[a.Storage].machines, a.storageMachines(); !a.hosted() && has < least {
		lines = append(lines, fmt.Sprintf("%s keeps copies on %d machines, and there are %d: add some, or ask it for fewer copies", storages[a.Storage].answer, least, has))
	}
	switch {
	case a.Backup == None:
		lines = append(lines, "there is no backup: a lost etcd is a lost cluster")
	case !a.hosted():
		lines = append(lines, fmt.Sprintf("set up the backup (%s), and restore it once to see that it works", a.Backup))
	}
	if a.Profile == Edge {
		lines = append(lines, "a place without a lock wants machine.metal.secureBoot and encrypted disks")
	}
	return lines
}
