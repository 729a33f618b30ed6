package traces

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/lib/api"
)

type tracesInput struct {
	httpapi.Paging
	Connection  string    `query:"connection_id"`
	Query       string    `query:"q" maxLength:"200" doc:"a part of the name, in any case of letters"`
	Status      string    `query:"status" enum:"ok,error,open"`
	Name        string    `query:"name" maxLength:"2000"`
	Model       string    `query:"model" maxLength:"200"`
	Tool        string    `query:"tool" maxLength:"200"`
	From        time.Time `query:"from" doc:"started then or later"`
	To          time.Time `query:"to" doc:"started before"`
	MinDuration int64     `query:"min_duration_ms" minimum:"0" maximum:"31536000000"`
	HasFindings bool      `query:"has_findings"`
}

func (h *Handlers) list(_ *httpapi.Server, ctx context.Context, in *tracesInput) (*httpapi.Answer[api.Page[api.TraceRecord]], error) {
	at, err := in.Place("traces")
	if err != nil {
		return nil, err
	}
	var after *kept.Place
	if at != nil {
		num, err := strconv.ParseInt(at.ID, 10, 64)
		if err != nil {
			return nil, core.Refuse(core.Code(api.InvalidCursor), "the cursor is not one of this list; start again without it")
		}
		after = &kept.Place{Start: int64(at.At), Num: num}
	}
	f := kept.Filter{
		Connection: core.TraceConnectionID(in.Connection), Query: in.Query, Status: in.Status, Name: in.Name, Model: in.Model, Tool: in.Tool,
		From: nanos(in.From), To: nanos(in.To), HasFindings: in.HasFindings, LeastDurationNano: in.MinDuration * int64(time.Millisecond),
	}
	rows, err := h.Reader.List(ctx, httpapi.ScopeOf(ctx), f, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	place := func(r kept.Row) core.Place {
		return core.Place{At: core.Micros(r.Start), ID: strconv.FormatInt(r.Num, 10)}
	}
	return httpapi.PageOf("traces", in.Paging, rows, place, h.record), nil
}

// nanos is a filter's time; the zero time is none.
func nanos(t time.Time) int64 {
	if t.IsZero() || t.Year() < 1970 || t.Year() > 2261 {
		return 0
	}
	return t.UnixNano()
}

type traceInput struct {
	ID string `path:"id"`
}

func (h *Handlers) get(_ *httpapi.Server, ctx context.Context, in *traceInput) (*httpapi.Answer[api.TraceRecord], error) {
	t, err := h.Reader.Trace(ctx, httpapi.ScopeOf(ctx), core.TraceID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(h.record(t)), nil
}

type removeInput struct {
	ID    string `path:"id"`
	Force bool   `query:"force" doc:"also where dataset items were made of it"`
}

func (h *Handlers) remove(_ *httpapi.Server, ctx context.Context, in *removeInput) (*httpapi.Answer[api.OKResponse], error) {
	if err := h.Reader.Delete(ctx, httpapi.ScopeOf(ctx), core.TraceID(in.ID), in.Force); err != nil {
		return nil, err
	}
	return httpapi.Reply(api.OKResponse{OK: true}), nil
}

// spansInput pages further than other lists do: most traces are read whole by one
// request, which finds what their steps share once.
type spansInput struct {
	ID     string `path:"id"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
}

func (h *Handlers) spans(_ *httpapi.Server, ctx context.Context, in *spansInput) (*httpapi.Answer[api.Page[api.SpanRecord]], error) {
	page := httpapi.Paging{Cursor: in.Cursor, Limit: in.Limit}
	at, err := page.Place("spans")
	if err != nil {
		return nil, err
	}
	var after *kept.SpanPlace
	if at != nil {
		after = &kept.SpanPlace{Start: int64(at.At), ID: at.ID}
	}
	rows, err := h.Reader.Spans(ctx, httpapi.ScopeOf(ctx), core.TraceID(in.ID), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	place := func(s core.Span) core.Place { return core.Place{At: core.Micros(s.Start), ID: s.ID} }
	return httpapi.PageOf("spans", page, rows, place, func(s core.Span) api.SpanRecord { return spanRecord(in.ID, s) }), nil
}

func (h *Handlers) record(r kept.Row) api.TraceRecord {
	t := r.Trace
	out := api.TraceRecord{
		ID: string(t.ID), ConnectionID: string(t.Connection), Source: t.Source, SourceTraceID: t.SourceID, Revision: t.Revision, Name: t.Name, Status: t.Status,
		Completeness: t.Completeness(core.Micros(h.Now().UnixMicro())), Reasons: t.Reasons, StartedAt: timeOf(t.Start), SpanCount: t.Spans, ModelCalls: t.Models, ToolCalls: t.Tools,
		Agent: maybe(t.Agent), ConversationID: maybe(t.Conversation), Models: t.ModelNames, Tools: t.ToolNames, Labels: t.Labels,
		Usage: usageRecord(t.Usage), CostMicrousd: t.Cost, Error: failure(t.ErrorType, t.ErrorText), Content: api.ContentPartial,
		Truncated: t.InputsCut+t.OutputsCut > 0, Redacted: t.Redacted, FindingCount: t.Findings, ReceivedAt: httpapi.TimeOf(t.UpdatedAt), ExpiresAt: httpapi.TimeOf(t.ExpiresAt),
	}
	out.EndedAt, out.DurationMS = ended(t.Start, t.End)
	switch {
	case t.Inputs == 0 && t.Outputs == 0:
		out.Content = api.ContentNone
	case t.Inputs > 0 && t.Outputs > 0:
		out.Content = api.ContentCaptured
	}
	return out
}

func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// ended is null for what has not.
func ended(start, end int64) (*time.Time, *int64) {
	if end == 0 {
		return nil, nil
	}
	at, ms := timeOf(end), (end-start)/int64(time.Millisecond)
	return &at, &ms
}

func maybe(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func usageRecord(u core.SpanUsage) api.TraceUsage {
	return api.TraceUsage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached, ReasoningTokens: u.Reasoning}
}

func failure(kind, text string) *api.TraceFailure {
	if kind == "" && text == "" {
		return nil
	}
	return &api.TraceFailure{Type: kind, Message: text}
}

func spanRecord(trace string, s core.Span) api.SpanRecord {
	out := api.SpanRecord{
		ID: s.ID, TraceID: trace, ParentSpanID: maybe(s.ParentID), Kind: s.Kind, Name: s.Name, Status: s.Status, Error: failure(s.ErrorType, s.ErrorText),
		StartedAt: timeOf(s.Start), Provider: maybe(s.Provider), Model: maybe(s.Model), Usage: usageRecord(s.Usage), CostMicrousd: s.Cost,
		Input: orNull(s.Input), Output: orNull(s.Output), InputTruncated: s.InputCut, OutputTruncated: s.OutputCut, Attributes: orNull(s.Attributes),
	}
	if s.Attributes == nil {
		out.Attributes = json.RawMessage("{}")
	}
	out.EndedAt, out.DurationMS = ended(s.Start, s.End)
	return out
}

func orNull(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage("null")
	}
	return b
}
