// SPDX-License-Identifier: Apache-2.0

package secret

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// open are fields of Secrets that hold nothing to hide.
var open = []string{
	"username", "user", "url", "host", "hostname", "port", "name", "type", "server", "project", "region", "bucket", "email", "namespace", "cacrt", "tlscrt", "database", "dbname", "endpoint",
}

// hold keeps the value of a field below data or stringData until it is known whether the object is a Secret of Kubernetes: its
// kind may stand behind it.
func (s *Scanner) hold(steps []string, value []byte) {
	above := s.frames[len(s.frames)-2]
	encoded := above.key == "data"
	if encoded {
		plain, err := base64.StdEncoding.DecodeString(string(value))
		if err != nil || isPublic(plain) || isPlaceholder(plain) || len(plain) < 4 {
			return
		}
	}
	evidence := fmt.Sprintf("%d characters", len(value))
	if encoded {
		evidence += " of base64"
	}
	above.held = append(above.held, s.make(hit{kind: "a value of a Kubernetes Secret", evidence: evidence, steps: steps, value: value}))
}

// holds says whether a value is one that may be a Secret's.
func (s *Scanner) holds(frame *frame) bool {
	count := len(s.frames)
	if frame == nil || count < 2 || s.frames[count-1] != frame {
		return false
	}
	above := s.frames[count-2]
	return (above.key == "data" || above.key == "stringData") && len(above.held) < mostFound && !slices.Contains(open, squeeze(frame.key))
}

// settle tells what was held of an object that turned out to be a Secret.
func (s *Scanner) settle(closed *frame) {
	if closed.kind != "Secret" {
		return
	}
	for _, found := range closed.held {
		s.add(found)
	}
}
