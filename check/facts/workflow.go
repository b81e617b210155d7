// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"slices"
	"strings"
)

// A Workflow is a file of a CI system.
type Workflow struct {
	// Document is where it stands.
	Document *Document
	// Commands are the shell commands of all its jobs, in order.
	Commands []Command
	// Uses are the actions that it uses, for example actions/checkout@v4.
	Uses []string
	// Scheduled says that it runs by a clock, and PullRequests that it runs for changes that are proposed.
	Scheduled, PullRequests bool
	// Branches are the branches to whose changes it is bound; empty if to none.
	Branches []string
	// Environments are the protected surroundings that its jobs wait for, where the system has that.
	Environments []string
	// Manual says that a person has to let it go on, or starts it.
	Manual bool
}

// A Command is what a job does in one step.
type Command struct {
	// Job is the job's name.
	Job string
	// Path is where it stands in the document.
	Path string
	// Text is what it does.
	Text string
}

// Does says whether any of its commands holds a text.
func (w *Workflow) Does(text string) bool {
	return slices.ContainsFunc(w.Commands, func(command Command) bool { return strings.Contains(command.Text, text) })
}

// isWorkflow says whether a path is that of a file of a CI system.
func isWorkflow(path string) bool {
	for _, folder := range []string{".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/", ".woodpecker/"} {
		if strings.HasPrefix(path, folder) {
			return true
		}
	}
	return path == ".gitlab-ci.yml" || path == ".gitlab-ci.yaml" || path == ".woodpecker.yml" || path == ".woodpecker.yaml"
}

// workflow reads a file of a CI system.
func workflow(document *Document) *Workflow {
	found := &Workflow{Document: document}
	if strings.Contains(document.File.Path, "gitlab") {
		found.gitlab()
	} else {
		found.github()
	}
	return found
}

// github reads a workflow of GitHub, and of those who followed it.
func (w *Workflow) github() {
	w.triggers(w.Document.Get("on"))
	for name, job := range w.Document.Map("jobs") {
		if environment := Get(job, "environment"); environment != nil {
			w.Environments = append(w.Environments, Text(environment)+Text(Get(environment, "name")))
		}
		steps, _ := Get(job, "steps").([]any)
		for at, step := range steps {
			if text := Text(Get(step, "run")); text != "" {
				w.Commands = append(w.Commands, Command{Job: name, Path: fmt.Sprintf("jobs.%s.steps[%d].run", name, at), Text: text})
			}
			if uses := Text(Get(step, "uses")); uses != "" {
				w.Uses = append(w.Uses, uses)
			}
		}
	}
	slices.SortFunc(w.Commands, func(a, b Command) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(w.Uses)
}

// triggers reads what a workflow runs for.
func (w *Workflow) triggers(on any) {
	names := map[string]any{}
	switch on := on.(type) {
	case string:
		names[on] = nil
	case []any:
		for _, one := range on {
			names[Text(one)] = nil
		}
	case map[string]any:
		names = on
	}
	_, w.Scheduled = names["schedule"]
	_, w.PullRequests = names["pull_request"]
	_, w.Manual = names["workflow_dispatch"]
	branches, _ := Get(names["push"], "branches").([]any)
	for _, branch := range branches {
		w.Branches = append(w.Branches, Text(branch))
	}
}

// gitlab reads a file of GitLab.
func (w *Workflow) gitlab() {
	for name, job := range w.Document.Body {
		for _, part := range []string{"before_script", "script", "after_script"} {
			lines, _ := Get(job, part).([]any)
			for at, line := range lines {
				w.Commands = append(w.Commands, Command{Job: name, Path: fmt.Sprintf("%s.%s[%d]", name, part, at), Text: Text(line)})
			}
		}
		w.Manual = w.Manual || Text(Get(job, "when")) == "manual"
		if environment := Get(job, "environment"); environment != nil {
			w.Environments = append(w.Environments, Text(environment)+Text(Get(environment, "name")))
		}
		rules, _ := Get(job, "rules").([]any)
		for _, rule := range rules {
			condition := Text(Get(rule, "if"))
			w.Scheduled = w.Scheduled || strings.Contains(condition, `"schedule"`)
			w.PullRequests = w.PullRequests || strings.Contains(condition, "merge_request")
			w.Manual = w.Manual || Text(Get(rule, "when")) == "manual"
			if strings.Contains(condition, "$CI_DEFAULT_BRANCH") {
				w.Branches = append(w.Branches, "default")
			}
		}
	}
	slices.SortFunc(w.Commands, func(a, b Command) int { return strings.Compare(a.Path, b.Path) })
}
