package outgoing

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/evalrouter/evalrouter/lib/redact"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

type attributeField = protowire.Number

// maxList bounds the elements of a list.
const maxList = 500

// value writes a value by its type. A truth value is no secret; everything
// else below a sensitive name is.
func (m *Maker) value(b []byte, field attributeField, v verdict, x attribute.Value, n *redact.Counts) []byte {
	kind := x.Type()
	if kind == attribute.BOOL {
		return otlp.Bool(b, field, v.key, x.AsBool())
	}
	if v.rule != "" {
		if kind == attribute.STRING && x.AsString() == "" {
			return otlp.String(b, field, v.key, "")
		}
		n.Fields++
		return otlp.String(b, field, v.key, "[redacted:"+v.rule+"]")
	}
	switch kind {
	case attribute.INT64:
		return otlp.Int(b, field, v.key, x.AsInt64())
	case attribute.FLOAT64:
		return otlp.Double(b, field, v.key, x.AsFloat64())
	case attribute.STRING:
		if vocabulary(v.key) {
			return otlp.String(b, field, v.key, m.c.word(x.AsString(), n))
		}
		return otlp.String(b, field, v.key, m.c.text(x.AsString(), n))
	case attribute.STRINGSLICE:
		return otlp.Strings(b, field, v.key, m.texts(x.AsStringSlice(), n))
	}
	if list, ok := otlp.Scalars(b, field, v.key, x); ok && len(list)-len(b) <= maxNested {
		return list
	}
	// Maps, lists of anything and bytes: as JSON, which every reader knows.
	return otlp.String(b, field, v.key, m.c.content(v.key, x.String(), n))
}

// texts cleans a list as a list, so that a name and the value behind it are
// seen together, as in the arguments of a command.
func (m *Maker) texts(in []string, n *redact.Counts) []string {
	out := make([]string, 0, min(len(in), maxList))
	size := 0
	for i, s := range in {
		if i == maxList || size > maxNested {
			n.Truncated++
			break
		}
		if i > 0 {
			if v := m.c.key(in[i-1]); v.rule != "" && s != "" {
				n.Fields++
				out = append(out, "[redacted:"+v.rule+"]")
				continue
			}
		}
		clean := m.c.word(s, n)
		out = append(out, clean)
		size += len(clean)
	}
	return out
}

// vocabulary says that the values of an attribute repeat.
func vocabulary(key string) bool {
	switch key {
	case "evalrouter.kind", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model",
		"gen_ai.agent.name", "gen_ai.tool.name", "error.type":
		return true
	}
	return false
}

// source is what an origin is made of. A program has few.
type source struct {
	scope    instrumentation.Scope
	resource *resource.Resource
}

func (m *Maker) origin(s trace.ReadOnlySpan) string {
	from := source{s.InstrumentationScope(), s.Resource()}
	if known, ok := m.origins.get(from); ok {
		return known
	}
	var n redact.Counts
	o := otlp.Origin{Scope: m.c.text(from.scope.Name, &n), ScopeVersion: m.c.text(from.scope.Version, &n)}
	for _, kv := range from.resource.Attributes() {
		o.Resource = m.value(o.Resource, otlp.ResourceAttributes, m.c.key(string(kv.Key)), kv.Value, &n)
	}
	for _, kv := range from.scope.Attributes.ToSlice() {
		o.ScopeMetadata = m.value(o.ScopeMetadata, otlp.ScopeAttributes, m.c.key(string(kv.Key)), kv.Value, &n)
	}
	encoded := o.Encode()
	m.origins.put(from, encoded)
	return encoded
}
