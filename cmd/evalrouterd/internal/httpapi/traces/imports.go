package traces

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// maxImport bounds one request.
const maxImport = api.MaxImportBytes

type importInput struct {
	ID string `path:"id"`
	httpapi.Keyed
	httpapi.Brought[api.TraceImport]
}

// imports keeps whole traces. An Idempotency-Key may come and is not needed:
// a trace is known by its id and its digest.
func (h *Handlers) imports(_ *httpapi.Server, ctx context.Context, in *importInput) (*httpapi.Answer[api.TraceImportResult], error) {
	c, err := h.connection(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	v := in.Value()
	if v.Source != api.SourceLangSmith || v.ProjectID == "" || len(v.Traces) == 0 || len(v.Traces) > api.MaxImportTraces {
		return nil, httpapi.RefuseFields(core.InvalidRequest, fmt.Sprintf("an import has the source langsmith, a project_id and 1 to %d traces; nothing was kept", api.MaxImportTraces),
			[]api.FieldError{{Path: "traces", Code: "invalid_value"}})
	}
	out := api.TraceImportResult{Rejected: []api.TraceRejection{}}
	var good []core.ImportedTrace
	seen := map[string]bool{}
	for _, t := range v.Traces {
		code := check(t)
		if seen[t.SourceTraceID] {
			code = api.InvalidRequest
		}
		if seen[t.SourceTraceID] = true; code != "" {
			out.Rejected = append(out.Rejected, api.TraceRejection{SourceTraceID: t.SourceTraceID, Code: code})
			continue
		}
		good = append(good, imported(t))
	}
	if len(good) == 0 {
		return httpapi.Reply(out), nil
	}
	fates, err := h.Intake.Import(ctx, c, v.Source, good)
	if err != nil {
		return nil, err
	}
	for _, f := range fates {
		switch {
		case f.Refused != "":
			out.Rejected = append(out.Rejected, api.TraceRejection{SourceTraceID: f.TraceID, Code: api.Code(f.Refused)})
		case f.Duplicate:
			out.Duplicates++
		case f.Accepted:
			out.Accepted++
		}
	}
	return httpapi.Reply(out), nil
}

// Bounds of an imported trace's names.
const (
	maxID   = 200
	maxList = 100
)

// check is the code of what is wrong with a trace, "" for a good one.
func check(t api.ImportedTrace) api.Code {
	digest, _, err := t.ContentDigest()
	switch {
	case err != nil, t.SourceTraceID == "", core.Storable(t.SourceTraceID) != t.SourceTraceID, len(t.SourceTraceID) > maxID, t.StartedAt.IsZero(), len(t.Labels) > maxList, len(t.Reasons) > maxList:
		return api.InvalidRequest
	case !slices.Contains([]string{api.TraceOK, api.TraceError, api.TraceOpen}, t.Status):
		return api.InvalidRequest
	case t.Digest != digest:
		return api.DigestMismatch
	case t.Completeness != api.TraceComplete && t.Completeness != api.TracePartial, t.OmittedSpans < 0, t.OmittedSpans+len(t.Spans) != t.SpanCount:
		return api.InvalidRequest
	case len(t.Spans) > core.MaxTraceSpans:
		return api.TraceTooLarge
	}
	seen := make(map[string]bool, len(t.Spans))
	for _, s := range t.Spans {
		if s.SourceSpanID == "" || core.Storable(s.SourceSpanID) != s.SourceSpanID || len(s.SourceSpanID) > maxID || seen[s.SourceSpanID] || s.ParentSpanID != nil && len(*s.ParentSpanID) > maxID {
			return api.InvalidRequest
		}
		seen[s.SourceSpanID] = true
		if !known(s) {
			return api.InvalidRequest
		}
	}
	return ""
}

func known(s api.ImportedSpan) bool {
	kinds := []string{api.SpanAgent, api.SpanModel, api.SpanTool, api.SpanRetrieval, api.SpanEmbedding, api.SpanWorkflow, api.SpanOther, api.SpanGuardrail, api.SpanEvaluator}
	statuses := []string{api.TraceOK, api.TraceError, api.TraceOpen}
	tokens := func(n *int64) bool { return n == nil || *n >= 0 }
	return slices.Contains(kinds, s.Kind) && slices.Contains(statuses, s.Status) && tokens(s.InputTokens) && tokens(s.OutputTokens) && (s.Cost == nil || *s.Cost >= 0)
}

func imported(t api.ImportedTrace) core.ImportedTrace {
	out := core.ImportedTrace{
		TraceID: t.SourceTraceID, Digest: t.Digest, Name: t.Name, Status: t.Status, Partial: t.Completeness == api.TracePartial, Reasons: t.Reasons, Labels: t.Labels,
		Start: t.StartedAt.UnixNano(), End: maybeNanos(t.EndedAt), SpanCount: t.SpanCount, Redacted: t.Redaction.Fields+t.Redaction.Values > 0,
	}
	if t.ThreadID != nil {
		out.Conversation = *t.ThreadID
	}
	for _, s := range t.Spans {
		one := core.Span{
			ID: s.SourceSpanID, ParentID: text(s.ParentSpanID), Kind: s.Kind, Name: s.Name, Status: s.Status, Start: s.StartedAt.UnixNano(), End: maybeNanos(s.EndedAt),
			Provider: text(s.Provider), Model: text(s.Model), Usage: core.SpanUsage{Input: s.InputTokens, Output: s.OutputTokens}, Cost: s.Cost,
			Input: value(s.Input), Output: value(s.Output), Attributes: value(s.Attributes),
		}
		if s.Error != nil {
			one.ErrorText = *s.Error
		}
		if s.Kind == api.SpanAgent {
			one.Agent = s.Name
		}
		out.Spans = append(out.Spans, one)
	}
	return out
}

func maybeNanos(t *time.Time) int64 {
	if t == nil || t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// value is nil for null.
func value(b json.RawMessage) json.RawMessage {
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	return b
}
