package langsmith

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/redact"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Bounds of one trace. The runs in the middle of a longer one are left out and
// counted.
const (
	keepHead  = 1500
	keepTail  = 500
	maxTrace  = 3 << 20  // bytes of the record
	maxHeld   = 16 << 20 // bytes of content in memory
	leastKept = 256      // bytes that every content may keep
)

// builder makes the record of one trace out of its runs, which it sees once
// and in any order. It holds redacted, bounded content only.
type builder struct {
	redactor *redact.Redactor
	root     Header

	spans   []orderedSpan
	omitted int
	held    int // bytes of content in spans
	limit   int // bytes that one content may keep now
	counts  redact.Counts
	runs    int
	ids     map[[16]byte]bool
	parents map[[16]byte]bool
	open    int
	top     *Run // the root, without content
}

type orderedSpan struct {
	order string
	span  api.ImportedSpan
}

func newBuilder(r *redact.Redactor, root Header) *builder {
	return &builder{redactor: r, root: root, limit: 64 << 10, ids: map[[16]byte]bool{}, parents: map[[16]byte]bool{}}
}

// add takes one run. A run that comes twice counts once.
func (b *builder) add(r Run) {
	key := keyOf(r.ID)
	if b.ids[key] {
		return
	}
	b.ids[key] = true
	b.runs++
	if r.ParentID != "" {
		b.parents[keyOf(r.ParentID)] = true
	}
	if r.End.IsZero() || r.Status == api.TraceOpen {
		b.open++
	}
	s := b.span(r)
	b.spans = append(b.spans, orderedSpan{r.Order + "\x00" + r.ID, s})
	b.held += len(s.Input) + len(s.Output) + len(s.Attributes)
	if r.ID == b.root.ID {
		r.Inputs, r.Outputs = nil, nil
		b.top = &r
	}
	if len(b.spans) >= 2*(keepHead+keepTail) {
		b.thin()
	}
	for b.held > maxHeld && b.limit > leastKept {
		b.tighten()
	}
}

// incomplete says why the tree cannot be all of it, given the largest number
// of runs that it was seen with before.
func (b *builder) incomplete(before int) (reasons []string) {
	if b.top == nil {
		reasons = append(reasons, "root_missing")
	}
	if b.open > 0 {
		reasons = append(reasons, "runs_open")
	}
	for p := range b.parents {
		if !b.ids[p] {
			reasons = append(reasons, "parent_missing")
			break
		}
	}
	if b.runs < before {
		reasons = append(reasons, "runs_missing")
	}
	return reasons
}

func (b *builder) text(s string) string {
	out, n := b.redactor.Text(s)
	b.counts.Add(n)
	return out
}

func (b *builder) content(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("null")
	}
	out, n := b.redactor.JSON(raw)
	b.counts.Add(n)
	if len(out) > b.limit {
		out = b.shrink(out)
	}
	return out
}

func (b *builder) shrink(content json.RawMessage) json.RawMessage {
	if len(content) <= b.limit {
		return content
	}
	out, n := redact.New(redact.Config{Limits: redact.Limits{Value: b.limit}}).JSON(content)
	b.counts.Truncated += n.Truncated
	return out
}

// tighten halves what every content may keep.
func (b *builder) tighten() {
	b.limit /= 2
	b.held = 0
	for i := range b.spans {
		s := &b.spans[i].span
		s.Input, s.Output, s.Attributes = b.shrink(s.Input), b.shrink(s.Output), b.shrink(s.Attributes)
		b.held += len(s.Input) + len(s.Output) + len(s.Attributes)
	}
}

// thin leaves out the runs between the first and the last ones.
func (b *builder) thin() {
	slices.SortFunc(b.spans, func(x, y orderedSpan) int { return strings.Compare(x.order, y.order) })
	if n := len(b.spans) - keepHead - keepTail; n > 0 {
		for _, s := range b.spans[keepHead : keepHead+n] {
			b.held -= len(s.span.Input) + len(s.span.Output) + len(s.span.Attributes)
		}
		b.spans = slices.Delete(b.spans, keepHead, keepHead+n)
		b.omitted += n
	}
}

