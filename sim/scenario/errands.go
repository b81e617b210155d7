// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"minos.dev/minos/backend"
)

// atOnce is how many errands run at the same time, and patience how long one may take. What a machine is asked to do takes
// simulated time too, and working is enough of that.
const (
	atOnce   = 16
	patience = 30 * time.Second
	working  = 10 * time.Minute
)

// errands are the calls of a rehearsal: they make and remove machines until there are those that are wanted.
type errands struct {
	play *play
	work sync.WaitGroup
	room chan struct{}

	mutex sync.Mutex
	jobs  map[string]*job // by what is done and the name of the machine
	ended []Call          // since that was asked for

	// leaving are instances that are not wanted, by name, until their Nodes are gone too. What is there in truth is not enough to
	// know them by: an instance may be gone and the answer lost. Only run uses it.
	leaving map[string]backend.Instance
}

// A job is what is being done about one machine.
type job struct {
	running bool
	tries   int
	next    time.Time
	// done says that there is nothing more to do: the instance was made, or never will be.
	done bool
	// failed is what the place said last, if that was no.
	failed string
}

func newErrands(p *play) *errands {
	return &errands{play: p, room: make(chan struct{}, atOnce), jobs: map[string]*job{}, leaving: map[string]backend.Instance{}}
}

// run starts what is due. It does not wait for it.
func (e *errands) run(ctx context.Context) {
	wanted := map[string]bool{}
	for _, machine := range e.play.wanted {
		wanted[machine.Name] = true
		e.start(ctx, machine.Name, "make", func(ctx context.Context) error {
			_, err := e.play.stage.place.Create(ctx, machine)
			return err
		})
	}
	for _, instance := range e.play.stage.cloud.Instances() {
		e.leaving[instance.Name] = instance
	}
	for name, instance := range e.leaving {
		if wanted[name] || e.isDone("remove", name) {
			delete(e.leaving, name)
			continue
		}
		e.start(ctx, name, "remove", func(ctx context.Context) error { return e.play.remove(ctx, instance) })
	}
}

// isDone says whether a job is.
func (e *errands) isDone(what, name string) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	j := e.jobs[what+" "+name]
	return j != nil && j.done
}

// start does a job unless it is being done, is done, or is to wait.
func (e *errands) start(ctx context.Context, name, what string, do func(context.Context) error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	key := what + " " + name
	j := e.jobs[key]
	if j == nil {
		j = &job{}
		e.jobs[key] = j
		// A machine that is made again after it was removed is a new job, and the other way round.
		other := map[string]string{"make": "remove ", "remove": "make "}[what]
		if opposite := e.jobs[other+name]; opposite != nil && opposite.running {
			delete(e.jobs, key)
			return
		}
		delete(e.jobs, other+name)
	}
	if j.running || j.done || time.Now().Before(j.next) {
		return
	}
	select {
	case e.room <- struct{}{}:
	default:
		return // there will be room
	}
	j.running = true
	e.work.Go(func() {
		defer func() { <-e.room }()
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := do(ctx)
		e.mutex.Lock()
		defer e.mutex.Unlock()
		j.running = false
		e.after(ctx, j, name, err)
	})
}

// after decides what follows from how a job ended.
func (e *errands) after(ctx context.Context, j *job, name string, err error) {
	if err == nil {
		j.done, j.failed = true, ""
		return
	}
	if ctx.Err() != nil && ctx.Err() != context.DeadlineExceeded {
		return // the rehearsal ends
	}
	reason := backend.ReasonOf(err)
	j.failed = fmt.Sprintf("%s: %v", reason, err)
	wait, more := again(reason, j.tries)
	j.tries++
	if !more {
		j.done = true
		e.play.tell(name, "", fmt.Sprintf("the place will never do this: %v", err))
		return
	}
	pause := max(e.play.stage.keeper.Scaled(wait), backend.After(err))
	j.next = time.Now().Add(pause)
	e.play.tell(name, "", fmt.Sprintf("%s, so it is asked again in %s: %v", reason, brief(wait), err))
}

// call makes a call to a machine, and tells if it fails. One that the end of the rehearsal cuts off has not ended.
func (e *errands) call(ctx context.Context, call Call, do func(context.Context) error) {
	e.work.Go(func() {
		patient, cancel := context.WithTimeout(ctx, patience+e.play.stage.keeper.Scaled(working))
		defer cancel()
		err := do(patient)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.play.tell(call.Machine, "", fmt.Sprintf("it did not: %v", err))
		}
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.ended = append(e.ended, call)
	})
}

// takeEnded returns the calls that have ended since this was asked for.
func (e *errands) takeEnded() []Call {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	ended := e.ended
	e.ended = nil
	return ended
}

// why says why a machine that is wanted is not there.
func (e *errands) why(name string) string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if j := e.jobs["make "+name]; j != nil && j.failed != "" {
		return "the place has not made it: " + j.failed
	}
	return "the place has not made it"
}

// wait returns when no errand runs.
func (e *errands) wait() { e.work.Wait() }

// remove has an instance removed, and then its Node: nobody else looks after Nodes here. An instance without an ID was gone
// before this start of the simulator.
func (p *play) remove(ctx context.Context, instance backend.Instance) error {
	owner := p.stage.declared.Owner()
	if instance.ID != "" {
		if err := p.stage.place.Delete(ctx, owner, instance.ID); err != nil {
			return err
		}
		if _, err := p.stage.place.Get(ctx, owner, instance.ID); backend.ReasonOf(err) != backend.Gone {
			return backend.Fail(backend.Unavailable, "instance %s is being removed", instance.Name)
		}
	}
	clients, err := kubernetes.NewForConfig(p.stage.cluster.Plane.Config())
	if err != nil {
		return err
	}
	err = clients.CoreV1().Nodes().Delete(ctx, instance.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	p.tell(instance.Name, "", "it is gone, with its Node")
	return nil
}

// forsaken notes the Nodes that a kill left behind: their instances may be gone.
func (e *errands) forsaken(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(e.play.stage.cluster.Plane.Config())
	if err != nil {
		return err
	}
	nodes, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		e.leaving[node.Name] = backend.Instance{Name: node.Name}
	}
	return nil
}
