// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// Facts are what was seen of one machine. What was not looked at, or could not be read, is not a fact.
type Facts struct {
	Instance Instance
	Talos    Talos
	Node     Node
	// Unproven says that the image has services and that the machine never did its work: a Node that is Ready does not show that its
	// boot will end.
	Unproven bool
}

// An Instance is what the place says.
type Instance struct {
	// Runs, Works and Off are what it does: it has power, the place works on it, it has no power. At most one is set.
	Runs, Works, Off bool
	// Lost is why there will never be an instance again; empty if nothing says so.
	Lost string
	// Reason and Message are how the last call failed; empty if it did not.
	Reason, Message string
}

// A Talos is what the machine's own API says.
type Talos struct {
	// Asked says that it was asked, at Address.
	Asked   bool
	Address string
	// Answers says that it proved itself with a certificate of the cluster's.
	Answers bool
	// Maintenance says that it answered with a certificate of its own: it waits for a configuration.
	Maintenance bool
	// Problem is why there is no answer.
	Problem string
	// Stage is Talos's word for what it does, Booted that its boot is complete.
	Stage  string
	Booted bool
	// Kubelet says that the kubelet is healthy.
	Kubelet bool
	// Waiting are the extension services that do not run, each with what it waits for.
	Waiting []string
}

// A Node is what the tenant's API server says.
type Node struct {
	// Asked says that it answered.
	Asked bool
	// Name is the Node's.
	Name string
	// Found says that there is one.
	Found bool
	// Foreign is the provider ID of another instance that the Node has; empty if it is ours or none.
	Foreign string
	// Ready and Message are the Node's own.
	Ready   metav1.ConditionStatus
	Message string
}

// Steps returns the conditions of a machine, in the order of the steps: what the facts say, and where they say nothing, what was
// known before. The times are left to whoever writes them.
func Steps(before []metav1.Condition, facts Facts) []metav1.Condition {
	steps := map[string]func(Facts, metav1.Condition) *metav1.Condition{
		api.ConditionInstanceReady: instanceReady, api.ConditionConfigured: configured, api.ConditionCertificateIssued: certificateIssued,
		api.ConditionKubeletAuthorized: kubeletAuthorized, api.ConditionNodeRegistered: nodeRegistered, api.ConditionNetworkReady: networkReady,
		api.ConditionServicesRunning: servicesRunning,
	}
	var after []metav1.Condition
	for _, step := range api.TalosMachineReady {
		known := metav1.Condition{Type: step, Status: metav1.ConditionUnknown, Reason: api.ReasonNotYetKnown, Message: "nothing has been seen of it yet"}
		if said := meta.FindStatusCondition(before, step); said != nil {
			known = *said
		}
		if found := steps[step](facts, known); found != nil {
			known = metav1.Condition{Type: step, Status: found.Status, Reason: found.Reason, Message: found.Message}
		}
		after = append(after, known)
	}
	return after
}

// isReached says whether a step was taken.
func isReached(known metav1.Condition) bool { return known.Status == metav1.ConditionTrue }

// yes, no and unclear are conditions.
func yes(message string) *metav1.Condition {
	return &metav1.Condition{Status: metav1.ConditionTrue, Reason: api.ReasonReady, Message: message}
}

