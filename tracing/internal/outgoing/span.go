package outgoing

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/evalrouter/evalrouter/lib/redact"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

// Bounds of one span. The service takes what is within them.
const (
	maxSpan       = 256 << 10 // bytes
	maxAttributes = 128
	maxEvents     = 128
	maxLinks      = 128
	maxShort      = 256 // bytes of a text that is redacted at once
	maxNested     = 16 << 10
)

// Late is a part of a span that is redacted and written by Finish.
type Late struct {
	verdict
	Raw string
}

// Record is a span on its way out.
type Record struct {
	Origin string // as otlp.Origin encodes it
	Span   []byte
	Late   []Late
	counts redact.Counts
}

// Weight is how many bytes the record holds.
func (r Record) Weight() int {
	n := len(r.Span)
	for _, l := range r.Late {
		n += len(l.Raw) + len(l.key)
	}
	return n
}

// Maker makes records. It is safe for concurrent use.
type Maker struct {
	c       *cleaner
	origins memory[source, string]
}

// NewMaker fills the defaults of the policy.
func NewMaker(p Policy) *Maker { return &Maker{c: newCleaner(p)} }

// Profile identifies the rules of redaction.
func (m *Maker) Profile() string { return m.c.r.Profile() }

// Content redacts one value at once, for a caller who cannot wait for Finish.
func (m *Maker) Content(attribute, raw string) string {
	var n redact.Counts
	return string(m.c.content(attribute, raw, &n))
}

// Text redacts one text.
func (m *Maker) Text(s string) string {
	var n redact.Counts
	return m.c.text(s, &n)
}

// Make writes a span behind scratch, all but its late parts. The parent may
// differ from the span's own, which can be one that is not exported. It reports
// false when the span could not be written: nothing of it may leave then.
func (m *Maker) Make(scratch []byte, s trace.ReadOnlySpan, parent api.SpanID) (r Record, ok bool) {
	defer func() {
		if recover() != nil {
			r, ok = Record{}, false
		}
	}()
	r.Origin = m.origin(s)
	attributes, events, links := s.Attributes(), s.Events(), s.Links()
	status := s.Status()
	h := otlp.Head{
		Context: s.SpanContext(), Parent: parent, Name: m.c.word(s.Name(), &r.counts), Kind: s.SpanKind(),
		Start: s.StartTime(), End: s.EndTime(), Status: status.Code,
		DroppedAttributes: s.DroppedAttributes() + max(0, len(attributes)-maxAttributes),
		DroppedEvents:     s.DroppedEvents() + max(0, len(events)-maxEvents),
		DroppedLinks:      s.DroppedLinks() + max(0, len(links)-maxLinks),
	}
	if status.Code == codes.Error {
		h.StatusText = m.c.text(status.Description, &r.counts)
	}
	b := otlp.Span(scratch, h)
	for _, kv := range attributes[:min(len(attributes), maxAttributes)] {
		b = m.attribute(b, kv, &r)
	}
	b = m.events(b, events[:min(len(events), maxEvents)], &r)
	for _, l := range links[:min(len(links), maxLinks)] {
		nested := m.nested(otlp.LinkAttributes, l.Attributes, &r)
		b = otlp.Link(b, l.SpanContext, nested, l.DroppedAttributeCount)
	}
	r.Span = b
	return r, true
}

// events: those of the GenAI conventions carry messages, so without content
// only their names stay.
func (m *Maker) events(b []byte, events []trace.Event, r *Record) []byte {
	for _, e := range events {
		attributes := e.Attributes
		if m.c.policy.Content == None && strings.HasPrefix(e.Name, "gen_ai.") {
			attributes = nil
		}
		if len(b) > maxSpan/2 {
			attributes = nil
			r.counts.Truncated++
		}
		b = otlp.Event(b, e.Time, m.c.word(e.Name, &r.counts), m.nested(otlp.EventAttributes, attributes, r), e.DroppedAttributeCount)
	}
	return b
}

// attribute writes one attribute of a span, or puts it off.
func (m *Maker) attribute(b []byte, kv attribute.KeyValue, r *Record) []byte {
	v := m.c.key(string(kv.Key))
	if v.content && m.c.policy.Content == None {
		return b
	}
	if kv.Value.Type() == attribute.STRING && v.rule == "" {
		s := kv.Value.AsString()
		if v.content || len(s) > maxShort {
			r.Late = append(r.Late, Late{verdict: v, Raw: s})
			return b
		}
	}
	return m.value(b, otlp.SpanAttributes, v, kv.Value, &r.counts)
}

// nested writes the attributes of an event or a link at once.
func (m *Maker) nested(field attributeField, list []attribute.KeyValue, r *Record) (b []byte) {
	for _, kv := range list[:min(len(list), maxAttributes)] {
		v := m.c.key(string(kv.Key))
		if v.content && m.c.policy.Content == None {
			continue
		}
		if len(b) > maxNested {
			r.counts.Truncated++
			break
		}
		if s := kv.Value.AsString(); kv.Value.Type() == attribute.STRING && v.rule == "" && v.content {
			b = otlp.String(b, field, v.key, m.long(v, s, &r.counts))
			continue
		}
		b = m.value(b, field, v, kv.Value, &r.counts)
	}
	return b
}

// Finish redacts and writes what Make put off, and what redaction did. It
// never fails: what cannot be written is replaced by a mark.
func (m *Maker) Finish(r Record) []byte {
	b := r.Span
	for _, l := range r.Late {
		b = m.late(b, l, &r.counts)
	}
	for _, c := range []struct {
		key string
		n   int
	}{
		{"evalrouter.redacted.fields", r.counts.Fields}, {"evalrouter.redacted.values", r.counts.Values},
		{"evalrouter.redacted.truncated", r.counts.Truncated}, {"evalrouter.redacted.errors", r.counts.Errors},
	} {
		if c.n > 0 {
			b = otlp.Int(b, otlp.SpanAttributes, c.key, int64(c.n))
		}
	}
	return b
}

func (m *Maker) late(b []byte, l Late, n *redact.Counts) (out []byte) {
	defer func() {
		if recover() != nil {
			n.Errors++
			out = otlp.String(b, otlp.SpanAttributes, l.key, mark("redacted", "error"))
		}
	}()
	clean := m.long(l.verdict, l.Raw, n)
	if len(b)+len(clean) > maxSpan {
		n.Truncated++
		clean = tooLong(len(clean))
	}
	return otlp.String(b, otlp.SpanAttributes, l.key, clean)
}

// long cleans a text by what it is: our own content is JSON by definition, and
// of others what spells JSON.
func (m *Maker) long(v verdict, s string, n *redact.Counts) []byte {
	switch {
	case v.own || v.content && holdsJSON(s):
		return m.c.content(v.key, s, n)
	case v.content:
		return m.c.plain(v.key, s, n)
	}
	return []byte(m.c.text(s, n))
}
