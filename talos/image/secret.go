// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"minos.dev/minos/talos/redact"
)

// refuseSecrets refuses a schematic with a secret in it. The value stays out of the error, which ends up in logs.
func refuseSecrets(role string, part *schematic.Customization) error {
	for _, argument := range part.ExtraKernelArgs {
		name, _, _ := strings.Cut(argument, "=")
		if redact.Find(name) != "" { // no name at all: the secret itself
			name = "…"
		}
		if secret := redact.Find(argument); secret != "" {
			return secretError(role, fmt.Sprintf("kernel argument %q", name), secret)
		}
	}
	for _, meta := range part.Meta {
		if secret := redact.Find(meta.Value); secret != "" {
			return secretError(role, fmt.Sprintf("META value %d", meta.Key), secret)
		}
	}
	if secret := redact.Find(part.EmbeddedMachineConfiguration); secret != "" {
		return secretError(role, "the embedded machine configuration", secret)
	}
	return nil
}

// secretError names the place and the way out, and not the secret.
func secretError(role, place, secret string) error {
	return fmt.Errorf("role %q: %s seems to hold %s: an image and its schematic are public, so give it by the machine configuration", role, place, secret)
}
