package httpapi_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// sums is a manifest of csvRows; change alters it.
func sums(uri string, change object) object {
	m := object{
		"name": "Sums", "source": uri, "task": "numeric", "columns": object{"answer": "a", "question": "q"}, "prompt_template": "{{question}}\nEnd with a line ANSWER: N.",
		"max_output_tokens": 64, "data_license": "CC0-1.0", "rights_attestation": true,
	}
	for k, v := range change {
		if v == nil {
			delete(m, k)
			continue
		}
		m[k] = v
	}
	return m
}

func (h *harness) made(m object, tweaks ...tweak) api.PrivateBenchmark {
	h.t.Helper()
	var b api.PrivateBenchmark
	h.send("POST", "/v1/benchmarks", m, append([]tweak{keyed("make-" + fmt.Sprint(h.ids.Add(1)))}, tweaks...)...).want(h.t, 200).into(h.t, &b)
	return b
}

// PVT-03, PVT-05: a benchmark of one's own is previewed, made once, seen and run
// in its workspace and nowhere else, and is gone from there when archived.
func TestBenchmarks_PVT05_MadeAndRunInTheirWorkspace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	src := h.uploaded("sums.csv", "csv", csvRows)
	m := sums(src.URI, nil)
	var p api.BenchmarkPreview
	h.send("POST", "/v1/benchmarks/preview", m).want(t, 200).into(t, &p)
	want := api.BenchmarkPreview{OK: true, RowCount: 3, Errors: []api.RowError{}, Warnings: []string{}, Examples: []api.BenchmarkExample{
		{Prompt: "1+1?\nThink.\nEnd with a line ANSWER: N.", Answer: "2"}, {Prompt: "2+2?\nEnd with a line ANSWER: N.", Answer: "4"}, {Prompt: "3+3?\nEnd with a line ANSWER: N.", Answer: "6"},
	}}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("preview (-want +got):\n%s", d)
	}
	h.send("POST", "/v1/benchmarks", m).refused(t, 400, "idempotency_key_required")
	first := h.send("POST", "/v1/benchmarks", m, keyed("k")).want(t, 200)
	again := h.send("POST", "/v1/benchmarks", m, keyed("k")).want(t, 200)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same request again: %s", again.body)
	}
	h.send("POST", "/v1/benchmarks", sums(src.URI, object{"name": "Other"}), keyed("k")).refused(t, 409, "idempotency_conflict")
	var b api.PrivateBenchmark
	first.into(t, &b)
	if !strings.HasPrefix(b.ProfileID, "byob-") || !strings.HasSuffix(b.ProfileID, "@1") || b.TaskCount != 3 || b.Status != "active" || b.SourceURI != src.URI || b.CreatedBy != "owner" {
		t.Errorf("%+v", b)
	}
	h.send("POST", "/v1/benchmark-sources/"+src.ID+"/archive", nil).want(t, 200) // the tasks are kept
	slug := strings.TrimSuffix(b.ProfileID, "@1")
	seen := func(who tweak) bool {
		return bytes.Contains(h.send("GET", "/v1/catalog/benchmarks?limit=200", nil, who).want(t, 200).body, []byte(slug))
	}
	stranger := as(h.key(other, nil, httpapi.Scopes()...))
	if !seen(as(owner)) || seen(anonymous) || seen(stranger) {
		t.Errorf("the catalog shows it to its owner %v, to nobody in particular %v, to a stranger %v", seen(as(owner)), seen(anonymous), seen(stranger))
	}
	h.uploadedAgain(t, src, m, stranger)
	body := object{"selection": object{"profile_ids": []string{b.ProfileID}}, "model": object{"kind": "managed", "route_id": "practice.solver-0.95"}, "coverage": object{"mode": "full"}}
	h.send("POST", "/v1/quotes", newQuote(body), stranger).refused(t, 404, "not_found")
	run := h.finished(body)
	var result struct {
		Summary struct{ Outcomes map[string]int }
	}
	h.send("GET", "/v1/runs/"+run+"/results", nil).want(t, 200).into(t, &result)
	h.send("GET", "/v1/runs/"+run+"/results", nil, stranger).refused(t, 404, "not_found")
	tasks := h.send("GET", "/v1/runs/"+run+"/tasks", nil).want(t, 200)
	right, wrong := bytes.Count(tasks.body, []byte(`"outcome":"right"`)), bytes.Count(tasks.body, []byte(`"outcome":"wrong"`))
	if right+wrong != 3 || right == 0 {
		t.Errorf("%d of 3 tasks are right, %d wrong: %s", right, wrong, tasks.body)
	}
	for range 2 {
		h.send("POST", "/v1/benchmarks/"+b.ProfileID+"/archive", nil).want(t, 200).into(t, &b)
	}
	if b.Status != "archived" || b.ArchivedAt == nil || b.QuoteAvailability.Status == api.ReadyForQuote {
		t.Errorf("%+v", b)
	}
	if r := h.send("POST", "/v1/quotes", newQuote(body)); r.status < 400 {
		t.Errorf("an archived benchmark is quoted: %s", r.body)
	}
	h.send("GET", "/v1/runs/"+run+"/results", nil).want(t, 200)
	var page api.Page[api.PrivateBenchmark]
	if h.send("GET", "/v1/benchmarks?status=active", nil).want(t, 200).into(t, &page); len(page.Data) != 0 {
		t.Errorf("%+v", page.Data)
	}
	if h.send("GET", "/v1/benchmarks?status=archived", nil).want(t, 200).into(t, &page); len(page.Data) != 1 {
		t.Errorf("%+v", page.Data)
	}
}

