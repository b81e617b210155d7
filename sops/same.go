// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"go.yaml.in/yaml/v3"
)

// fingerprint is a hash of all that documents mean: keys, values, nulls and what is empty, in their order. Comments and
// styles do not show, and neither does whether a number was written as 1 or as 1.0.
func fingerprint(documents []*yaml.Node) (string, error) {
	sum := sha256.New()
	for _, document := range documents {
		if err := addTo(sum, document); err != nil {
			return "", err
		}
	}
	return string(sum.Sum(nil)), nil
}

// addTo adds a node to a hash, each with its length so that none can pass for two.
func addTo(sum hash.Hash, node *yaml.Node) error {
	text := ""
	if node.Kind == yaml.ScalarNode && node.ShortTag() != "!!null" {
		value, err := plainOf(node)
		if err != nil {
			return err
		}
		text = "=" + value.text
	}
	_, _ = fmt.Fprintf(sum, "%d %d %d %s", node.Kind, len(node.Content), len(text), text) // a hash never fails
	for _, below := range node.Content {
		if err := addTo(sum, below); err != nil {
			return err
		}
	}
	return nil
}

// writeSame writes documents, and an error if what is written does not mean the same.
func writeSame(documents []*yaml.Node, indent int) ([]byte, error) {
	want, err := fingerprint(documents)
	if err != nil {
		return nil, err
	}
	text, err := write(documents, indent)
	if err != nil {
		return nil, err
	}
	again, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("what was decrypted cannot be written as YAML: %w", err)
	}
	got, err := fingerprint(again)
	if err != nil || got != want {
		return nil, errors.New("what was decrypted cannot be written as YAML without changing it")
	}
	return text, nil
}
