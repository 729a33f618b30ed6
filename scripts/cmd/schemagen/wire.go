package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// wireDocuments are the documents of the command line: what people write for
// it, and what programs read of it.
func wireDocuments() []document {
	const dir = "cmd/evalrouter/internal/schema/"
	return []document{
		{dir + "quote.json", "evalrouter.quote_request.v1", api.NewQuote{}, finishQuote},
		{dir + "progress.json", api.ProgressSchema, api.Progress{}, named(api.ProgressSchema)},
		{dir + "operation.json", api.OperationSchema, api.Operation{}, named(api.OperationSchema)},
		{dir + "export.json", api.ExportSchema, api.Export{}, named(api.ExportSchema)},
		{dir + "comparison.json", api.ComparisonSchema, api.Comparison{}, named(api.ComparisonSchema)},
		{dir + "summary.json", api.ExportSummarySchema, api.ExportSummary{}, named(api.ExportSummarySchema)},
		{dir + "chain.json", api.ChainExportSchema, api.ChainExport{}, named(api.ChainExportSchema)},
	}
}

func named(schema string) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		at(s, "schema").Const = schema
	}
}

// special are the types whose JSON is not that of their fields.
func special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[usd.Micro]():
		return &jsonschema.Schema{Type: "string", Pattern: `^-?(0|[1-9][0-9]{0,18})$`, Description: "millionths of a US dollar"}
	case reflect.TypeFor[api.Concurrency]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "string", Enum: []any{"auto", "max"}},
			{Type: "integer", Minimum: number(1), Maximum: number(100)},
		}}
	case reflect.TypeFor[api.Model]():
		return &jsonschema.Schema{Type: "object"}
	}
	return nil
}

// nullable lets a pointer that is never left out be null, which the reflector
// does not see.
func nullable(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s != nil && s.Items != nil {
			s = s.Items
		}
		t = t.Elem()
	}
	if s == nil || t.Kind() != reflect.Struct || special(t) != nil || s.Properties == nil {
		return
	}
	for f := range t.Fields() {
		if f.Anonymous {
			nullable(s, f.Type)
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		p, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		nullable(p, f.Type)
		free := f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice && slices.Contains(emptyAsNull(), name)
		if free && !strings.Contains(rest, "omitempty") {
			s.Properties.Set(name, &jsonschema.Schema{OneOf: []*jsonschema.Schema{p, {Type: "null"}}})
		}
	}
}

// emptyAsNull are lists that are null where there are none.
func emptyAsNull() []string { return []string{"task_ids"} }

// finishQuote says what the service refuses about a request: which fields go
// together, and their bounds.
func finishQuote(s *jsonschema.Schema) {
	at(s, "max_charge_microusd").Pattern = `^(0|[1-9][0-9]{0,18})$`
	at(s, "model.kind").Enum = []any{api.ManagedKind, api.ConnectionKind}
	at(s, "coverage.mode").Enum = []any{api.Sample, api.Full}
	at(s, "coverage.sample_count").Minimum = number(1)
	at(s, "coverage.seed").Minimum, at(s, "coverage.seed").Maximum = number(0), number(1<<32-1)
	at(s, "selection.profile_ids").MinItems = count(1)
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"max_charge_microusd"}}, {Required: []string{"preview"}}}
}
