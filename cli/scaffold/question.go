// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"
	"strings"

	"minos.dev/minos/api/nearest"
)

// A Question is one thing that has to be known. Its name is that of its flag.
type Question struct {
	Name string
	// Ask is the question, and Help a line about the answers.
	Ask, Help string
	// Usage is what help says about the flag, with the word for its value in back quotes.
	Usage string
	// Type is the type of the flag where other commands have it too; empty is a text.
	Type string
	// Options are the accepted words; nil takes any text.
	Options []string
	// Many says that the flag can be repeated, and Switch that it is true or false.
	Many, Switch bool
	// Quiet questions are never asked: their defaults are right unless somebody knows better.
	Quiet bool
	// Place says that the answer must be true of the place: a default is a guess that has to be looked at.
	Place bool

	// hosted says that the question makes sense for a hosted cluster too, and when after which answers; nil is all.
	hosted bool
	when   func(*Answers) bool
	// fixed is what a hosted cluster has without being asked, so that saying it is no mistake.
	fixed string
	// preset is the answer of who gives none, and set takes an answer.
	preset func(*Answers) string
	set    func(*Answers, string) error
}

// An Asker answers a question. It gets the answer that is taken without one, and what was wrong with the last.
type Asker func(q Question, preset string, wrong error) (string, error)

// Presets answers by the profile alone.
func Presets(_ Question, preset string, wrong error) (string, error) { return preset, wrong }

// Fill answers all questions: by what was given, by name of the question, and of the rest by the asker.
func Fill(facts Facts, given map[string]string, ask Asker) (Answers, error) {
	a := Answers{facts: facts, guessed: map[string]bool{}}
	// What was given comes first, because the rest may follow from it whatever its order.
	for _, step := range []func(*Answers, map[string]string, Asker) error{takeGiven, askRest, refuseMisplaced} {
		if err := step(&a, given, ask); err != nil {
			return a, err
		}
	}
	return a, a.check()
}

// takeGiven takes the answers that were given.
func takeGiven(a *Answers, given map[string]string, _ Asker) error {
	for _, q := range Questions() {
		if text, ok := given[q.Name]; ok {
			if err := q.take(a, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// askRest asks what makes sense and was not given.
func askRest(a *Answers, given map[string]string, ask Asker) error {
	for _, q := range Questions() {
		if _, ok := given[q.Name]; ok || !q.applies(a) {
			continue
		}
		if err := q.answer(a, ask); err != nil {
			return err
		}
	}
	return nil
}

// refuseMisplaced refuses what was given and means nothing to the profile.
func refuseMisplaced(a *Answers, given map[string]string, _ Asker) error {
	for _, q := range Questions() {
		if text, ok := given[q.Name]; ok && a.hosted() && !q.hosted && text != q.fixed {
			return wrong(q.Name, "%q has no place in the profile hosted, where the management cluster makes machines and secrets: leave it out", text)
		}
	}
	return nil
}

// answer asks until the answer can be taken.
func (q Question) answer(a *Answers, ask Asker) error {
	preset, asker := q.preset(a), ask
	if q.Quiet {
		asker = Presets
	}
	var problem error
	for {
		text, err := asker(q, preset, problem)
		if err != nil {
			return err
		}
		if problem = q.take(a, text); problem == nil {
			a.guessed[q.Name] = q.Place && text == preset
			return nil
		}
	}
}

// take takes an answer.
func (q Question) take(a *Answers, text string) error {
	text = strings.TrimSpace(text)
	if len(q.Options) > 0 && !q.Many && !slices.Contains(q.Options, text) {
		return wrong(q.Name, "%q is not one of %s%s", text, strings.Join(q.Options, ", "), nearest.Hint(text, q.Options))
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return wrong(q.Name, "%q has more than one line", text)
	}
	return q.set(a, text)
}

// applies says whether a question makes sense after the answers before it.
func (q Question) applies(a *Answers) bool {
	if a.hosted() && !q.hosted {
		return false
	}
	return q.when == nil || q.when(a)
}

// fields are the parts of a list, however they are parted.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}
