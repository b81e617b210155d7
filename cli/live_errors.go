// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "minos.dev/minos/api/v1alpha1"
)

// explain says in one line what went wrong with a question to the management cluster, and what helps. What it knows nothing
// about stays as it is.
func (l *live) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case isMissingKind(err):
		return Hint(fmt.Errorf("the cluster at %s does not know the kinds of %s", l.host, api.Group),
			"install Minos there ('kubectl apply --server-side -f charts/minos/crds' installs the kinds), or give another --context")
	case apierrors.IsUnauthorized(err):
		return Hint(fmt.Errorf("the cluster at %s does not accept the credentials of the kubeconfig", l.host), "log in again, or give another --context")
	case apierrors.IsForbidden(err):
		return explainForbidden(err)
	case apierrors.IsInvalid(err):
		return errors.New(causes(err))
	}
	return l.explainSilence(err)
}

// isMissingKind says whether the API server does not serve our kinds.
func isMissingKind(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	// What is asked for by its path alone: no object is named in the answer.
	var status apierrors.APIStatus
	return errors.As(err, &status) && apierrors.IsNotFound(err) && (status.Status().Details == nil || status.Status().Details.Name == "")
}

// cannot is how the API server says that a right is missing.
var cannot = regexp.MustCompile(`User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:in the namespace "([^"]+)"|at the cluster scope)`)

// explainForbidden names the right that is missing. What an admission refused has no such right, and says itself why.
func explainForbidden(err error) error {
	found := cannot.FindStringSubmatch(err.Error())
	if found == nil {
		_, why, refused := strings.Cut(err.Error(), "denied the request: ") // a guard's own sentence, without its name
		if refused {
			return errors.New(why)
		}
		return err
	}
	user, verb, resource, group, namespace := found[1], found[2], found[3], found[4], found[5]
	where, what := "in all namespaces", resource
	if namespace != "" {
		where = fmt.Sprintf("in namespace %q", namespace)
	}
	if group != "" {
		what += "." + group
	}
	return Hint(&forbidden{fmt.Sprintf("user %q may not %s %s %s", user, verb, what, where)},
		fmt.Sprintf("ask for a role with the verb %q on %s, or give another namespace or --context", verb, what))
}

// causes are what the API server holds against an object, each with its field.
func causes(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return err.Error()
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseType("FieldValueInvalid") && strings.HasPrefix(cause.Field, "<nil>") {
			continue // it says only that rules were not looked at because of the others
		}
		// The path stands in front: that it was an invalid value says the sentence itself.
		lines = append(lines, strings.TrimPrefix(cause.Field+": "+cause.Message, ": "))
	}
	return strings.Join(lines, "; ")
}

// explainSilence says that nobody answers, if that is so.
func (l *live) explainSilence(err error) error {
	silent, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	why := silent.Err.Error()
	if broken, ok := errors.AsType[*net.OpError](err); ok {
		why = broken.Err.Error()
	}
	if silent.Timeout() {
		why = fmt.Sprintf("no answer within %s", callTimeout)
	}
	return Hint(&silence{fmt.Sprintf("the API server at %s cannot be asked: %s", l.host, why)}, "is it the right context, and is its network reachable from here?")
}

// silence is the error of an API server that does not answer: who waits anyway can go on waiting.
type silence struct{ text string }

func (s *silence) Error() string { return s.text }

// forbidden is the error of a right that is missing.
type forbidden struct{ text string }

func (f *forbidden) Error() string { return f.text }

// isForbidden says whether a right is missing.
func isForbidden(err error) bool {
	_, ok := errors.AsType[*forbidden](err)
	return ok
}