// uploadedAgain: a stranger's manifest finds the source no more than one that
// does not exist, even with the same bytes of their own.
func (h *harness) uploadedAgain(t *testing.T, src api.BenchmarkSource, m object, stranger tweak) {
	t.Helper()
	h.uploaded("sums.csv", "csv", csvRows, stranger)
	missing := sums(strings.Replace(src.URI, src.ID, "00000000-0000-4000-8000-00000000dead", 1), nil)
	for _, path := range []string{"/v1/benchmarks/preview", "/v1/benchmarks"} {
		foreign, none := h.send("POST", path, m, stranger, keyed("f")), h.send("POST", path, missing, stranger, keyed("n"))
		if foreign.refused(t, 422, "manifest_invalid"); !bytes.Equal(foreign.body, none.body) {
			t.Errorf("foreign and missing differ:\n%s\n%s", foreign.body, none.body)
		}
	}
}

// PVT-04: the five graders that are built in, each with the options that it
// has, from each of the formats; no judge and no other kind.
func TestBenchmarks_PVT04_BuiltInGradersOnly(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	type row struct {
		Q    string   `parquet:"q"`
		A    string   `parquet:"a"`
		Opts []string `parquet:"opts,list"`
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file)
	if _, err := w.Write([]row{{"Which?", "B", []string{"x", "y"}}, {"And?", "A", []string{"u", "v", "w"}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	columnar := h.uploaded("c.parquet", "parquet", file.String()).URI
	csv := h.uploaded("c.csv", "csv", "q,a,x,y\nWhich?,1,u,v\nAnd?,0,p,q\n").URI
	lines := h.uploaded("l.jsonl", "jsonl", `{"in":{"q":"Who?"},"a":{"name":"Ada"},"t":"Ada"}`+"\n").URI
	for _, tt := range []struct {
		name   string
		change object
		source string
		prompt string
	}{
		{"choices in a list", object{"task": "multiple_choice", "columns": object{"answer": "a", "q": "q", "choices": "opts"}, "prompt_template": "{{q}}\n{{choices}}"}, columnar, "Which?\nA) x\nB) y"},
		{"choices in columns, the answer a number", object{"task": "multiple_choice", "columns": object{"answer": "a", "q": "q", "choices": []string{"x", "y"}}, "prompt_template": "{{q}}\n{{choices}}", "answer_format": "index"}, csv, "Which?\nA) u\nB) v"},
		{"exact", object{"task": "exact_match", "columns": object{"answer": "a", "q": "q"}, "prompt_template": "{{q}}", "grader_options": object{"ignore_case": true}}, csv, "Which?"},
		{"pattern", object{"task": "regex_match", "columns": object{"answer": "t", "q": "/in/q"}, "prompt_template": "{{q}}", "grader_options": object{"pattern": "(\\w+)"}}, lines, "Who?"},
		{"JSON", object{"task": "json_field_match", "columns": object{"answer": "a", "q": "/in/q"}, "prompt_template": "{{q}}", "grader_options": object{"fields": []string{"/name"}}}, lines, "Who?"},
	} {
		var p api.BenchmarkPreview
		h.send("POST", "/v1/benchmarks/preview", sums(tt.source, tt.change)).want(t, 200).into(t, &p)
		if !p.OK || len(p.Examples) == 0 || p.Examples[0].Prompt != tt.prompt {
			t.Errorf("%s: %+v", tt.name, p)
		}
		h.made(sums(tt.source, tt.change))
	}
	for _, kind := range []string{"inspect/model_graded_qa", "inspect/match", "lmeval/multiple_choice", "sob_text", "python", ""} {
		h.send("POST", "/v1/benchmarks", sums(lines, object{"task": kind}), keyed("x"+kind)).refused(t, 422, "manifest_invalid")
	}
}

func TestBenchmarks_ManifestRefused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	src := h.uploaded("sums.csv", "csv", csvRows)
	failed := h.announced("f.csv", "csv", "a,b\n1\n")
	h.content(failed.ID, "a,b\n1\n").want(t, 200)
	pending := h.announced("p.csv", "csv", csvRows)
	for _, tt := range []struct {
		name   string
		change object
		field  string
		code   string
	}{
		{"no name", object{"name": " "}, "name", "out_of_range"},
		{"no attestation", object{"rights_attestation": false}, "rights_attestation", "required"},
		{"no licence", object{"data_license": nil}, "data_license", "required"},
		{"no SPDX", object{"data_license": "mine!"}, "data_license", "field_range"},
		{"no such source", object{"source": "workspace://none/sums.csv"}, "source", "source_unknown"},
		{"another name of the source", object{"source": "workspace://" + src.ID + "/other.csv"}, "source", "source_unknown"},
		{"never imported", object{"source": "hf://a/b@" + strings.Repeat("0", 40) + "/c.csv"}, "source", "source_unknown"},
		{"another hash", object{"sha256": strings.Repeat("0", 64)}, "sha256", "source_differs"},
		{"another size", object{"bytes": 1}, "bytes", "source_differs"},
		{"no answer", object{"columns": object{"question": "q"}}, "columns.answer", "required"},
		{"an unknown column", object{"columns": object{"answer": "b", "question": "q"}}, "columns.answer", "column_unknown"},
		{"the answer in the prompt", object{"columns": object{"answer": "a", "question": "a"}}, "columns.question", "column_reserved"},
		{"an unused column", object{"columns": object{"answer": "a", "question": "q", "more": "q"}}, "columns.more", "placeholder_missing"},
		{"no template", object{"prompt_template": nil}, "prompt_template", "required"},
		{"an unknown placeholder", object{"prompt_template": "{{question}} {{none}}"}, "prompt_template", "placeholder_unknown"},
		{"the answer as a placeholder", object{"prompt_template": "{{question}} {{answer}}"}, "prompt_template", "placeholder_reserved"},
		{"choices of numbers", object{"columns": object{"answer": "a", "question": "q", "choices": []string{"q", "a"}}}, "columns.choices", "not_for_task"},
		{"two answers", object{"columns": object{"answer": []string{"a", "q"}, "question": "q"}}, "columns.answer", "one_column"},
		{"a name with spaces", object{"columns": object{"answer": "a", "question": "q", "a b": "q"}}, "columns", "name_invalid"},
		{"an unknown option", object{"grader_options": object{"speed": 1}}, "grader_options.speed", "field_unknown"},
		{"a pattern that does not compile", object{"grader_options": object{"answer_pattern": "("}}, "grader_options.answer_pattern", "field_range"},
		{"no limit", object{"max_output_tokens": nil}, "max_output_tokens", "out_of_range"},
		{"an answer format of another task", object{"answer_format": "index"}, "answer_format", "field_range"},
	} {
		for _, path := range []string{"/v1/benchmarks/preview", "/v1/benchmarks"} {
			p := h.send("POST", path, sums(src.URI, tt.change), keyed("refused")).refused(t, 422, "manifest_invalid")
			if got := fmt.Sprint(p.Error.Details["fields"]); !strings.Contains(got, "code:"+tt.code+" path:"+tt.field+"]") {
				t.Errorf("%s: %s, want %s at %s", tt.name, got, tt.code, tt.field)
			}
		}
	}
	h.send("POST", "/v1/benchmarks/preview", sums(failed.URI, nil)).refused(t, 409, "source_not_ready")
	h.send("POST", "/v1/benchmarks/preview", sums(pending.URI, nil)).refused(t, 409, "source_not_ready")
	h.send("POST", "/v1/benchmarks/preview", sums(src.URI, object{"colums": object{}})).refused(t, 422, "invalid_request")
	if r := h.send("GET", "/v1/benchmarks", nil).want(t, 200); !bytes.Contains(r.body, []byte(`"data":[]`)) {
		t.Errorf("something was made: %s", r.body)
	}
}

// BEN-13: a preview or a validation elsewhere is not trusted: a benchmark is
// made only of rows that hold when it is made, and nothing of a bad one stays.
func TestBenchmarks_BEN13_EveryRowIsChecked(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var rows strings.Builder
	rows.WriteString("n,q,a\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "%d,what is %d?,%s\n", i%299, i, map[bool]string{true: "many", false: fmt.Sprint(i)}[i%2 == 1])
	}
	src := h.uploaded("rows.csv", "csv", rows.String())
	m := sums(src.URI, object{"columns": object{"answer": "a", "question": "q", "id": "n"}})
	var p api.BenchmarkPreview
	h.send("POST", "/v1/benchmarks/preview", m).want(t, 200).into(t, &p)
	if p.OK || p.RowCount != 300 || p.ErrorCount != 150 || len(p.Errors) != 100 || *p.Errors[0].Row != 2 || p.Errors[0].Code != "gold_not_gradable" {
		t.Errorf("%d rows, %d errors, %d listed: %+v", p.RowCount, p.ErrorCount, len(p.Errors), p.Errors[:1])
	}
	r := h.send("POST", "/v1/benchmarks", m, keyed("bad"))
	if got := r.refused(t, 422, "manifest_invalid"); got.Error.Details["error_count"] != float64(150) || bytes.Contains(r.body, []byte("many")) {
		t.Errorf("%s", r.body)
	}
	all, err := h.catalog.Profiles(t.Context(), core.Scope{Workspace: core.Local})
	if err != nil || len(all) != 1 {
		t.Errorf("%d profiles, %v", len(all), err)
	}
	h.send("POST", "/v1/benchmarks", sums(src.URI, object{"task": "exact_match"}), keyed("bad")).want(t, 200) // the key did nothing before
}

// PVT-08: making benchmarks and running them are rights of their own.
func TestBenchmarks_PVT08_Permissions(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	src := h.uploaded("sums.csv", "csv", csvRows)
	b := h.made(sums(src.URI, nil))
	runner, reader, maker := as(h.key(core.Local, nil, "eval:write")), as(h.key(core.Local, nil, "eval:read")), as(h.key(core.Local, nil, "benchmarks:submit"))
	for _, who := range []tweak{runner, reader} {
		h.send("POST", "/v1/benchmark-sources", object{}, who).refused(t, 403, "insufficient_scope")
		h.content(src.ID, csvRows, who).refused(t, 403, "insufficient_scope")
		h.send("POST", "/v1/benchmark-sources/"+src.ID+"/archive", nil, who).refused(t, 403, "insufficient_scope")
		h.send("POST", "/v1/benchmarks/preview", sums(src.URI, nil), who).refused(t, 403, "insufficient_scope")
		h.send("POST", "/v1/benchmarks", sums(src.URI, nil), who, keyed("x")).refused(t, 403, "insufficient_scope")
		h.send("POST", "/v1/benchmarks/"+b.ProfileID+"/archive", nil, who).refused(t, 403, "insufficient_scope")
	}
	for _, path := range []string{"/v1/benchmark-sources", "/v1/benchmark-sources/" + src.ID, "/v1/benchmarks", "/v1/benchmarks/" + b.ProfileID} {
		h.send("GET", path, nil, reader).want(t, 200)
		h.send("GET", path, nil, maker).refused(t, 403, "insufficient_scope")
	}
	h.made(sums(src.URI, nil), maker)
	h.send("POST", "/v1/quotes", newQuote(object{"selection": object{"profile_ids": []string{b.ProfileID}}}), maker).refused(t, 403, "insufficient_scope")
}
