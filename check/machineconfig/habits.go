// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// How people handle an ordinary Linux: all of it is what Talos has none of.
var (
	sshKey      = regexp.MustCompile(`ssh-(rsa|ed25519|dss) AAAA|ecdsa-sha2-nistp[0-9]+ AAAA|authorized_keys|/etc/ssh/`)
	sshCommand  = regexp.MustCompile(`(?m)^[^#\n]*\b(?:ssh|scp|sftp)\s[^\n|;&]*`)
	cloudConfig = regexp.MustCompile(`(?m)^\s*#cloud-config\b`)
	packages    = regexp.MustCompile(`\b(apt-get|apt|yum|dnf|zypper)\s+(-\S+\s+)*(install|update|upgrade)\b`)
	enters      = regexp.MustCompile(`\bnsenter\b|\bchroot\s+/`)
	word        = regexp.MustCompile(`[0-9A-Za-z][0-9A-Za-z.-]*`)
)

// A seeker looks for habits, and knows whether it found any.
type seeker struct {
	all      *facts.Facts
	sheet    *rule.Sheet
	machines book
	found    bool
}

// fail says what was found.
func (s *seeker) fail(place facts.Place, format string, values ...any) {
	s.found = true
	s.sheet.Fail(place, format, values...)
}

// habits wants nothing that handles machines as an ordinary Linux.
func habits(all *facts.Facts, sheet *rule.Sheet) {
	seek := &seeker{all: all, sheet: sheet, machines: newBook(all).telling()}
	for _, machine := range all.Machines {
		seek.files(machine)
	}
	for _, file := range all.Files {
		if file.Extension() != ".md" { // pages speak of it
			seek.scripts(file)
			seek.inventory(file)
		}
	}
	for _, manifest := range all.Manifests {
		seek.manifest(manifest)
	}
	if !seek.found && len(all.Machines)+len(all.Manifests) > 0 {
		sheet.Pass(all.Whole())
	}
}

// files looks at what a machine's configuration writes.
func (s *seeker) files(machine *facts.Machine) {
	if machine.Config == nil || machine.Config.Machine() == nil {
		return
	}
	written, err := machine.Config.Machine().Files()
	if err != nil {
		return // Talos's validation says so
	}
	for _, file := range written {
		if sshKey.MatchString(file.Path()) || sshKey.MatchString(file.Content()) {
			s.fail(machine.At("machine.files"), "%s writes keys or settings of SSH to %s, and no SSH will ever run there", machine.Name, file.Path())
		}
	}
}

// scripts looks for sessions on machines, and for what cloud-init would read.
func (s *seeker) scripts(file *facts.File) {
	text := string(file.Text)
	if strings.Contains(text, "#cloud-config") && cloudConfig.MatchString(text) && (strings.Contains(strings.ToLower(text+file.Path), "talos") || s.names(text) != nil) {
		s.fail(s.all.InTree(file, firstLine(file, "#cloud-config")), "%s has settings for cloud-init, which Talos does not have", file.Path)
	}
	if !isScript(file) && !slices.ContainsFunc(s.all.Workflows, func(workflow *facts.Workflow) bool { return workflow.Document.File == file }) {
		return
	}
	for _, command := range sshCommand.FindAllString(text, -1) {
		if machine := s.names(command); machine != nil {
			s.fail(s.all.InTree(file, firstLine(file, command)), "%s opens a session on %s, and Talos has no SSH", file.Path, machine.Name)
		}
	}
}

// names is the first machine that a text names, by address or by name; nil if it names none.
func (s *seeker) names(text string) *facts.Machine {
	return s.machines.find(word.FindAllString(text, -1)...)
}

// inventory looks at files by which other tools know their machines.
func (s *seeker) inventory(file *facts.File) {
	base, folder := strings.ToLower(file.Base()), strings.ToLower(file.Path)
	ansible := strings.HasPrefix(base, "inventory") || base == "hosts" || base == "hosts.ini" || mentions(folder, "ansible/", "inventories/", "inventory/", "group_vars/", "host_vars/", "playbooks/")
	chef := base == "knife.rb" || mentions(folder, "chef/", "cookbooks/")
	if !ansible && !chef || bytes.Contains(file.Text, []byte("talosctl")) { // who drives talosctl from Ansible uses the API
		return
	}
	machine := s.names(string(file.Text))
	if machine == nil {
		machine = s.machines.find(strings.TrimSuffix(file.Base(), path.Ext(file.Base())))
	}
	if machine != nil && machine.File != file.Path {
		s.fail(s.all.InTree(file, 1), "%s has %s among the machines of another tool, which would need SSH and Python on it", file.Path, machine.Name)
	}
}

// specs are where workloads have their pods.
var specs = map[string]string{
	"Pod": "spec", "CronJob": "spec.jobTemplate.spec.template.spec", "DaemonSet": "spec.template.spec", "Deployment": "spec.template.spec", "StatefulSet": "spec.template.spec",
	"Job": "spec.template.spec",
}

// manifest looks at workloads that change the machine below them.
func (s *seeker) manifest(manifest *facts.Document) {
	spec, ok := specs[manifest.Kind()]
	if !ok {
		return
	}
	host := hostFolders(manifest.List(spec + ".volumes"))
	near := len(host) > 0 || manifest.Get(spec+".hostPID") == true
	for _, container := range slices.Concat(manifest.List(spec+".containers"), manifest.List(spec+".initContainers")) {
		if folder := writesEtc(container, host); folder != "" {
			s.fail(s.all.InDocument(manifest, spec+".volumes"), "%s %s writes to %s of the machine, which Talos mounts read-only", manifest.Kind(), manifest.Name(), folder)
		}
		command := commandOf(container)
		privileged := near || facts.Get(container, "securityContext.privileged") == true || enters.MatchString(command)
		if privileged && packages.MatchString(command) {
			s.fail(s.all.InDocument(manifest, spec+".containers"), "%s %s installs packages with the rights of the machine (%s), and Talos has no packages", manifest.Kind(), manifest.Name(), packages.FindString(command))
		}
	}
}

// hostFolders are the volumes of a pod that are folders of the machine, by their names.
func hostFolders(volumes []any) map[string]string {
	found := map[string]string{}
	for _, volume := range volumes {
		if folder := facts.Text(facts.Get(volume, "hostPath.path")); folder != "" {
			found[facts.Text(facts.Get(volume, "name"))] = path.Clean(folder)
		}
	}
	return found
}

// writesEtc is the folder below /etc of the machine that a container may write to; empty if there is none. Plugins of the network are
// meant to write to /etc/cni.
func writesEtc(container any, host map[string]string) string {
	mounts, _ := facts.Get(container, "volumeMounts").([]any)
	for _, mount := range mounts {
		folder := host[facts.Text(facts.Get(mount, "name"))]
		etc := folder == "/etc" || strings.HasPrefix(folder, "/etc/") && !strings.HasPrefix(folder, "/etc/cni")
		if etc && facts.Text(facts.Get(mount, "readOnly")) != "true" {
			return folder
		}
	}
	return ""
}

// commandOf is what a container does, on one line.
func commandOf(container any) string {
	var words []string
	for _, part := range []string{"command", "args"} {
		list, _ := facts.Get(container, part).([]any)
		for _, one := range list {
			words = append(words, facts.Text(one))
		}
	}
	return strings.Join(words, " ")
}
