// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// longest is how long the words of an event may be: the API server refuses longer ones, and nobody would hear of it.
const longest = 1024

// brief cuts the words of events that are too long, as those about many machines may be.
type brief struct{ events.EventRecorder }

// Eventf tells people of an object.
func (b brief) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) { //nolint:revive // the interface is not ours
	text := fmt.Sprintf(note, args...)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest-len("…")], "") + "…"
	}
	b.EventRecorder.Eventf(regarding, related, kind, reason, action, "%s", text)
}
