// Package otlp reads what OpenTelemetry exporters send: spans as protobuf or as
// JSON, and nothing else of the protocol.
//
// Decisions:
//
//   - Protobuf is read field by field straight into spans, without generated
//     types: a request is bounded in what it becomes in memory, not only in its
//     bytes. Two bytes of an empty message would become two hundred.
//   - A span that cannot be told apart (its ids are missing or zero) is refused
//     alone and counted; the others of its batch are kept. Only a batch that
//     cannot be read at all is refused whole.
//   - Unknown fields are skipped, in both encodings. Numbers may be numbers or
//     texts, as the JSON mapping allows. Ids are hexadecimal in JSON.
//   - What a value cannot be (too deep, not UTF-8) is replaced by a mark.
package otlp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Bounds of one batch.
const (
	MaxSpans = 25_000
	// maxNodes bounds attributes, values and events together.
	maxNodes = 500_000
	// maxDepth bounds lists and maps inside each other.
	maxDepth = 32
	// maxAttributes and maxEvents are what is kept of one span.
	maxAttributes = 1_000
	maxEvents     = 200
)

// ErrMalformed is a body that is not what its content type says.
var ErrMalformed = errors.New("the body is not an export of traces")

// ErrTooMany is a batch with more in it than one may have.
var ErrTooMany = fmt.Errorf("the batch has more than %d spans, or more than %d attributes and values; send smaller batches", MaxSpans, maxNodes)

// Codes of a span's status.
const (
	StatusOK    = 1
	StatusError = 2
)

// Attributes are by name: nil, string, bool, int64, float64, []byte, []any and
// map[string]any.
type Attributes = map[string]any

// Span is a span as it was sent.
type Span struct {
	// TraceID, SpanID and ParentID are lower-case hexadecimal; ParentID is "" for
	// a root.
	TraceID, SpanID, ParentID string
	Name                      string
	// Start and End are unix nanoseconds, 0 when they were not sent.
	Start, End int64
	Code       int
	Message    string
	Attributes Attributes
	Events     []Event
	// Resource is shared by the spans of one process.
	Resource Attributes
	Scope    string
}

// Event is something that happened during a span.
type Event struct {
	At         int64
	Name       string
	Attributes Attributes
}

// Batch is what one request brought.
type Batch struct {
	Spans []Span
	// Rejected counts spans that were not taken; Reason says why the first was
	// not.
	Rejected int
	Reason   string
}

func (b *Batch) reject(reason string) {
	if b.Rejected == 0 {
		b.Reason = reason
	}
	b.Rejected++
}

// take keeps a span whose ids are good.
func (b *Batch) take(s Span, trace, span, parent []byte) {
	switch {
	case len(trace) == 0 && len(span) == 0:
		b.reject("a span has neither trace id nor span id; this route takes traces, not logs or metrics")
		return
	case len(trace) != 16 || zero(trace):
		b.reject("a trace id is 16 bytes that are not all zero")
		return
	case len(span) != 8 || zero(span):
		b.reject("a span id is 8 bytes that are not all zero")
		return
	case len(parent) != 0 && len(parent) != 8:
		b.reject("a parent span id is 8 bytes, or none")
		return
	}
	s.TraceID, s.SpanID = hex.EncodeToString(trace), hex.EncodeToString(span)
	if !zero(parent) {
		s.ParentID = hex.EncodeToString(parent)
	}
	if s.ParentID == s.SpanID {
		s.ParentID = ""
	}
	if s.End != 0 && s.End < s.Start {
		s.End = s.Start // clocks are set back
	}
	b.Spans = append(b.Spans, s)
}

func zero(id []byte) bool {
	for _, c := range id {
		if c != 0 {
			return false
		}
	}
	return true
}

// nanos is a time as it may be kept: one beyond the year 2262 has none.
func nanos(n uint64) int64 {
	if n > 1<<63-1 {
		return 0
	}
	return int64(n)
}

// tooDeep stands for what is inside too many lists and maps.
const tooDeep = "[nested too deeply]"

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
