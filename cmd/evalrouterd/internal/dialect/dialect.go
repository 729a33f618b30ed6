// Package dialect turns the spans of each kind of instrumentation into one
// model: what is an agent, a model call or a tool, what went in and came out,
// how many tokens it took.
//
// The dialects are our own attributes (evalrouter.*), Langfuse, OpenInference,
// the OpenTelemetry conventions for generative AI as of November 2026 with the
// older names that are still sent, the Vercel AI SDK and OpenLLMetry. A span
// may speak several of them: each fact is taken from the first that states it,
// in this order. Attributes that hold no content stay as they came.
//
// Messages become a list of {role, content, tool_calls}: content is a text
// when all of it is text. Other content stays what it was; JSON inside a text
// attribute is JSON again.
package dialect

import (
	"encoding/base64"
	"math"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
)

// Content is what a span says at length, as values of JSON: nil, bool, string,
// numbers, lists and maps. Attributes is nil without any.
type Content struct {
	Input, Output       any
	HasInput, HasOutput bool
	Attributes          map[string]any
}

// Span is a span in the one model, and its content beside it: whoever keeps it
// redacts it first.
func Span(in otlp.Span) (core.Span, Content) {
	a := attributes(in.Attributes)
	s := core.Span{
		ID: in.SpanID, ParentID: in.ParentID, Kind: kind(a), Name: in.Name, Start: in.Start, End: in.End,
		Provider: a.text("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"),
		Model: a.text("langfuse.observation.model.name", "llm.model_name", "embedding.model_name", "gen_ai.request.model", "gen_ai.response.model",
			"ai.model.id", "llm.request.model"),
		Agent:        a.text("gen_ai.agent.name", "agent.name", "traceloop.workflow.name"),
		Conversation: a.text("gen_ai.conversation.id", "langfuse.session.id", "session.id", "traceloop.association.properties.session_id", "ai.telemetry.metadata.sessionId"),
		Usage:        usage(a), Cost: cost(a),
	}
	if s.Kind == core.SpanTool {
		if name := a.text("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"); name != "" {
			s.Name = name
		}
	}
	if s.Kind != core.SpanAgent {
		s.Agent = ""
	} else if s.Agent == "" {
		s.Agent = strings.TrimPrefix(in.Name, "invoke_agent ")
	}
	fail(&s, in, a)
	c := Content{Attributes: rest(in)}
	c.Input, c.HasInput = content(in, a, s.Kind, inputs)
	c.Output, c.HasOutput = content(in, a, s.Kind, outputs)
	return s, c
}

// attributes are read by name.
type attributes otlp.Attributes

