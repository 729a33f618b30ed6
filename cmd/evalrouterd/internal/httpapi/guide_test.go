package httpapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// schema is as much of a JSON Schema as the guide shows.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a word, or several
	Format     string             `json:"format"`
	Enum       []string           `json:"enum"`
	OneOf      []*schema          `json:"oneOf"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Minimum    *int64             `json:"minimum"`
	Maximum    *int64             `json:"maximum"`
	Values     any                `json:"additionalProperties"`
}

// description is the OpenAPI document, as far as the guide shows it.
type description struct {
	Paths map[string]map[string]struct {
		Summary    string                `json:"summary"`
		Tags       []string              `json:"tags"`
		Security   []map[string][]string `json:"security"`
		Parameters []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// asked and told are the records that the guide is about, in the order in which
// one meets them.
var (
	asked = []string{"NewQuote", "Selection", "ModelRef", "Coverage", "ReasoningChoice", "NewRun", "NewEvaluation"}
	told  = []string{
		"QuoteRecord", "RunRecord", "RunReceipt", "ResultRecord", "ResultSummary", "CoverageCounts", "ProfileResult", "MetricRecord",
		"Uncertainty", "Interval", "ResultCosts", "TaskRecord", "RunEvent", "Envelope", "Error",
	}
)

// name is a type in a table cell.
func (s *schema) name() string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.OneOf) > 0:
		var all []string
		for _, o := range s.OneOf {
			all = append(all, o.name())
		}
		return strings.Join(all, " or ")
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, " or ")
	}
	words := fmt.Sprint(s.Type)
	if several, ok := s.Type.([]any); ok {
		var all []string
		for _, w := range several {
			if w != "array" || s.Items == nil { // an empty list is written as one
				all = append(all, fmt.Sprint(w))
			}
		}
		if s.Items != nil {
			return "list of " + s.Items.name()
		}
		words = strings.Join(all, " or ")
	}
	switch {
	case s.Items != nil:
		return "list of " + s.Items.name()
	case s.Type == nil:
		return "any"
	case s.Format == "date-time":
		return strings.Replace(words, "string", "time", 1)
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s from %d to %d", words, *s.Minimum, *s.Maximum)
	}
	return words
}

// reference is the second part of the guide: every route, then the fields of
// the records that matter.
func (d description) reference() string {
	type row struct{ tag, path, method, line string }
	var rows []row
	for path, methods := range d.Paths {
		for method, op := range methods {
			body, answer, query := op.RequestBody.Content["application/json"].Schema, op.Responses["200"].Content["application/json"].Schema, []string{}
			for _, p := range op.Parameters {
				if p.In == "query" {
					query = append(query, "`"+p.Name+"`")
				}
			}
			takes := strings.Join(query, " ")
			if body.Ref != "" {
				takes = body.name()
			}
			gives := ""
			if answer.Ref != "" {
				gives = answer.name()
			}
			who := "a key"
			if len(op.Security) == 0 {
				who = "anybody"
			}
			rows = append(rows, row{op.Tags[0], path, method, fmt.Sprintf("| `%s %s` | %s | %s | %s | %s |\n", strings.ToUpper(method), path, op.Summary, takes, gives, who)})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.tag, b.tag), strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	var b strings.Builder
	b.WriteString("\n## Every route\n\nA page is `{\"data\": [...], \"next_cursor\"}`.\n")
	tag := ""
	for _, r := range rows {
		if r.tag != tag {
			tag = r.tag
			fmt.Fprintf(&b, "\n### %s\n\n| route | what | takes | gives | who |\n|---|---|---|---|---|\n", strings.ToUpper(tag[:1])+tag[1:])
		}
		b.WriteString(r.line)
	}
	for _, part := range []struct {
		title string
		names []string
	}{{"Records of requests", asked}, {"Records of answers", told}} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		for _, name := range part.names {
			fmt.Fprintf(&b, "\n### %s\n\n| field | type | |\n|---|---|---|\n", name)
			s := d.Components.Schemas[name]
			for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
				must := ""
				if slices.Contains(s.Required, field) {
					must = "always"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", field, s.Properties[field].name(), must)
			}
		}
	}
	return b.String()
}

// The guide's second part is made from the document that the service gives, and
// its first part names every field of a request, every status and every error
// status, with the limits that the service has.
func TestModelAPIGuideRoutes_LIB08(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "..", "docs", "model-api.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Skip("the documents of the repository are not beside this module: ", err)
	}
	h := newHarness(t)
	var d description
	h.send("GET", "/v1/openapi.json", nil, anonymous).want(t, 200).into(t, &d)
	const mark = "<!-- reference: written by go test ./cmd/evalrouterd/internal/httpapi -run ModelAPIGuide -update -->\n"
	prose, _, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("%s has no place for the reference", path)
	}
	want := prose + mark + d.reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s is behind the service; write it anew with: go test ./cmd/evalrouterd/internal/httpapi -run ModelAPIGuide -update", path)
	}
	for _, record := range asked {
		for field := range d.Components.Schemas[record].Properties {
			if !strings.Contains(prose, "`"+field+"`") {
				t.Errorf("the guide does not say what %s of %s is", field, record)
			}
		}
	}
	for _, word := range []string{
		"`completed`", "`partial`", "`failed`", "`cancelled`", "`queued`", "`running`", "`cancelling`", "`finalizing`",
		"402", "409", "410", "413", "429", "`Idempotency-Replayed: true`", "256 KiB", "600 times a minute", "at most 200 characters", "at most 50 texts", "1 to 50 ids", "30 minutes",
	} {
		if !strings.Contains(prose, word) {
			t.Errorf("the guide does not say %s", word)
		}
	}
	// The limits are those of the service, at the border.
	long := strings.Repeat("n", 201)
	quote := map[string]any{"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"}, "max_charge_microusd": "1000000", "name": long}
	h.send("POST", "/v1/quotes", quote).refused(t, 422, "invalid_request")
	quote["name"] = long[:200]
	h.send("POST", "/v1/quotes", quote).want(t, 200)
	var profiles []string
	for range 51 {
		profiles = append(profiles, "arithmetic@1")
	}
	quote["selection"] = map[string]any{"profile_ids": profiles}
	h.send("POST", "/v1/quotes", quote).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/quotes", map[string]any{"name": strings.Repeat("n", 256<<10)}).refused(t, 413, "request_too_large")
}
