// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/sha256"
	"sync"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
)

// A library keeps configurations that were read: all machines of a pool have the same text, and reading is slow.
type library struct {
	mutex sync.Mutex
	books map[book]talosconfig.Provider
}

// A book is a text as machines of one setting read it.
type book struct {
	setting
	sum [sha256.Size]byte
}

// shelf is how many configurations are kept: pools are few, and where every machine has a text of its own nothing is gained.
const shelf = 32

// read is what a setting reads in a text. Nobody changes a configuration that is in force, so machines can share one.
func (l *library) read(s setting, text []byte) (talosconfig.Provider, error) {
	wanted := book{setting: s, sum: sha256.Sum256(text)}
	l.mutex.Lock()
	found := l.books[wanted]
	l.mutex.Unlock()
	if found != nil {
		return found, nil
	}
	provider, _, err := s.read(text)
	if err != nil {
		return nil, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.books) >= shelf || l.books == nil {
		l.books = map[book]talosconfig.Provider{}
	}
	l.books[wanted] = provider
	return provider, nil
}