// text is the first of these attributes that is a text with something in it.
func (a attributes) text(names ...string) string {
	for _, n := range names {
		if s, ok := a[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// kinds are the words of one dialect.
type kinds struct {
	attribute string
	words     map[string]string
}

// dialects in the order in which they are believed.
var dialects = []kinds{
	{"evalrouter.kind", map[string]string{
		"agent": core.SpanAgent, "model": core.SpanModel, "tool": core.SpanTool, "retrieval": core.SpanRetrieval, "embedding": core.SpanEmbedding,
		"guardrail": core.SpanGuardrail, "evaluator": core.SpanEvaluator, "workflow": core.SpanWorkflow,
	}},
	{"langfuse.observation.type", map[string]string{
		"generation": core.SpanModel, "agent": core.SpanAgent, "tool": core.SpanTool, "chain": core.SpanWorkflow, "retriever": core.SpanRetrieval,
		"embedding": core.SpanEmbedding, "guardrail": core.SpanGuardrail, "evaluator": core.SpanEvaluator,
	}},
	{"openinference.span.kind", map[string]string{
		"LLM": core.SpanModel, "AGENT": core.SpanAgent, "TOOL": core.SpanTool, "CHAIN": core.SpanWorkflow, "RETRIEVER": core.SpanRetrieval, "RERANKER": core.SpanRetrieval,
		"EMBEDDING": core.SpanEmbedding, "GUARDRAIL": core.SpanGuardrail, "EVALUATOR": core.SpanEvaluator, "PROMPT": core.SpanOther,
	}},
	{"gen_ai.operation.name", map[string]string{
		"chat": core.SpanModel, "generate_content": core.SpanModel, "text_completion": core.SpanModel, "embeddings": core.SpanEmbedding, "retrieval": core.SpanRetrieval,
		"execute_tool": core.SpanTool, "invoke_agent": core.SpanAgent, "create_agent": core.SpanOther, "invoke_workflow": core.SpanWorkflow, "plan": core.SpanWorkflow,
	}},
	{"traceloop.span.kind", map[string]string{
		"workflow": core.SpanWorkflow, "task": core.SpanOther, "agent": core.SpanAgent, "tool": core.SpanTool,
	}},
}

func kind(a attributes) string {
	for _, d := range dialects {
		if d.attribute == "traceloop.span.kind" {
			if k := vercelKind(a.text("ai.operationId")); k != "" {
				return k
			}
		}
		if k, ok := d.words[a.text(d.attribute)]; ok {
			return k
		}
	}
	if a.text("gen_ai.request.model", "llm.model_name", "llm.request.model", "langfuse.observation.model.name") != "" {
		return core.SpanModel
	}
	return core.SpanOther
}

// vercelKind: the outer operation repeats what its inner calls say, so it is no
// model call itself.
func vercelKind(operation string) string {
	switch {
	case operation == "":
		return ""
	case operation == "ai.toolCall":
		return core.SpanTool
	case strings.HasSuffix(operation, ".doGenerate"), strings.HasSuffix(operation, ".doStream"):
		return core.SpanModel
	case strings.HasSuffix(operation, ".doEmbed"):
		return core.SpanEmbedding
	}
	return core.SpanWorkflow
}

// fail fills in how the span ended.
func fail(s *core.Span, in otlp.Span, a attributes) {
	s.Status = core.TraceOK
	if in.End == 0 || a["evalrouter.incomplete"] == true {
		s.Status = core.TraceRunning
	}
	if in.Code == otlp.StatusError || a.text("langfuse.observation.level") == "ERROR" {
		s.Status = core.TraceError
	}
	s.ErrorType, s.ErrorText = a.text("error.type"), in.Message
	for _, e := range in.Events {
		if e.Name == "exception" {
			x := attributes(e.Attributes)
			if t := x.text("exception.type"); s.ErrorType == "" {
				s.ErrorType = t
			}
			if m := x.text("exception.message"); s.ErrorText == "" {
				s.ErrorText = m
			}
		}
	}
	if s.ErrorText == "" {
		s.ErrorText = a.text("langfuse.observation.status_message")
	}
	if s.Status != core.TraceError {
		s.ErrorType, s.ErrorText = "", ""
	}
}

// rest is what the span says besides its content.
func rest(in otlp.Span) map[string]any {
	out := make(map[string]any, len(in.Attributes)+4)
	for name, v := range in.Attributes {
		if !isContent(name) {
			out[name] = plain(v)
		}
	}
	for _, name := range []string{"service.name", "service.version", "deployment.environment.name", "telemetry.sdk.language"} {
		if v, ok := in.Resource[name]; ok {
			out["resource."+name] = plain(v)
		}
	}
	if in.Scope != "" {
		out["otel.scope.name"] = in.Scope
	}
	var events []any
	for _, e := range in.Events {
		if !strings.HasPrefix(e.Name, "gen_ai.") {
			events = append(events, map[string]any{"name": e.Name, "at": e.At, "attributes": plain(e.Attributes)})
		}
	}
	if events != nil {
		out["events"] = events
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// plain is a value that JSON can hold: numbers that are none become texts, and
// so do bytes. A value that JSON can hold already is given as it is.
func plain(v any) any {
	if holds(v) {
		return v
	}
	switch v := v.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 1):
			return "Infinity"
		case math.IsInf(v, -1):
			return "-Infinity"
		}
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	}
	return v
}

// holds says that JSON can hold a value.
func holds(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []byte:
		return false
	case []any:
		for _, e := range v {
			if !holds(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !holds(e) {
				return false
			}
		}
	}
	return true
}
