// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Patch is one Talos configuration document or strategic patch. Minos does not
// look inside: which documents and fields exist is Talos's to say, and changes
// with its version.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=64
// +kubebuilder:pruning:PreserveUnknownFields
type Patch struct {
	// Raw is the document as JSON.
	Raw []byte `json:"-"`
}

// MarshalJSON gives the document back as it came.
func (p Patch) MarshalJSON() ([]byte, error) {
	if len(p.Raw) == 0 {
		return nil, errors.New("a configuration patch is empty")
	}
	return p.Raw, nil
}

// UnmarshalJSON keeps a copy of the document; the caller may use its buffer
// again.
func (p *Patch) UnmarshalJSON(data []byte) error {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("a configuration patch must be a mapping of Talos configuration fields")
	}
	if !json.Valid(data) {
		return errors.New("a configuration patch is not valid JSON")
	}
	p.Raw = bytes.Clone(data)
	return nil
}
