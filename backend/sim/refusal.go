// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"minos.dev/minos/backend"
)

// silent is the error of a call to which no answer came. Only if nobody was reached is it certain that nothing was done.
func silent(ctx context.Context, asked request, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL: it says nothing to whoever reads it
	}
	if ended := ctx.Err(); ended != nil {
		return &backend.Error{Reason: backend.Unsure, Message: fmt.Sprintf("the call ended before the place answered: %v", ended), Cause: ended}
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return &backend.Error{Reason: backend.Unavailable, Message: fmt.Sprintf("the place cannot be reached: %v: start it, or correct its address", err), Cause: err}
	}
	return &backend.Error{Reason: asked.doubt(), Message: fmt.Sprintf("the place did not answer: %v: ask again", err), Cause: err}
}

// refusal is the error of an answer that is not what was asked for. A failure in the cloud's own words is believed; the same
// status from something in between is not, where believing it could cost an instance.
func refusal(asked request, answer *http.Response, text []byte) error {
	var said Failure
	if json.Unmarshal(text, &said) != nil {
		said = Failure{}
	}
	failure := &backend.Error{Reason: reasonOf(asked, answer.StatusCode, said.Code), Message: sentence(said.Message, answer.StatusCode)}
	if failure.Reason == backend.TooFast || failure.Reason == backend.Unavailable {
		failure.After = after(answer.Header.Get("Retry-After"))
	}
	if failure.Reason == backend.TooFast && failure.After == 0 {
		failure.After = time.Second
	}
	return failure
}

// reasonOf is what a status means to a call.
func reasonOf(asked request, status int, code string) backend.Reason {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return backend.Denied
	case http.StatusNotFound:
		if code == CodeGone && asked.path != Root {
			return backend.Gone
		}
		return backend.Unavailable
	case http.StatusConflict:
		return backend.Taken
	case http.StatusTooManyRequests:
		return backend.TooFast
	case http.StatusUnprocessableEntity:
		if code == CodeNoRoom {
			return backend.NoRoom
		}
		return backend.Invalid
	case http.StatusBadRequest:
		return backend.Invalid
	case http.StatusServiceUnavailable:
		return backend.Unavailable
	}
	return asked.doubt()
}

// sentence is what the place said, in one line of a sensible length.
func sentence(message string, status int) string {
	const longest = 500
	line := strings.Join(strings.Fields(message), " ")
	if line == "" {
		return fmt.Sprintf("the place answered with status %d and no reason", status)
	}
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	return line
}

// after reads how long to wait, in seconds as the cloud gives it. What cannot be read says nothing.
func after(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 || seconds > int(time.Hour/time.Second) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
