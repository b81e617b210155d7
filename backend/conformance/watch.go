// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"minos.dev/minos/backend"
)

// A watch is a place of which all that comes back is searched for secrets.
type watch struct {
	backend.Place
	secrets []string

	mutex sync.Mutex
	leaks []error
}

// newWatch watches a place.
func newWatch(place backend.Place, secrets []string) *watch {
	w := &watch{Place: place}
	for _, secret := range append([]string{userData}, secrets...) {
		w.secrets = append(w.secrets, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	w.look("the place itself", place, nil)
	return w
}

// look searches a value and all errors behind an error. It says where the secret is, and not what it is.
func (w *watch) look(from string, value any, err error) {
	texts := []string{fmt.Sprintf("%v %+v %#v", value, value, value)}
	for ; err != nil; err = errors.Unwrap(err) {
		texts = append(texts, fmt.Sprintf("%v %+v %#v", err, err, err))
	}
	for _, text := range texts {
		for _, secret := range w.secrets {
			if secret != "" && strings.Contains(text, secret) {
				w.mutex.Lock()
				w.leaks = append(w.leaks, fmt.Errorf("%s shows what is secret: user data or credentials", from))
				w.mutex.Unlock()
			}
		}
	}
}

// leaked is what was found.
func (w *watch) leaked() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return errors.Join(w.leaks...)
}

// Create watches that of the place.
func (w *watch) Create(ctx context.Context, wanted backend.Machine) (backend.Instance, error) {
	made, err := w.Place.Create(ctx, wanted)
	w.look("Create", made, err)
	return made, err
}

// Get watches that of the place.
func (w *watch) Get(ctx context.Context, owner backend.Owner, id string) (backend.Instance, error) {
	found, err := w.Place.Get(ctx, owner, id)
	w.look("Get", found, err)
	return found, err
}

// List watches that of the place.
func (w *watch) List(ctx context.Context, owner backend.Owner) ([]backend.Instance, error) {
	found, err := w.Place.List(ctx, owner)
	w.look("List", found, err)
	return found, err
}

// Delete watches that of the place.
func (w *watch) Delete(ctx context.Context, owner backend.Owner, id string) error {
	err := w.Place.Delete(ctx, owner, id)
	w.look("Delete", nil, err)
	return err
}