func no(reason, format string, args ...any) *metav1.Condition {
	return &metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func unclear(reason, format string, args ...any) *metav1.Condition {
	return &metav1.Condition{Status: metav1.ConditionUnknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// instanceReady: a call that failed says nothing about an instance that was seen to run.
func instanceReady(f Facts, known metav1.Condition) *metav1.Condition {
	switch i := f.Instance; {
	case i.Lost != "":
		return no(api.ReasonFailed, "%s", i.Lost)
	case i.Runs:
		return yes("the instance runs")
	case i.Works:
		return no(api.ReasonProgressing, "the place makes the instance")
	case i.Off:
		return no(api.ReasonWaiting, "the instance is switched off: switch it on, or delete the machine")
	case i.Reason != "" && !isReached(known):
		return no(i.Reason, "%s", i.Message)
	}
	return nil
}

// configured is seen by whoever answers, or by the Node, which needs a configuration to be there.
func configured(f Facts, known metav1.Condition) *metav1.Condition {
	switch {
	case f.Talos.Answers || f.Node.Found:
		return yes("Talos has taken its configuration")
	case isReached(known):
		return nil
	case f.Talos.Maintenance:
		return no(api.ReasonFailed, "Talos at %s waits for a configuration: it has not read its user data; look at the console of the instance", f.Talos.Address)
	case f.Instance.Runs:
		return unclear(api.ReasonNotYetKnown, "the instance boots")
	}
	return nil
}

// certificateIssued is proven by the certificate itself. One that was seen is not taken back because an answer is missing.
func certificateIssued(f Facts, known metav1.Condition) *metav1.Condition {
	switch {
	case f.Talos.Answers:
		return yes("the Talos API answers with a certificate of the cluster")
	case isReached(known) || !f.Talos.Asked:
		return nil
	case f.Node.Found:
		return unclear(api.ReasonUnreadable, "the Node is there, but the Talos API at %s does not answer: %s; look whether it can be reached from here", f.Talos.Address, f.Talos.Problem)
	}
	return no(api.ReasonProgressing, "the Talos API at %s does not answer: %s; if it stays so, look for the machine in the signer's log", f.Talos.Address, f.Talos.Problem)
}

// kubeletAuthorized: without a certificate no kubelet is healthy, and no Node registered.
func kubeletAuthorized(f Facts, known metav1.Condition) *metav1.Condition {
	switch {
	case f.Node.Found || f.Talos.Kubelet:
		return yes("the kubelet has its client certificate")
	case isReached(known) || !f.Talos.Answers:
		return nil
	}
	return no(api.ReasonProgressing, "the kubelet is not healthy yet: it waits for its image or its client certificate; look at its log with talosctl, and at the tenant's certificate signing requests")
}

// nodeRegistered may be lost again: a Node can be deleted.
func nodeRegistered(f Facts, known metav1.Condition) *metav1.Condition {
	n := f.Node
	switch {
	case !n.Asked:
		return nil
	case n.Foreign != "":
		return no(api.ReasonFailed, "Node %s has provider ID %s, which is another instance: delete that Node", n.Name, n.Foreign)
	case n.Found:
		return yes("Node " + n.Name + " is registered")
	case isReached(known) || known.Reason == api.ReasonNotFound:
		return no(api.ReasonNotFound, "Node %s was deleted: the kubelet makes it again when it restarts", n.Name)
	}
	return no(api.ReasonProgressing, "there is no Node %s yet", n.Name)
}

// networkReady is what the Node itself says. A kubelet reports a network that is missing as a Node that is not ready.
func networkReady(f Facts, _ metav1.Condition) *metav1.Condition {
	n := f.Node
	if !n.Asked || !n.Found || n.Foreign != "" {
		return nil
	}
	switch n.Ready {
	case metav1.ConditionTrue:
		return yes("Node " + n.Name + " is Ready")
	case metav1.ConditionFalse:
		return no(api.ReasonProgressing, "Node %s is not Ready: %s", n.Name, n.Message)
	}
	return unclear(api.ReasonUnreadable, "Node %s says nothing: %s", n.Name, n.Message)
}

// servicesRunning: a service that waits for ever keeps the boot from ending, and then Talos reboots.
func servicesRunning(f Facts, known metav1.Condition) *metav1.Condition {
	switch t := f.Talos; {
	case !t.Answers:
		return servicesUnseen(f, known)
	case len(t.Waiting) > 0:
		return no(api.ReasonProgressing, "%s", strings.Join(t.Waiting, "; "))
	case !t.Booted:
		return no(api.ReasonProgressing, "the boot is not complete: Talos is %s", t.Stage)
	}
	return yes("every service runs")
}

// servicesUnseen is the same where Talos does not answer. Services that were seen to run are not doubted because an answer is missing,
// and those that were not are not believed to; what nobody has seen yet does not run.
func servicesUnseen(f Facts, known metav1.Condition) *metav1.Condition {
	switch {
	case isReached(known) || !f.Node.Found:
		return nil
	case f.Unproven && known.Status == metav1.ConditionFalse:
		return nil
	case f.Unproven:
		return no(api.ReasonProgressing, "nobody has seen yet whether the services of the image run: %s; if it stays so, look whether the Talos API can be reached from here",
			cmp.Or(f.Talos.Problem, "the Talos API was not asked"))
	case f.Talos.Asked:
		return unclear(api.ReasonUnreadable, "the Talos API does not answer, so that services cannot be seen")
	}
	return nil
}
