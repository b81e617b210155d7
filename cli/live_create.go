// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"minos.dev/minos/api/load"
)

// dryRunFlag gives a command --dry-run.
func dryRunFlag(cmd *cobra.Command, usage string) *bool {
	return cmd.Flags().Bool("dry-run", false, usage)
}

// A single is the value of a flag that takes one word here and a list elsewhere: one variable can be both only if its form is
// the same.
type single struct {
	value    *string
	accepted []string // any, if there are none
}

func (s *single) String() string {
	if s.value == nil { // pflag asks a zero value too
		return ""
	}
	return *s.value
}

// Type is that of the list.
func (s *single) Type() string { return "stringSlice" }

// Set takes one word.
func (s *single) Set(text string) error {
	if strings.Contains(text, ",") {
		return errors.New("give one")
	}
	if len(s.accepted) > 0 && !slices.Contains(s.accepted, text) {
		return fmt.Errorf("%q is not one of %s", text, orList(s.accepted))
	}
	*s.value = text
	return nil
}

// accepts is what badValue says.
func (s *single) accepts() string {
	if len(s.accepted) == 0 {
		return "one word"
	}
	return "one of " + orList(s.accepted)
}

// quantityOf reads the amount that a flag names.
func quantityOf(flag, text string) (*resource.Quantity, error) {
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %q is not an amount such as 2 or 4Gi", flag, text)
	}
	return &amount, nil
}

// documentOf is an object as a document of a folder, held to the rules that the definitions have: what is wrong names its
// field before anything is asked of the API server.
func documentOf(reader *load.Reader, file string, object client.Object) (*load.Document, error) {
	text, err := yaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	documents, problems := reader.Read(file, text)
	if len(problems) > 0 {
		return nil, wrong(problems)
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("%s is of no kind of ours", object.GetName())
	}
	return documents[0], nil
}

// wrong is problems as one error, by field: there is no file that they stand in.
func wrong(problems []load.Problem) error {
	lines := make([]string, 0, len(problems))
	for _, problem := range problems {
		lines = append(lines, strings.TrimPrefix(problem.Path+": "+problem.Text, ": "))
	}
	return errors.New(strings.Join(lines, "; "))
}

// makeObject has the API server make an object. A dry run asks it too, so that its own refusals are seen, and prints what it would
// have made.
func (l *live) makeObject(cmd *cobra.Command, object client.Object, word string, dryRun bool) error {
	options := []client.CreateOption{fieldOwner}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	name := object.GetName()
	err := l.Create(cmd.Context(), object, options...)
	if apierrors.IsAlreadyExists(err) {
		return Hint(fmt.Errorf("there is a %s %q in namespace %q already", word, name, l.namespace),
			fmt.Sprintf("'minos %s describe %s' shows it; choose another name for another one", word, name))
	}
	if err != nil {
		return l.explain(err)
	}
	if dryRun {
		return Print(cmd.OutOrStdout(), FormatYAML, unborn(object), nil)
	}
	say(cmd, "made %s %s in namespace %s", word, name, l.namespace)
	return nil
}

// mayNotExist passes over an object that is not there, and says whether it is.
func (l *live) mayNotExist(ctx context.Context, key client.ObjectKey, into client.Object) (bool, error) {
	err := l.Get(ctx, key, into)
	if apierrors.IsNotFound(err) && !isMissingKind(err) {
		return false, nil
	}
	return err == nil, l.explain(err)
}
