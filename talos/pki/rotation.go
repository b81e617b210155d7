// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
)

// A Part is what can be replaced on its own.
type Part string

// The parts of a cluster's secrets.
const (
	PartTokens         Part = "tokens"         // PartTokens is the tokens by which machines join.
	PartTalosCA        Part = "ca-talos"       // PartTalosCA is the authority of the Talos API.
	PartKubernetesCA   Part = "ca-kubernetes"  // PartKubernetesCA is the authority of the Kubernetes API.
	PartServiceAccount Part = "serviceaccount" // PartServiceAccount is the key that signs the tokens of service accounts.
	PartEncryption     Part = "encryption"     // PartEncryption is the key that encrypts Secrets in etcd.
	PartEtcdCA         Part = "ca-etcd"        // PartEtcdCA is the authority of etcd.
	PartAggregatorCA   Part = "ca-aggregator"  // PartAggregatorCA is the authority of the API server's proxy.
)

// Parts are all that exist, also those that cannot be replaced.
func Parts() []Part {
	return []Part{
		PartTokens, PartTalosCA, PartKubernetesCA, PartServiceAccount, PartEncryption, PartEtcdCA, PartAggregatorCA,
	}
}

// refused says why a part cannot be replaced: old and new have to overlap, and Talos has no place for two of them.
var refused = map[Part]string{
	PartEncryption:   "a bundle holds one key, and with another one the API server could not read the Secrets that are in etcd",
	PartEtcdCA:       "Talos knows no second authority of etcd, so that members with the old one and members with the new one would not form a quorum",
	PartAggregatorCA: "Talos before 1.14 knows no second one; it is used between API server and extensions alone",
}

// A Step is one of a rotation.
type Step string

// The steps, in their order. Each is done when every machine has the configuration that follows from it.
const (
	// StepAccept makes a new one that is accepted while the old one still issues.
	StepAccept Step = "accept"
	// StepIssue lets the new one issue while the old one is still accepted.
	StepIssue Step = "issue"
	// StepFinish forgets the old one.
	StepFinish Step = "finish"
	// StepAbort forgets the new one, as long as it has issued nothing.
	StepAbort Step = "abort"
)

// Steps are all that exist.
func Steps() []Step { return []Step{StepAccept, StepIssue, StepFinish, StepAbort} }

// A Rotation is one that is under way: what is accepted beside what issues.
type Rotation struct {
	// Part is what is replaced.
	Part Part `yaml:"part"`
	// Step is the last that was done.
	Step Step `yaml:"step"`
	// Since is when it was done.
	Since string `yaml:"since"`
	// Public is the certificate or public key that is accepted too, PEM in base64: the new one after accept, the old one
	// after issue.
	Public string `yaml:"public"`
	// Key is the private key of the new one, as long as it does not issue.
	Key string `yaml:"key,omitempty"`
}

// Change is what a rotation came to.
type Change struct {
	// Secrets is what to write. It is what was, where nothing changed.
	Secrets *Secrets
	// Changed says whether anything did.
	Changed bool
	// Done is what was done, or why nothing was.
	Done string
	// Apply is what has to be true before the next step, or for this one to have an effect.
	Apply string
	// Next is the step that follows, if any.
	Next Step
}

// Rotate does one step of replacing a part. Doing the same step again changes nothing, so that a run that was killed can be
// repeated; tokens are the exception, which have no steps: they are replaced each time.
func (s *Secrets) Rotate(part Part, step Step, contract *config.VersionContract, now time.Time) (Change, error) {
	if why, ok := refused[part]; ok {
		return Change{}, fmt.Errorf("%s cannot be replaced without an outage: %s", part, why)
	}
	if part == PartTokens {
		return s.replaceTokens(contract, now)
	}
	kind, ok := overlaps[part]
	if !ok {
		return Change{}, fmt.Errorf("there is no part %q", part)
	}
	if part == PartServiceAccount && !contract.MultidocKubernetesConfigSupported() {
		return Change{}, fmt.Errorf("%s cannot be replaced without an outage: Talos before 1.14 knows one key alone, and with another one every token that exists is void", part)
	}
	return (&rotating{Secrets: s.clone(), part: part, kind: kind, contract: contract, now: now}).do(step)
}

