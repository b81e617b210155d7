// SPDX-License-Identifier: Apache-2.0

package kamaji

import (
	"encoding/json"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"minos.dev/minos/sim/hosted"
	"minos.dev/minos/trust"
	"minos.dev/minos/trust/command"
)

// program is the signer's name, of its image and of its command.
const program = "minos-signer"

// A sidecar is the signer as a KamajiControlPlane declares it.
type sidecar struct {
	Container corev1.Container
	Volumes   []corev1.Volume
	Ports     []servicePort
}

// findSidecar finds the signer among the containers.
func findSidecar(s spec) *sidecar {
	for _, container := range s.Deployment.ExtraContainers {
		if imageName(container.Image) == program || len(container.Command) > 0 && path.Base(container.Command[0]) == program {
			return &sidecar{Container: container, Volumes: s.Deployment.ExtraVolumes, Ports: s.Network.AdditionalServicePorts}
		}
	}
	return nil
}

// imageName is the last part of an image's name, without tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// fingerprint tells one declaration from another.
func (s *sidecar) fingerprint() string {
	if s == nil {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error() // kinds of Kubernetes always have a form
	}
	return string(text)
}

// A place is where the container's files are on this machine.
type place struct {
	mounts  []corev1.VolumeMount
	volumes string // the folder with a folder for each volume
	image   string // a folder with nothing in it: what the image would have
}

// find is the path on this machine of a path in the container. What is not mounted is not this machine's either.
func (p place) find(name string) string {
	name = path.Clean("/" + name)
	var found, under string
	for _, mount := range p.mounts {
		at := path.Clean(mount.MountPath)
		if within(name, at) && len(at) > len(under) {
			under, found = at, filepath.Join(p.volumes, mount.Name, mount.SubPath)
		}
	}
	if found == "" {
		return filepath.Join(p.image, name)
	}
	return filepath.Join(found, strings.TrimPrefix(name, under))
}

// within says whether a path is a folder or in it.
func within(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// settings are what the container's command line and environment say to the signer, with the files of this machine.
func (s *sidecar) settings(environ []string, where place, exists func(string) bool) (trust.Config, error) {
	var args []string
	if len(s.Container.Command) > 0 {
		args = s.Container.Command[1:]
	}
	args = slices.Concat(args, s.Container.Args)
	for at := range args {
		args[at] = expand(args[at], environ)
	}
	config, err := command.Parse(args, environ, func(name string) bool { return exists(where.find(name)) })
	if err != nil {
		return trust.Config{}, fmt.Errorf("container %s: %w", s.Container.Name, err)
	}
	files := &config.Sources
	for _, name := range []*string{&files.CACert, &files.CAKey, &files.TLSCert, &files.TLSKey, &files.Tokens} {
		if *name != "" {
			*name = where.find(*name)
		}
	}
	for at, name := range files.Accepted {
		files.Accepted[at] = where.find(name)
	}
	return config, nil
}

// reference is a variable in a text, or an escaped dollar.
var reference = regexp.MustCompile(`\$(\$|\([^()]+\))`)

// expand puts variables into a text, as Kubernetes does. What is not known stays as it is.
func expand(text string, environ []string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		name := found[2:len(found)-1] + "="
		for _, line := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(line, name); ok {
				return value
			}
		}
		return found
	})
}

// reachable says whether workers get through to a signer that listens somewhere: whether the Service has the port that
// they know, and it leads there.
func (s *sidecar) reachable(listen string) bool {
	_, text, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	listens, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Ports, func(p servicePort) bool {
		tcp := p.Protocol == "" || p.Protocol == corev1.ProtocolTCP
		return p.Port == hosted.SignerPort && tcp && s.target(p) == int32(listens)
	})
}

// target is the port of the Pod that a port of the Service leads to.
func (s *sidecar) target(p servicePort) int32 {
	switch {
	case p.TargetPort.Type == intstr.String:
		for _, port := range s.Container.Ports {
			if port.Name == p.TargetPort.StrVal {
				return port.ContainerPort
			}
		}
		return 0
	case p.TargetPort.IntVal == 0:
		return p.Port
	}
	return p.TargetPort.IntVal
}
