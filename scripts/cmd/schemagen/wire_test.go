package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evalrouter/evalrouter/lib/api"
)

func compileFile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("test:///"+path, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("test:///" + path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Recorded exports are what their schemas say, and nothing less is.
func TestRecords_SchemaAccepts(t *testing.T) {
	t.Parallel()
	for name, records := range map[string]string{"export": "Export.*.json", "summary": "ExportSummary.*.json"} {
		s := compileFile(t, "cmd/evalrouter/internal/schema/"+name+".json")
		paths, err := filepath.Glob(filepath.Join(root, "lib/api/testdata/records", records))
		if err != nil || len(paths) == 0 {
			t.Errorf("%s: no records (%v)", name, err)
		}
		for _, p := range paths {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			text = schemaOf(name, text)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%s: %v", p, err)
			}
			for member := range doc.(map[string]any) {
				less := map[string]any{}
				for k, v := range doc.(map[string]any) {
					if k != member {
						less[k] = v
					}
				}
				if s.Validate(less) == nil && !optional(name, member) {
					t.Errorf("%s: the schema accepts it without %s", p, member)
				}
			}
		}
	}
}

// What the command line writes by itself is what its schemas say.
func TestOwnDocuments_SchemaAccepts(t *testing.T) {
	t.Parallel()
	id, n := "3f2a9c11-0000-4000-8000-00000000000a", 5
	for name, docs := range map[string][]any{
		"progress":   {api.Progress{Schema: api.ProgressSchema, RunID: id, Phase: api.StatusRunning}, api.Progress{Schema: api.ProgressSchema, GroupID: &id, Planned: &n, SpendMicrousd: 7}},
		"operation":  {api.Operation{Schema: api.OperationSchema, Options: map[string]bool{}}, api.Operation{Schema: api.OperationSchema, RunID: &id, SourceID: &id, Options: map[string]bool{"new": true}}},
		"comparison": compared(),
		"chain": {api.ChainExport{
			Schema: api.ChainExportSchema, Chain: api.ChainRecord{RunIDs: []string{id}, Status: api.StatusCompleted}, Runs: []api.ChainRun{{RunID: id}}, Profiles: []api.ExportProfile{}, ErrorCounts: map[string]int{"refused": 1},
			Identities: api.ExportIdentities{Graders: []api.GraderRecord{}}, Model: api.SelectedModel{Capabilities: []string{}, Limits: map[string]any{}},
			Unscored: []api.PendingReason{{Code: "pending", Cells: n}}, ReuseScoreMismatch: []api.ReuseMismatch{{TaskID: &id, Original: 1}}, Warnings: []api.ChainWarning{},
		}},
	} {
		s := compileFile(t, "cmd/evalrouter/internal/schema/"+name+".json")
		for _, d := range docs {
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if accepts, _ := verdict(s, text); !accepts {
				t.Errorf("%s: refused %s", name, text)
			}
			other := bytes.Replace(text, []byte(".v1"), []byte(".v2"), 1)
			if accepts, _ := verdict(s, other); accepts {
				t.Errorf("%s: accepted %s", name, other)
			}
		}
	}
}

// compared are the least and the most that a comparison holds.
func compared() []any {
	least := api.Comparison{
		Schema: api.ComparisonSchema, Benchmark: api.ExportIdentities{Graders: []api.GraderRecord{}}, Warnings: []api.ComparisonWarning{},
		Series: []api.ComparisonSeries{{PartialReasons: []string{}, RunIDs: []string{"r"}, ErrorCounts: map[string]int{}, Native: map[string]any{}, Model: api.ComparedModel{Limits: map[string]any{}, Generation: map[string]any{}, Routing: map[string]any{}}}},
	}
	most := least
	id, p, n := "g", 0.5, 7
	most.GroupID = &id
	most.Evidence = &api.ComparedEvidence{Series: []api.SeriesTaskSet{{Graders: []api.GraderRecord{}}}}
	most.Statistics = &api.ComparedStatistics{Pairs: []api.ComparedPair{{}, {Difference: &p, P: &p, PHolm: &p, Interval: &api.Interval{}, NeededTasks: &n}}}
	most.Warnings = []api.ComparisonWarning{{Series: []string{"A"}}}
	return []any{least, most}
}

// schemaOf gives a record the schema that its document has; records are of types
// and not of documents.
func schemaOf(name string, text []byte) []byte {
	var m map[string]any
	if json.Unmarshal(text, &m) != nil {
		return text
	}
	m["schema"] = map[string]string{"export": api.ExportSchema, "summary": api.ExportSummarySchema, "progress": api.ProgressSchema, "operation": api.OperationSchema}[name]
	out, err := json.Marshal(m)
	if err != nil {
		return text
	}
	return out
}

func optional(name, member string) bool {
	b, err := os.ReadFile(filepath.Join(root, "cmd/evalrouter/internal/schema", name+".json"))
	var s struct{ Required []string }
	if err != nil || json.Unmarshal(b, &s) != nil {
		return false
	}
	for _, r := range s.Required {
		if r == member {
			return false
		}
	}
	return true
}

// The schema of a quote request gives the verdicts of the strict reader for
// everything that a schema can say.
func TestQuote_SchemaAgrees(t *testing.T) {
	t.Parallel()
	s := compileFile(t, "cmd/evalrouter/internal/schema/quote.json")
	const good = `{"model":{"kind":"managed","route_id":"r"},"selection":{"profile_ids":["a@1"]},"coverage":{"mode":"sample","sample_count":3,"seed":42},"max_charge_microusd":"1000000"}`
	tests := []struct {
		name, from, to string
		ok             bool
	}{
		{"as documented", "", "", true},
		{"a preview without a cap", `"max_charge_microusd":"1000000"`, `"preview":true`, true},
		{"every task", `{"mode":"sample","sample_count":3,"seed":42}`, `{"mode":"full"}`, true},
		{"concurrency as a number", `"max_charge`, `"concurrency":5,"max_charge`, true},
		{"concurrency as a word", `"max_charge`, `"concurrency":"max","max_charge`, true},
		{"an effort", `"max_charge`, `"reasoning":{"mode":"effort","effort":"low"},"max_charge`, true},
		{"a number as cap", `"1000000"`, `1000000`, false},
		{"dollars as cap", `"1000000"`, `"1.50"`, false},
		{"an unknown field", `"max_charge`, `"max_cost":"1","max_charge`, false},
		{"another letter case", `"model"`, `"Model"`, false},
		{"concurrency beyond its bounds", `"max_charge`, `"concurrency":101,"max_charge`, false},
		{"concurrency as an unknown word", `"max_charge`, `"concurrency":"most","max_charge`, false},
		{"a text as count", `"sample_count":3`, `"sample_count":"3"`, false},
		{"a negative seed", `"seed":42`, `"seed":-1`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(good, tt.from, tt.to, 1)
			if tt.from != "" && text == good {
				t.Fatal("nothing was changed")
			}
			dec := json.NewDecoder(strings.NewReader(text))
			dec.DisallowUnknownFields()
			read := dec.Decode(&api.NewQuote{}) == nil
			accepts, _ := verdict(s, []byte(text))
			if accepts != tt.ok || read != tt.ok && tt.name != "another letter case" { // encoding/json ignores the case; the service does not
				t.Errorf("the schema accepts it: %v, the reader: %v, want %v", accepts, read, tt.ok)
			}
		})
	}
}
