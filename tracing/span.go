package tracing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Span is one step of an agent. It is safe for concurrent use. All methods of a
// nil span do nothing, as do those of one that ended or was not sampled.
type Span struct {
	c      *TraceCapture
	otel   trace.Span
	inner  context.Context // in which children of a private provider start
	silent bool            // not sampled

	mu     sync.Mutex
	ended  bool
	status codes.Code
	reason string
	// attrs are given to OpenTelemetry, or read, at once when the span ends.
	attrs []attribute.KeyValue
	room  [8]attribute.KeyValue
	view  ended // of a private provider's span

	prev, next *Span // in the list of open spans
	listed     bool
}

// Usage is what a call to a model consumed, in tokens. Input counts the cached
// ones too. Zero is not recorded.
type Usage struct {
	Input, Output, CacheRead, CacheCreation, Reasoning int64
}

// TraceID is the id of the trace in 32 hex digits, for the application's log.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.otel.SpanContext().TraceID().String()
}

// Input captures what went into the step. The value is turned into JSON at once,
// so that it may change afterwards; the last call counts.
func (s *Span) Input(value any) { s.content("evalrouter.input", value) }

// Output captures what came out of the step, as Input does.
func (s *Span) Output(value any) { s.content("evalrouter.output", value) }

// maxWaiting is the most bytes of content that wait to be redacted.
const maxWaiting = 256 << 10

func (s *Span) content(key string, value any) {
	if s == nil || s.silent || s.c.content == ContentNone {
		return
	}
	text := asJSON(value)
	if s.c.provider == nil || len(text) > maxWaiting {
		text = s.c.maker.Content(key, text)
	}
	s.set(attribute.String(key, text))
}

// asJSON never fails: what cannot be JSON is a mark. A value's own methods may
// panic.
func asJSON(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = `{"$redacted":"error"}`
		}
	}()
	if raw, ok := value.(json.RawMessage); ok {
		return string(raw)
	}
	b, err := json.Marshal(value)
	if err != nil {
		return `{"$redacted":"error"}`
	}
	return string(b)
}

// Usage records what a call consumed.
func (s *Span) Usage(u Usage) {
	if s == nil {
		return
	}
	for _, a := range [...]struct {
		key string
		n   int64
	}{
		{"gen_ai.usage.input_tokens", u.Input}, {"gen_ai.usage.output_tokens", u.Output},
		{"gen_ai.usage.cache_read.input_tokens", u.CacheRead}, {"gen_ai.usage.cache_creation.input_tokens", u.CacheCreation},
		{"gen_ai.usage.reasoning.output_tokens", u.Reasoning},
	} {
		if a.n != 0 {
			s.set(attribute.Int64(a.key, a.n))
		}
	}
}

// Response records who answered, under which id, and why the answer ended.
// Empty texts are not recorded.
func (s *Span) Response(model, id string, finishReasons ...string) {
	if s == nil {
		return
	}
	if model != "" {
		s.set(attribute.String("gen_ai.response.model", model))
	}
	if id != "" {
		s.set(attribute.String("gen_ai.response.id", id))
	}
	if len(finishReasons) > 0 {
		s.set(attribute.StringSlice("gen_ai.response.finish_reasons", finishReasons))
	}
}

// Attr records anything else, such as gen_ai.conversation.id. A value that is
// no text, number, truth value or list of texts is recorded as JSON.
func (s *Span) Attr(key string, value any) {
	if s == nil || s.silent {
		return
	}
	switch v := value.(type) {
	case string:
		s.set(attribute.String(key, v))
	case bool:
		s.set(attribute.Bool(key, v))
	case int:
		s.set(attribute.Int(key, v))
	case int64:
		s.set(attribute.Int64(key, v))
	case float64:
		s.set(attribute.Float64(key, v))
	case []string:
		s.set(attribute.StringSlice(key, v))
	default:
		s.set(attribute.String(key, asJSON(v)))
	}
}

// Error records that the step failed. Do and the wrappers call it with the error
// that their function returned.
func (s *Span) Error(err error) {
	if s == nil || s.silent || err == nil {
		return
	}
	s.fail(errorType(err), errorText(err))
}

func (s *Span) fail(kind, text string) {
	if s.c.provider == nil {
		text = s.c.maker.Text(text)
	}
	s.set(attribute.String("error.type", kind))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.reason = codes.Error, text
}

// errorType is the type of the innermost error, which varies less than its text.
// The error's own methods may panic.
func errorType(err error) (kind string) {
	defer func() {
		if recover() != nil {
			kind = fmt.Sprintf("%T", err)
		}
	}()
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	for range 32 {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	return fmt.Sprintf("%T", err)
}

func errorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "the error has no text"
		}
	}()
	return err.Error()
}

// set replaces an attribute or adds one.
func (s *Span) set(kv attribute.KeyValue) {
	if s.silent {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if i := slices.IndexFunc(s.attrs, func(a attribute.KeyValue) bool { return a.Key == kv.Key }); i >= 0 {
		s.attrs[i] = kv
		return
	}
	s.attrs = append(s.attrs, kv)
}

// End ends the span. Only the first call counts. Deferred directly, it records a
// panic, which goes on.
func (s *Span) End() {
	if s == nil {
		return
	}
	if p := recover(); p != nil {
		s.panicked(p)
		defer panic(p)
	}
	s.finish()
}

// panicked records the type of a panic's value: its text may hold anything.
func (s *Span) panicked(p any) {
	if !s.silent {
		s.fail(fmt.Sprintf("panic %T", p), "panicked")
	}
}

// exited records that the goroutine of a step ended in the middle of it.
func (s *Span) exited() {
	if !s.silent {
		s.fail("goexit", "the goroutine ended")
	}
}

func (s *Span) conclude(err error) {
	if err != nil {
		s.Error(err)
	} else {
		s.mu.Lock()
		if s.status == codes.Unset {
			s.status = codes.Ok
		}
		s.mu.Unlock()
	}
	s.finish()
}

func (s *Span) finish() {
	s.mu.Lock()
	if s.ended || s.silent {
		s.mu.Unlock()
		return
	}
	s.ended = true
	attrs, status, reason := s.attrs, s.status, s.reason
	s.mu.Unlock()
	s.c.live.remove(s)
	if s.view.ReadOnlySpan == nil {
		if status != codes.Unset {
			s.otel.SetStatus(status, reason)
		}
		s.otel.SetAttributes(attrs...)
		s.otel.End()
		return
	}
	s.otel.End()
	s.view.attributes, s.view.status = attrs, sdktrace.Status{Code: status, Description: reason}
	s.c.end(&s.view, s.view.Parent().SpanID())
}

// live is the open spans of a capture.
type live struct {
	mu    sync.Mutex
	first *Span
}

func (l *live) add(s *Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.listed, s.next = true, l.first
	if l.first != nil {
		l.first.prev = s
	}
	l.first = s
}

func (l *live) remove(s *Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.listed {
		return
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.listed, s.prev, s.next = false, nil, nil
}

// endAll ends what is open, the latest first: children before their parents.
func (l *live) endAll() {
	for {
		l.mu.Lock()
		s := l.first
		l.mu.Unlock()
		if s == nil {
			return
		}
		s.set(attribute.Bool("evalrouter.incomplete", true))
		s.finish()
		l.remove(s) // when another goroutine is ending it right now
	}
}
