// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/backend"
)

// A Location is a place as it was declared.
type Location struct {
	// Namespace is where a Location is, with the Secrets that it may name; empty for a ClusterLocation.
	Namespace string
	Name      string
	Spec      api.LocationSpec
}

// A PlaceFor connects to the place of a location. It is asked often, and may keep connections.
type PlaceFor func(ctx context.Context, location Location) (backend.Place, error)

// Places are the kinds of places that are served, by the member of a location.
type Places map[api.Member]PlaceFor

// A Refusal is why a machine cannot be in a place, with the reason of a condition.
type Refusal struct{ Reason, Message string }

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

// refuse makes one.
func refuse(reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// Find reads a location that a namespace names, and connects to its place. A Location is looked for in that namespace only.
func (p Places) Find(ctx context.Context, reader client.Reader, namespace string, reference api.LocationReference) (backend.Place, Location, error) {
	found := Location{Name: string(reference.Name)}
	var err error
	switch reference.Kind {
	case api.KindLocation:
		found.Namespace = namespace
		var object api.Location
		err = reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: found.Name}, &object)
		found.Spec = object.Spec
	case api.KindClusterLocation:
		var object api.ClusterLocation
		err = reader.Get(ctx, client.ObjectKey{Name: found.Name}, &object)
		found.Spec = object.Spec
	default:
		return nil, found, refuse(api.ReasonInvalid, "there is no kind of place %q: use Location or ClusterLocation", reference.Kind)
	}
	if apierrors.IsNotFound(err) {
		return nil, found, refuse(api.ReasonNotFound, "%s %s does not exist: make it, or delete the pool", reference.Kind, found.Name)
	}
	if err != nil {
		return nil, found, refuse(api.ReasonUnreadable, "read %s %s: %v", reference.Kind, found.Name, err)
	}
	connect := p[found.Spec.Member()]
	if connect == nil {
		return nil, found, refuse(api.ReasonInvalid, "%s %s is a place of kind %q, which this operator does not serve", reference.Kind, found.Name, found.Spec.Member())
	}
	place, err := connect(ctx, found)
	if err != nil && !errors.As(err, new(*Refusal)) {
		err = refuse(api.ReasonUnreadable, "%s %s: %v", reference.Kind, found.Name, err)
	}
	return place, found, err
}

// Admit says why a namespace may not make machines in a place, or nothing. What is there may stay.
func Admit(ctx context.Context, reader client.Reader, namespace string, location Location) error {
	if location.Namespace != "" {
		return nil
	}
	selector := location.Spec.Place().Namespaces
	if selector == nil {
		return refuse(api.ReasonDenied, "ClusterLocation %s is open to no namespace: set its namespaces", location.Name)
	}
	var object corev1.Namespace
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, &object); err != nil {
		return refuse(api.ReasonUnreadable, "read namespace %s: %v", namespace, err)
	}
	if !labels.SelectorFromSet(selector.MatchLabels).Matches(labels.Set(object.Labels)) {
		return refuse(api.ReasonDenied, "ClusterLocation %s is not open to namespace %s: its namespaces select others", location.Name, namespace)
	}
	return nil
}

// Words are what a place is asked for. They are written down when a machine is declared, so that it is asked for in the same words
// each time, whatever became of the pool meanwhile.
type Words struct {
	// Machine is the pool's machine.
	Machine api.Machine `json:"machine"`
	// Image is what it boots.
	Image backend.Image `json:"image"`
	// Services says that the image has services, without which the machine does not count as one that works. It is for us, and does
	// not stand in what older operators wrote.
	Services bool `json:"services,omitempty"`
	// Cluster is the identity of the cluster, for when it is gone.
	Cluster string `json:"cluster"`
}

// Text writes them.
func (w Words) Text() (string, error) {
	text, err := json.Marshal(w)
	return string(text), err
}

// parseWords reads them.
func parseWords(text string) (Words, error) {
	var words Words
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		return words, fmt.Errorf("what is wanted of the place cannot be read: %w", err)
	}
	return words, nil
}
