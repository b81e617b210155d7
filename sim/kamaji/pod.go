// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/trust"
)

// startWithin bounds the start of an API server on a busy machine. It bounds, and does not measure.
const startWithin = 3 * time.Minute

// A template is what a Pod should be.
type template struct {
	options hosted.Options
	sidecar *sidecar
	faults  Faults
	reader  reader
}

// A pod is what runs for one control plane: the API server, and the signer beside it.
type pod struct {
	folder string
	log    *slog.Logger
	audit  io.Writer

	plane *hosted.ControlPlane // nil, if it does not run
	since time.Time
	names []string // of the API server that runs
	// declared tells which declaration of the signer was taken up, and settings is what it says: nil, if there is none that
	// workers could reach.
	declared string
	settings *trust.Config
	// mounted is what was written to the volumes.
	mounted map[string]map[string][]byte
}

// server is the folder of the API server.
func (p *pod) server() string { return filepath.Join(p.folder, "server") }

// place is where the files of a container are.
func (p *pod) place(s *sidecar) place {
	return place{mounts: s.Container.VolumeMounts, volumes: filepath.Join(p.folder, "volumes"), image: filepath.Join(p.folder, "image")}
}

// become brings the Pod to its template. What runs goes on as it is if it cannot be brought there.
func (p *pod) become(ctx context.Context, want template) error {
	if p.plane != nil && (want.faults.ServerDown || !p.plane.Up(ctx)) {
		p.kill()
	}
	if want.faults.ServerDown {
		return nil
	}
	if err := p.declare(ctx, want); err != nil {
		return err
	}
	if p.plane == nil || !slices.Equal(p.names, want.options.SANs) {
		if err := p.start(ctx, want.options); err != nil {
			return err
		}
	}
	return p.sign(ctx, want)
}

// sign has the signer run, or not.
func (p *pod) sign(ctx context.Context, want template) error {
	switch {
	case p.settings == nil || want.faults.SignerDown:
		return p.plane.StopSigning()
	case p.plane.Signing():
		return nil
	}
	return p.plane.Sign(ctx, *p.settings, p.log.With("container", want.sidecar.Container.Name), p.audit)
}

// declare mounts the signer's volumes, as the kubelet does before anything of a Pod starts and whenever they change. Its
// command line and environment are read only for a new Pod. A signer that was declared otherwise is stopped.
func (p *pod) declare(ctx context.Context, want template) error {
	if want.sidecar != nil {
		volumes, err := want.reader.volumes(ctx, want.sidecar)
		if err == nil {
			err = p.mount(volumes)
		}
		if err != nil {
			return err
		}
	}
	if p.plane != nil && p.declared == want.sidecar.fingerprint() {
		return nil
	}
	settings, err := p.read(ctx, want)
	if err != nil {
		return err
	}
	p.settings, p.declared = settings, want.sidecar.fingerprint()
	if p.plane == nil {
		return nil
	}
	return p.plane.StopSigning()
}

// read reads what the signer is told. It answers nil if none is declared, or none that workers could reach.
func (p *pod) read(ctx context.Context, want template) (*trust.Config, error) {
	if want.sidecar == nil {
		return nil, nil
	}
	environ, err := want.reader.environ(ctx, want.sidecar.Container)
	if err != nil {
		return nil, err
	}
	settings, err := want.sidecar.settings(environ, p.place(want.sidecar), func(name string) bool { _, err := os.Stat(name); return err == nil })
	if err != nil || !want.sidecar.reachable(settings.Listen) {
		return nil, err
	}
	return &settings, nil
}

// mount writes the volumes that have changed.
func (p *pod) mount(volumes map[string]map[string][]byte) error {
	for name, files := range volumes {
		if before, ok := p.mounted[name]; ok && maps.EqualFunc(before, files, bytes.Equal) {
			continue
		}
		if err := project(filepath.Join(p.folder, "volumes", name), files); err != nil {
			return err
		}
		if p.mounted == nil {
			p.mounted = map[string]map[string][]byte{}
		}
		p.mounted[name] = files
	}
	return nil
}

// start starts the API server, in the place of one with other names.
func (p *pod) start(ctx context.Context, options hosted.Options) error {
	if p.plane != nil {
		plane := p.plane
		p.plane = nil
		if err := plane.Stop(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	plane, err := hosted.Start(ctx, options)
	if err != nil {
		return err
	}
	if err := plane.Prepare(ctx); err != nil {
		return errors.Join(err, plane.Stop())
	}
	p.plane, p.since, p.names = plane, time.Now(), options.SANs
	return nil
}

// kill ends everything at once.
func (p *pod) kill() {
	if p.plane != nil {
		p.plane.Kill()
	}
	p.plane = nil
}