func (b *builder) span(r Run) api.ImportedSpan {
	facts := factsOf(r.Metadata)
	s := api.ImportedSpan{
		SourceSpanID: r.ID, ParentSpanID: optional(r.ParentID), Kind: kindOf(r), Name: b.text(r.Name), Status: r.Status,
		StartedAt: stamp(r.Start), EndedAt: maybe(r.End), FirstTokenAt: maybe(r.FirstToken),
		Provider: optional(b.text(facts.Provider)), Model: optional(b.text(facts.Model)),
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, Cost: microOf(r.Cost),
		Input: b.content(r.Inputs), Output: b.content(r.Outputs), Attributes: b.content(r.Metadata),
	}
	if r.Error != "" {
		s.Error = optional(b.text(r.Error))
	}
	return s
}

// build makes the record. Its bytes depend on the runs alone, not on their
// order or on the version of the source's interface.
func (b *builder) build(reasons []string) (api.ImportedTrace, int, error) {
	b.thin()
	t := api.ImportedTrace{
		SourceTraceID: b.root.ID, Status: b.root.Status, Completeness: api.TraceComplete, Reasons: []string{}, Labels: []string{},
		StartedAt: stamp(b.root.Start), EndedAt: maybe(b.root.End), SpanCount: b.runs, OmittedSpans: b.omitted,
	}
	if b.top != nil {
		t.Name = b.text(b.top.Name)
		t.ThreadID = optional(b.text(factsOf(b.top.Metadata).thread()))
		for _, tag := range b.top.Tags[:min(len(b.top.Tags), 50)] {
			t.Labels = append(t.Labels, b.text(tag))
		}
	}
	if b.omitted > 0 {
		reasons = append(reasons, "runs_omitted")
	}
	if len(reasons) > 0 {
		t.Completeness, t.Reasons = api.TracePartial, reasons
	}
	for {
		t.Spans = t.Spans[:0]
		for _, s := range b.spans {
			t.Spans = append(t.Spans, s.span)
		}
		t.Redaction = api.TraceRedaction{
			Version: redact.Version, Profile: b.redactor.Profile(),
			Fields: b.counts.Fields, Values: b.counts.Values, Truncated: b.counts.Truncated, Errors: b.counts.Errors,
		}
		digest, size, err := t.ContentDigest()
		if err != nil {
			return t, 0, err
		}
		if size > maxTrace && b.limit > leastKept {
			b.tighten()
			continue
		}
		t.Digest = digest
		return t, size, nil
	}
}

// facts are the members of a run's metadata that have a meaning here.
type facts struct {
	Provider string
	Model    string
	Threads  [3]string
}

func factsOf(metadata json.RawMessage) (f facts) {
	var m map[string]json.RawMessage
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil {
		return f
	}
	for _, x := range []struct {
		name string
		to   *string
	}{
		{"ls_provider", &f.Provider}, {"ls_model_name", &f.Model},
		{"session_id", &f.Threads[0]}, {"conversation_id", &f.Threads[1]}, {"thread_id", &f.Threads[2]},
	} {
		var s string
		if json.Unmarshal(m[x.name], &s) == nil {
			*x.to = s
		}
	}
	return f
}

func (f facts) thread() string { return cmp.Or(f.Threads[0], f.Threads[1], f.Threads[2]) }

func kindOf(r Run) string {
	switch strings.ToLower(r.Type) {
	case "llm":
		return api.SpanModel
	case "tool":
		return api.SpanTool
	case "retriever":
		return api.SpanRetrieval
	case "embedding":
		return api.SpanEmbedding
	case "chain":
		if r.ParentID == "" {
			return api.SpanAgent
		}
		return api.SpanWorkflow
	}
	return api.SpanOther
}

// microOf rounds half a micro-dollar up. What is no amount is unknown.
func microOf(dollars string) *usd.Micro {
	if dollars == "" || len(dollars) > 64 {
		return nil
	}
	if _, exp, ok := strings.Cut(strings.ToLower(dollars), "e"); ok && len(exp) > 3 {
		return nil
	}
	r, ok := new(big.Rat).SetString(dollars)
	if !ok || r.Sign() < 0 {
		return nil
	}
	r.Mul(r, big.NewRat(1_000_000, 1)).Add(r, big.NewRat(1, 2))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return nil
	}
	m := usd.Micro(n.Int64())
	return &m
}

// stamp is a time in UTC with the precision that every source has.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func maybe(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = stamp(t)
	return &t
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
