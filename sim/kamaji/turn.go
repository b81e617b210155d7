// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"minos.dev/minos/sim/hosted"
)

// A turn is one look at a control plane and what follows from it.
type turn struct {
	*tenant
	object  *unstructured.Unstructured
	cluster cluster
	faults  Faults
	report  report

	spec    spec
	address netip.Addr
	// trouble is why there is no Pod.
	trouble error
}

// A phase is one thing that Kamaji or its provider does. The provider keeps a condition for most of them.
type phase struct {
	condition string
	do        func(*turn, context.Context) error
}

// phases are in the provider's order, with Kamaji's own work where its result is needed. The first that fails ends the
// turn. An endpoint is published before anything runs: a serving certificate may have to name it.
var phases = []phase{
	{"TenantControlPlaneCreated", (*turn).declare},
	{"TenantControlPlaneAddressReady", (*turn).take},
	{"ControlPlaneEndpointPatched", (*turn).publishEndpoint},
	{"", (*turn).serve},
	{"InfrastructureClusterPatched", (*turn).patchInfrastructure},
	{"", (*turn).provisioned},
	{"", (*turn).started},
	{"KamajiControlPlaneIsInitialized", (*turn).initialize},
	{"KubeadmResourcesCreated", (*turn).publishSecrets},
	{"KamajiControlPlaneIsReady", (*turn).ready},
}

// run goes through the phases and writes down how far it came.
func (u *turn) run(ctx context.Context) error {
	u.report.remove("Paused")
	var failed error
	for _, p := range phases {
		failed = p.do(u, ctx)
		if p.condition != "" {
			u.report.set(p.condition, "Succeeded", failed)
		}
		if failed != nil {
			break
		}
	}
	if err := u.write(ctx); err != nil {
		return err
	}
	return errors.Join(failed, u.trouble)
}

// declare reads what is wanted.
func (u *turn) declare(context.Context) (err error) {
	u.spec, err = readSpec(u.object)
	return err
}

// take takes an address, which it keeps until it is removed.
func (u *turn) take(context.Context) (err error) {
	u.address, err = u.kamaji.options.Network.Take(u.key.String())
	return err
}

// serve brings the Pod to what is declared. Why there is none is remembered for later: the provider goes on meanwhile.
func (u *turn) serve(ctx context.Context) error {
	services, err := u.cluster.services()
	if err != nil {
		return fmt.Errorf("services of the Cluster: %w", err)
	}
	authority, err := hosted.EnsureAuthority(u.pod.server(), nil)
	if err != nil {
		return err
	}
	if err := u.store(ctx, authoritySecret(u.key, authority)); err != nil {
		return err
	}
	want := template{
		options: hosted.Options{Dir: u.pod.server(), Address: u.address, SANs: u.spec.names(u.key), Services: services},
		sidecar: findSidecar(u.spec), faults: u.faults,
		reader: reader{client: u.kamaji.client, pod: u.key, address: u.address.String()},
	}
	if u.trouble = u.pod.become(ctx, want); u.pod.plane == nil {
		return nil
	}
	kubeconfig, err := u.access()
	if err != nil {
		return err
	}
	return u.store(ctx, accessSecret(u.key, kubeconfig))
}

// provisioned waits for Cluster API.
func (u *turn) provisioned(context.Context) error { return u.cluster.provisioned() }

// started waits until the control plane may be called initialized. One that was stays so.
func (u *turn) started(context.Context) error {
	left := u.faults.Latency - time.Since(u.pod.since)
	switch {
	case u.report.initialized():
		return nil
	case u.pod.plane == nil:
		return errors.New("waiting: the API server does not run")
	case u.faults.Hold:
		return errors.New("waiting: it is held back")
	case left > 0:
		return errors.New("waiting: it is not ready yet")
	}
	return nil
}

// initialize reports what runs.
func (u *turn) initialize(context.Context) error {
	u.report.initialize()
	ready := u.spec.replicas()
	if u.pod.plane == nil {
		ready = 0
	}
	u.report.count(u.spec.replicas(), ready)
	u.report.roll(u.rollOut())
	return nil
}

// rollOut is the version that has been rolled out: the one before, until a new one has had its time.
func (u *turn) rollOut() string {
	before, want := u.report.text("version"), u.spec.version()
	if before == "" || before == want {
		u.rolling = time.Time{}
		return want
	}
	if u.rolling.IsZero() {
		u.rolling = time.Now()
	}
	if u.faults.Hold || u.pod.plane == nil || time.Since(u.rolling) < u.faults.Latency {
		return before
	}
	return want
}

// ready says whether it can be used.
func (u *turn) ready(context.Context) error {
	up := u.pod.plane != nil
	u.report.ready(up)
	if !up {
		return errors.New("TenantControlPlane in NotReady status")
	}
	return nil
}
