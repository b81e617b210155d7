// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	certificatesclient "k8s.io/client-go/kubernetes/typed/certificates/v1"
)

// A lookout watches signing requests for all who wait with the same token: for an API server, a watch for each is as much work
// as all else that a kubelet asks of it. It watches only while somebody waits.
type lookout struct {
	requests certificatesclient.CertificateSigningRequestInterface
	work     sync.WaitGroup

	mutex   sync.Mutex
	waiting map[string]chan *certificatesv1.CertificateSigningRequest // by the name of the request
	cancel  context.CancelFunc                                        // of the watch, while somebody waits
}

// newLookout returns one that nobody waits at.
func newLookout(requests certificatesclient.CertificateSigningRequestInterface) *lookout {
	return &lookout{requests: requests, waiting: map[string]chan *certificatesv1.CertificateSigningRequest{}}
}

// enter lets somebody wait for a request, best before it is made. What it returns waits for the next news and for the end.
func (l *lookout) enter(name string) (next following, leave func()) {
	news := make(chan *certificatesv1.CertificateSigningRequest, 1)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.waiting[name] = news
	if l.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		l.work.Go(func() { l.watch(ctx) })
	}
	next = func(ctx context.Context, was *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequest, error) {
		select {
		case now := <-news:
			if now == nil {
				return l.requests.Get(ctx, name, metav1.GetOptions{})
			}
			return now, nil
		case <-ctx.Done():
			_, pending := answer(was)
			return nil, fmt.Errorf("%w: %w", pending, ctx.Err())
		}
	}
	return next, func() { l.leave(name) }
}

// leave ends a wait, and with the last one the watch.
func (l *lookout) leave(name string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.waiting, name)
	if len(l.waiting) == 0 {
		l.cancel()
		l.cancel = nil
	}
}

// tell brings news of a request; nil says that there may be some. Older ones that nobody took are of no use.
func (l *lookout) tell(name string, now *certificatesv1.CertificateSigningRequest) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if news, waits := l.waiting[name]; waits {
		drain(news)
		news <- now
	}
}

// tellAll has everybody look for themselves.
func (l *lookout) tellAll() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, news := range l.waiting {
		drain(news)
		news <- nil
	}
}

// watchPause is between two watches. Those who wait learn from their own calls what is wrong.
const watchPause = 200 * time.Millisecond

// watch watches again and again until the context ends.
func (l *lookout) watch(ctx context.Context) {
	for ctx.Err() == nil {
		l.watchOnce(ctx)
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
		}
	}
}

// watchOnce watches until the API server ends it. What happened before it began is not told: everybody looks once.
func (l *lookout) watchOnce(ctx context.Context) {
	found, err := l.requests.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return
	}
	watched, err := l.requests.Watch(ctx, metav1.ListOptions{ResourceVersion: found.ResourceVersion})
	if err != nil {
		return
	}
	defer watched.Stop()
	l.tellAll()
	for event := range watched.ResultChan() {
		if request, ok := event.Object.(*certificatesv1.CertificateSigningRequest); ok && event.Type == watch.Modified {
			l.tell(request.Name, request)
		}
	}
	l.tellAll()
}
