// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"minos.dev/minos/plan/hosted"
)

// overdue is for how long a request may be left before people hear of it: the addresses of a new machine come after it asks.
const overdue = 2 * time.Minute

// A refusal is a request for a serving certificate that was not approved.
type refusal struct {
	id   types.UID
	name string
	made time.Time
	why  error
}

// refuse notes how many requests were left, and tells people of those that became overdue.
func (t *turn) refuse(refused []refusal) {
	count := len(refused)
	t.measured.Waiting = &count
	news := t.left.news(client.ObjectKeyFromObject(t.cluster), refused, t.now)
	if len(news) == 0 {
		return
	}
	text := fmt.Sprintf("%s asks for the serving certificate of a kubelet and is not approved: %v", news[0].name, news[0].why)
	if len(news) > 1 {
		text = fmt.Sprintf("%d requests for serving certificates of kubelets are not approved, the first: %s", len(news), text)
	}
	t.announce(hosted.Moment{Warning: true, Reason: momentRefused, Message: text})
}

// left remembers which requests people have heard of.
type left struct {
	mutex sync.Mutex
	since time.Time // when the first request was looked at here: what was overdue before, others have told of
	told  map[types.NamespacedName]map[types.UID]bool
}

// news are the requests that became overdue since the last look.
func (l *left) news(cluster types.NamespacedName, refused []refusal, now time.Time) []refusal {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.since.IsZero() {
		l.since, l.told = now, map[types.NamespacedName]map[types.UID]bool{}
	}
	var found []refusal
	told := map[types.UID]bool{} // of those that are there: others do not come back
	for _, one := range refused {
		due := one.made.Add(overdue)
		if now.Before(due) {
			continue
		}
		if told[one.id] = true; !l.told[cluster][one.id] && !due.Before(l.since) {
			found = append(found, one)
		}
	}
	if l.told[cluster] = told; len(told) == 0 {
		delete(l.told, cluster)
	}
	return found
}

// forget drops a cluster.
func (l *left) forget(cluster types.NamespacedName) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.told, cluster)
}
