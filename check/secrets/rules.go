// SPDX-License-Identifier: Apache-2.0

// Package secrets has the rules about secrets and hardening: that no secret stands readable where others can read it, that
// what is written to disks is encrypted, and that what machines let in and trust is no more than they need.
package secrets

import (
	"embed"
	"slices"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

//go:embed examples
var examples embed.FS

// Rules returns the rules.
func Rules() []*rule.Rule {
	return rule.Set(examples, slices.Concat(repository(), material(), disks(), trust(), firewall(), workloads())...)
}

// repository are the rules about secrets in files and in the history of a repository.
func repository() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-001", Title: "no secret stands readable in a file that Git tracks, or in its history",
			Question: "Can everybody who reads the repository take over the cluster? With the key of an authority anybody makes himself administrator, with a token anybody's machine joins. What was committed once stays in the history, also after the file is gone.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "encrypt the file with SOPS, and replace the secret: whoever had the repository has it (minos secrets rotate)",
			Sources: []string{"A2", "F2", "C7"}, Judge: readable,
		},
		{
			ID: "SEC-002", Title: "the rules of SOPS cover every file with secrets, and every secret in it",
			Question: "Would the next edit be encrypted as the last one was? The file .sops.yaml says which files SOPS encrypts and which fields of them; a path or a field that it misses is written readably, and nobody is told.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "extend path_regex, or encrypted_regex, in .sops.yaml",
			Sources: []string{"C7"}, Judge: covered,
		},
		{
			ID: "SEC-003", Title: "talosconfig, kubeconfig and secrets bundle are encrypted, or ignored by Git",
			Question: "Could the files that open the whole cluster get into the repository by accident? talosctl and kubectl write them into the folder where one works, and one 'git add .' later they are public.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree}, Remedy: "take the file out of Git and replace what it holds; name it in .gitignore, or keep it encrypted",
			Sources: []string{"A2"}, Judge: access,
		},
		{
			ID: "SEC-004", Title: "something looks for secrets before a change is taken in",
			Question: "Does anybody notice a secret before it is public? People paste and forget; a hook before the commit, or a step of the CI, does not.",
			Severity: rule.Warning, Inputs: []facts.Input{facts.Tree, facts.Workflows}, Remedy: "add minos check to the hooks of pre-commit, or to a workflow",
			Sources: []string{"F2"}, Judge: watched,
		},
		{
			ID: "SEC-005", Title: "no secret is in a schematic or an imager profile",
			Question: "Is there a secret in what the image is made from? A schematic is public: everybody who knows its identity can read it, and everybody who has the image has what is in it. It cannot be taken back.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic}, Remedy: "give the secret by the machine configuration, and replace it",
			Sources: []string{"T"}, Judge: schematics,
		},
		{
			ID: "SEC-006", Title: "secrets of extension services are encrypted, or referred to",
			Question: "Do keys of Tailscale, of tunnels and the like stand readable in the environment of an extension service? With such a key anybody joins the private network as if he were the machine.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Tree, facts.Config, facts.Spec}, Remedy: "refer to a Secret (from.secret in the role), or encrypt the file; and replace the key",
			Sources: []string{"A2", "ADR"}, Judge: services,
		},
	}
}

// material are the rules about the keys in machine configurations.
func material() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-007", Title: "workers have no private keys of the cluster's authorities",
			Question: "Would the loss of one worker be the loss of the cluster? A worker needs the certificates of the authorities and none of their keys; with a key on it, whoever breaks into it issues himself everything.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "make the configuration of the worker anew, as one of a worker",
			Sources: []string{"T"}, Judge: workers,
		},
		{
			ID: "SEC-008", Title: "Secrets are encrypted in etcd",
			Question: "Is a backup of etcd, or a disk of a control plane, enough to read every Secret? Without a key for it the API server writes them as they are.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "set cluster.secretboxEncryptionSecret, or add a KubeEtcdEncryptionConfig from 1.14; then write all Secrets once again",
			Sources: []string{"T"}, Judge: atRest,
		},
		{
			ID: "SEC-022", Title: "no two clusters have the same secrets",
			Question: "Is each cluster closed to the administrators of the others? Clusters that were made from one bundle trust the same authorities: the talosconfig of one opens the other, and their machines find each other.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config}, Remedy: "make secrets of its own for one of them, and move its machines to them",
			Sources: []string{"X"}, Judge: shared,
		},
	}
}

// disks are the rules about encrypted disks and what they are unlocked by.
func disks() []*rule.Rule {
	return []*rule.Rule{
		{
			ID: "SEC-009", Title: "STATE and EPHEMERAL are encrypted",
			Question: "What does somebody learn who takes a disk away? STATE holds the machine's configuration with all its keys, EPHEMERAL the data of the workloads and etcd.",
			Severity: rule.Warning, Production: true, Inputs: []facts.Input{facts.Config}, Remedy: "add VolumeConfig documents for STATE and EPHEMERAL with encryption by luks2",
			Sources: []string{"T"}, Judge: encrypted,
		},
		{
			ID: "SEC-010", Title: "what unlocks encrypted disks protects them, and lets the machine boot",
			Question: "Does the encryption help, and can the machine open its own disks? A static key of STATE lies beside it in the clear; a TPM without SecureBoot gives its key to any system; a key server that is only reached by a network whose settings are on the locked disk is never reached.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Config, facts.Schematic}, Remedy: "unlock STATE by the TPM with SecureBoot, or by nodeID; lock the keys of other volumes to STATE (lockToState)",
			Sources: []string{"T"}, Judge: unlocked,
		},
		{
			ID: "SEC-011", Title: "with SecureBoot, machines are installed from the SecureBoot image",
			Question: "Will the machine still start after the next upgrade? The upgrade puts the installer's kernel in place; one that is not signed is refused by the firmware.",
			Severity: rule.Error, Inputs: []facts.Input{facts.Schematic, facts.Config}, Remedy: "use the installer whose name has -secureboot in it, or switch SecureBoot off",
			Sources: []string{"T"}, Judge: signedBoot,
		},
	}
}
