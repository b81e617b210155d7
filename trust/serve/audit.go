// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"google.golang.org/grpc/codes"
)

// A result is what became of a request, for the log and for counting.
type result string

const (
	issued          result = "issued"
	refused         result = "refused"         // by the policy
	malformed       result = "malformed"       // no request that could be signed
	unauthenticated result = "unauthenticated" // no token of ours
	limited         result = "limited"         // too often
	incomplete      result = "incomplete"      // it did not arrive
	unknown         result = "unknown-method"  // nothing that we do
	failed          result = "failed"          // our fault
)

// A record is one line of the audit log. There is no field for a token, and none is ever put into another.
type record struct {
	result result
	code   codes.Code
	reason string
	pool   string
	file   string // of the token: its name, not what is in it
	source netip.Addr

	commonName string
	names      []string
	addresses  []netip.Addr
	own        []string
	key        string

	serial   string
	notAfter time.Time
	took     time.Duration
	count    uint64 // how many requests a line stands for, if not one
}

// An audit writes records.
type audit struct {
	log     *slog.Logger
	metrics *Metrics
}

func newAudit(to io.Writer, metrics *Metrics) *audit {
	return &audit{slog.New(slog.NewJSONHandler(counted{to, metrics}, nil)), metrics}
}

// counted notices lines that were not written: slog does not say.
type counted struct {
	io.Writer
	metrics *Metrics
}

// Write writes a line.
func (c counted) Write(line []byte) (int, error) {
	n, err := c.Writer.Write(line)
	if err != nil {
		c.metrics.unwritten.Inc()
	}
	return n, err
}

// write counts a record and writes its line.
func (a *audit) write(ctx context.Context, r *record) {
	a.metrics.requests.WithLabelValues(r.pool, string(r.result)).Inc()
	if len(r.own) > 0 {
		a.metrics.own.Inc()
	}
	level := slog.LevelWarn
	if r.result == issued && len(r.own) == 0 {
		level = slog.LevelInfo
	}
	a.log.LogAttrs(ctx, level, "certificate", r.attributes()...)
}

// attributes are what is known of a request: what is not is left out.
func (r *record) attributes() []slog.Attr {
	found := make([]slog.Attr, 0, 16)
	add := func(name, value string) {
		if value != "" {
			found = append(found, slog.String(name, value))
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			found = append(found, slog.Any(name, values))
		}
	}
	add("result", string(r.result))
	add("code", r.code.String())
	add("reason", r.reason)
	add("pool", r.pool)
	add("file", r.file)
	add("source", r.source.String())
	add("commonName", clip(r.commonName))
	list("names", few(r.names, clip))
	list("addresses", few(r.addresses, netip.Addr.String))
	list("own", few(r.own, clip))
	add("key", r.key)
	add("serial", r.serial)
	if !r.notAfter.IsZero() {
		found = append(found, slog.Time("notAfter", r.notAfter))
	}
	if r.took > 0 {
		found = append(found, slog.Float64("milliseconds", float64(r.took.Microseconds())/1000))
	}
	if r.count > 0 {
		found = append(found, slog.Uint64("count", r.count))
	}
	return found
}

// few turns some values into text, and says that there were more: a stranger does not decide how long a line is.
func few[T any](values []T, text func(T) string) []string {
	const most = 64
	var found []string
	for i, value := range values {
		if i == most {
			return append(found, "…")
		}
		found = append(found, text(value))
	}
	return found
}

// clip cuts a text that is longer than any name.
func clip(text string) string {
	const most = 253
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
