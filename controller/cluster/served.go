// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"minos.dev/minos/controller/material"
	"minos.dev/minos/plan/hosted"
)

// served is the version of a kind that the management cluster serves, which is watched from then on. A kind that it does not
// serve is waited for. While it serves an older version only, a better one is asked for from time to time: providers are upgraded
// while we run, and what was found once is remembered for ever.
func (r *Reconciler) served(kind hosted.Kind) (schema.GroupVersionKind, error) {
	mapper, best := r.Client.RESTMapper(), kind.Versions[0]
	mapping, err := mapper.RESTMapping(kind.Kind, kind.Versions...)
	if meta.IsNoMatchError(err) {
		return schema.GroupVersionKind{}, &material.Waiting{
			For: fmt.Sprintf("the management cluster does not serve %s in %s: install %s", kind.Kind, strings.Join(kind.Versions, " or "), kind.Install),
		}
	}
	if err == nil && mapping.GroupVersionKind.Version != best && r.asked.due(kind.Kind, r.now(), r.every()) {
		better, asked := mapper.RESTMapping(kind.Kind, best)
		switch {
		case asked == nil:
			mapping = better
		case !meta.IsNoMatchError(asked):
			err = asked
		}
	}
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("look for %s in the management cluster: %w", kind.Kind, err)
	}
	return mapping.GroupVersionKind, nil
}

// asked is when better versions of kinds were last asked for.
type asked struct {
	mutex sync.Mutex
	last  map[schema.GroupKind]time.Time
}

// due says whether it is time to ask again, and takes it as asked.
func (a *asked) due(kind schema.GroupKind, now time.Time, every time.Duration) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if last, known := a.last[kind]; known && now.Before(last.Add(every)) {
		return false
	}
	if a.last == nil {
		a.last = map[schema.GroupKind]time.Time{}
	}
	a.last[kind] = now
	return true
}
