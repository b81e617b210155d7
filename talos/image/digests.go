// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/extension"
)

// Digests are the references of the extensions of one release, pinned by digest, by the name of the extension.
type Digests map[string]string

// A DigestsError says that digests are missing, or not those of the release.
type DigestsError struct{ Why string }

// Error is the sentence.
func (e *DigestsError) Error() string { return e.Why }

// digestsError makes one.
func digestsError(format string, args ...any) error {
	return &DigestsError{fmt.Sprintf(format, args...)}
}

// pinned is the form of a reference with a digest: repository, tag and digest.
var pinned = regexp.MustCompile(`^([a-z0-9][a-z0-9.:/_-]*/[a-z0-9._-]+):([A-Za-z0-9._-]+)@(sha256:[0-9a-f]{64})$`)

// loose is the form of a reference without one.
var loose = regexp.MustCompile(`^[a-z0-9][a-z0-9.:/_-]*:[A-Za-z0-9._-]+$`)

// ParseDigests reads the file image-digests that Talos publishes with the extensions of a release, or what "talosctl image
// talos-bundle" prints: a reference a line. Those without a digest are other images and passed over. References may be of
// a mirror: what counts is the last part of their name.
func ParseDigests(text string) (Digests, error) {
	digests := Digests{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		parts := pinned.FindStringSubmatch(line)
		if parts == nil {
			if line == "" || loose.MatchString(line) {
				continue
			}
			return nil, digestsError("line %d of the digests is not a reference such as ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:…", number)
		}
		digests[path.Base(parts[1])] = line
	}
	if len(digests) == 0 {
		return nil, digestsError("the digests hold no reference with a digest, such as ghcr.io/siderolabs/drbd:9.3.2-v1.13.9@sha256:…")
	}
	return digests, nil
}

// releaseTag is the Talos release at the end of the tag of an extension with kernel modules.
var releaseTag = regexp.MustCompile(`(?:^|-)(v1\.[0-9]+\.[0-9]+(?:-[a-z]+\.[0-9]+)?)$`)

// find returns the reference of an extension for a release. Kernel modules are signed for one build of the kernel, so that
// those of another release, even of the next patch, are refused here and not by a machine that boots.
func (d Digests) find(name string, version api.TalosVersion) (string, error) {
	reference, ok := d[name]
	if !ok {
		return "", digestsError("the digests have no %s: they are not those of Talos %s", name, version)
	}
	catalogue, err := extension.Load()
	if err != nil {
		return "", err
	}
	tag := releaseTag.FindStringSubmatch(pinned.FindStringSubmatch(reference)[2])
	if e, _ := catalogue.Find(name); e.Kernel && tag != nil && tag[1] != string(version) {
		return "", digestsError("the digests are of Talos %s and not of %s, and %s holds kernel modules, which fit one release only", tag[1], version, name)
	}
	return reference, nil
}