// replaceTokens makes new tokens. Talos accepts one of each, so that there is no overlap; and none is needed by machines
// that have their certificates, until they renew them.
func (s *Secrets) replaceTokens(contract *config.VersionContract, now time.Time) (Change, error) {
	fresh, err := newTokens(contract, now)
	if err != nil {
		return Change{}, err
	}
	next := s.clone()
	next.Bundle.TrustdInfo.Token, next.Bundle.Secrets.BootstrapToken = fresh.TrustdInfo.Token, fresh.Secrets.BootstrapToken
	return Change{
		Secrets: next, Changed: true, Done: "the tokens by which machines join are new",
		Apply: "apply the configurations to the control plane and then, within 12 hours, to all other machines: until then those " +
			"cannot renew their certificates, and none can join; then delete the old bootstrap token, a Secret of kube-system",
	}, nil
}

// Accepted are the certificates or public keys of a part that are accepted beside what issues, as PEM.
func (s *Secrets) Accepted(part Part) []string {
	var accepted []string
	for _, rotation := range s.Rotations {
		if rotation.Part != part {
			continue
		}
		text, _ := base64.StdEncoding.DecodeString(rotation.Public) // it was looked at when it was read
		accepted = append(accepted, string(text))
	}
	return accepted
}

// rotation is the one of a part that is under way, or nil.
func (s *Secrets) rotation(part Part) *Rotation {
	i := slices.IndexFunc(s.Rotations, func(r Rotation) bool { return r.Part == part })
	if i < 0 {
		return nil
	}
	return &s.Rotations[i]
}

// set puts a rotation in the place of the one of the same part; nil takes it away.
func (s *Secrets) set(part Part, rotation *Rotation) {
	s.Rotations = slices.DeleteFunc(s.Rotations, func(r Rotation) bool { return r.Part == part })
	if rotation != nil {
		s.Rotations = append(s.Rotations, *rotation)
	}
	slices.SortFunc(s.Rotations, func(a, b Rotation) int { return cmp.Compare(a.Part, b.Part) })
}

// clone copies secrets as far as a rotation changes them.
func (s *Secrets) clone() *Secrets {
	bundle := *s.Bundle
	own, trustd, certs := *bundle.Secrets, *bundle.TrustdInfo, *bundle.Certs
	bundle.Secrets, bundle.TrustdInfo, bundle.Certs = &own, &trustd, &certs
	return &Secrets{Bundle: &bundle, Rotations: slices.Clone(s.Rotations)}
}

// checkRotations looks at the rotations in a file.
func (s *Secrets) checkRotations() error {
	for i, rotation := range s.Rotations {
		where := fmt.Sprintf("minos.rotation[%d]", i)
		kind, known := overlaps[rotation.Part]
		switch {
		case !known:
			return fmt.Errorf("%s.part: there is no rotation of %q", where, rotation.Part)
		case rotation.Step != StepAccept && rotation.Step != StepIssue:
			return fmt.Errorf("%s.step: %q is neither accept nor issue", where, rotation.Step)
		case slices.ContainsFunc(s.Rotations[:i], func(r Rotation) bool { return r.Part == rotation.Part }):
			return fmt.Errorf("%s.part: %s is there twice", where, rotation.Part)
		}
		public, err := decode(where+".public", rotation.Public)
		if err != nil {
			return err
		}
		private, err := decode(where+".key", rotation.Key)
		if err != nil {
			return err
		}
		if rotation.Step == StepAccept && len(private) == 0 {
			return fmt.Errorf("%s.key is missing", where)
		}
		if err := kind.check(where, material{public, private}); err != nil {
			return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), where+".crt", where+".public"))
		}
	}
	return nil
}
