// Package logbook is the log of the service: JSON lines, scrubbed.
//
// Whoever writes a line leaves prompts, answers, bodies and credentials out of
// it; that is the rule. This package is what stands behind the rule: a line that
// holds a secret all the same, in the text of an error as a rule, has it taken
// out by its shape or by the name of its field before it is written. A value
// that is neither a text nor a number nor an error becomes text first, so that
// nothing is written that was not looked at.
package logbook

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/lib/redact"
)

// maxText bounds one value; stacks of panics are the longest.
const maxText = 16 << 10

// Log writes lines and counts them. Make one with New.
type Log struct {
	*slog.Logger
	counts *counts
}

// counts are lines by level, the disabled ones left out.
type counts struct{ warnings, errors atomic.Int64 }

// New writes to w, debugging lines only if verbose.
func New(w io.Writer, verbose bool) *Log {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	l := &Log{counts: &counts{}}
	clean := redact.New(redact.Config{Limits: redact.Limits{String: maxText}})
	l.Logger = slog.New(&handler{Handler: slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}), clean: clean, counts: l.counts})
	return l
}

// Counts is how many warnings and errors were written so far.
func (l *Log) Counts() (warnings, errors int64) {
	return l.counts.warnings.Load(), l.counts.errors.Load()
}

// handler scrubs what goes to the next one.
type handler struct {
	slog.Handler
	clean  *redact.Redactor
	counts *counts
}

// Handle writes one line.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Level >= slog.LevelError:
		h.counts.errors.Add(1)
	case r.Level >= slog.LevelWarn:
		h.counts.warnings.Add(1)
	}
	out := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs keeps attributes for every line.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(h.attrs(attrs)), h.clean, h.counts}
}

// WithGroup puts what follows into a group.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.clean, h.counts}
}

func (h *handler) attrs(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.attr(a)
	}
	return out
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(h.attrs(v.Group())...)}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64:
		return slog.Attr{Key: a.Key, Value: v}
	}
	if redact.Sensitive(a.Key) {
		return slog.String(a.Key, "[redacted]")
	}
	switch x := v.Any().(type) {
	case nil:
		return slog.Attr{Key: a.Key, Value: v}
	case string:
		return slog.String(a.Key, h.text(x))
	case []byte:
		return slog.String(a.Key, h.text(string(x)))
	case error:
		return slog.String(a.Key, h.text(x.Error()))
	case time.Time:
		return slog.Time(a.Key, x)
	default:
		return slog.String(a.Key, h.text(fmt.Sprintf("%+v", x)))
	}
}

func (h *handler) text(s string) string {
	s, _ = h.clean.Text(s)
	return s
}
