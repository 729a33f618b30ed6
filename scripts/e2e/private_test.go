package e2e_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/replay"
)

// made is the part of a private benchmark's record that these tests read.
type made struct {
	ProfileID string `json:"profile_id"`
	TaskCount int    `json:"task_count"`
	Status    string `json:"status"`
	SourceURI string `json:"source_uri"`
}

func (m made) slug() string { return strings.TrimSuffix(m.ProfileID, "@1") }

// source is the part of a source's record that these tests read.
type source struct {
	ID      string   `json:"id"`
	URI     string   `json:"uri"`
	Status  string   `json:"status"`
	SHA256  string   `json:"sha256"`
	Rows    int      `json:"row_count"`
	Columns []string `json:"columns"`
}

func (s *site) write(name string, data []byte) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) writeJSON(name string, v any) string {
	s.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.write(name, raw)
}

type object = map[string]any

// PVT-03: a text, a numeric and a JSON benchmark go from init to a scored run,
// and can be run until they are archived.
func TestPrivate_PVT03_FromInitToAScore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, template := range []string{"text", "numeric", "json", "multiple-choice", "conversation"} {
		dir, file := filepath.Join(s.home, template), filepath.Join(s.home, template+".zip")
		s.ok("evalrouter", "benchmark", "init", dir, "--namespace", "acme", "--name", template, "--template", template)
		s.ok("evalrouter", "benchmark", "bundle", dir, "--output", file)
		s.refused(2, "invalid_input", "evalrouter", "benchmark", "create", file)
		contains(t, "the dry run", s.ok("evalrouter", "benchmark", "create", file, "--rights", "--dry-run").stdout, "Example 1", "6 rows")
		m := decode[made](t, s.ok("evalrouter", "benchmark", "create", file, "--rights", "--json").stdout)
		if again := decode[made](t, s.ok("evalrouter", "benchmark", "create", file, "--rights", "--json").stdout); again != m || m.TaskCount != 6 {
			t.Errorf("%s: made %+v, and %+v when repeated", template, m, again)
		}
		contains(t, "the list", s.ok("evalrouter", "benchmark", "list", "--json").stdout, m.ProfileID)
		r := decode[run](t, s.ok("evalrouter", "run", m.slug(), "--model", "practice.solver-0.95", "--full", "--max-cost", "1", "--yes", "--json").stdout)
		if r.Status != "completed" || r.GradedCount != 6 || r.Outcomes["right"] == 0 {
			t.Errorf("%s: %+v", template, r)
		}
		t.Logf("row a: %s: %d of %d right, %s", template, r.Outcomes["right"], r.PlannedCount, r.Status)
		contains(t, "the archive", s.ok("evalrouter", "benchmark", "archive", m.ProfileID, "--json").stdout, `"status":"archived"`)
		s.refused(1, "retired", "evalrouter", "run", m.slug(), "--model", "practice.solver-0.8", "--sample", "2", "--max-cost", "1", "--yes", "--new")
		s.refused(2, "archived", "evalrouter", "benchmark", "create", file, "--rights")
	}
	s.audit()
}

// PVT-01, PVT-07: files go to the workspace, once each, are listed and archived.
func TestPrivate_PVT01_PVT07_Sources(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	rows := []byte("q,a\n1+1?,2\n2+2?,4\n")
	path := s.write("my rows.csv", rows)
	first := decode[source](t, s.ok("evalrouter", "benchmark", "upload", path, "--json").stdout)
	sum := sha256.Sum256(rows)
	if first.Status != "completed" || first.Rows != 2 || first.SHA256 != hex.EncodeToString(sum[:]) || !strings.HasSuffix(first.URI, "/my_rows.csv") || strings.Join(first.Columns, " ") != "q a" {
		t.Errorf("%+v", first)
	}
	if again := decode[source](t, s.ok("evalrouter", "benchmark", "upload", path, "--json").stdout); again.ID != first.ID {
		t.Errorf("the same file again became %+v", again)
	}
	s.refused(2, "data_syntax", "evalrouter", "benchmark", "upload", s.write("bad.csv", []byte("a,b\n1\n")))
	s.refused(2, "invalid_input", "evalrouter", "benchmark", "upload", s.write("rows.xyz", rows))
	s.refused(2, "invalid_input", "evalrouter", "benchmark", "upload", filepath.Join(s.home, "none.csv"))
	s.refused(2, "source_too_large", "evalrouter", "benchmark", "upload", s.write("big.csv", bytes.Repeat([]byte("x,y\n"), 17<<20)))
	list := func(status string) string {
		return s.ok("evalrouter", "benchmark", "sources", "--status", status, "--json").stdout
	}
	contains(t, "the list", list("completed"), first.ID)
	contains(t, "the list", list("failed"), `"error_code":"data_syntax"`)
	manifest := object{"name": "Sums", "data": "my rows.csv", "task": "numeric", "columns": object{"answer": "a", "question": "q"}, "prompt_template": "{{question}}\nANSWER: N",
		"max_output_tokens": 64, "data_license": "CC0-1.0", "rights_attestation": true}
	file := s.writeJSON("manifest.json", manifest)
	contains(t, "the dry run", s.ok("evalrouter", "benchmark", "create", file, "--dry-run", "--json").stdout, `"ok":true`, `"row_count":2`)
	m := decode[made](t, s.ok("evalrouter", "benchmark", "create", file, "--json").stdout)
	if m.SourceURI != first.URI {
		t.Errorf("the file was sent again: %+v", m)
	}
	if other := decode[made](t, s.ok("evalrouter", "benchmark", "create", file, "--new", "--json").stdout); other.ProfileID == m.ProfileID {
		t.Error("--new made no other benchmark")
	}
	contains(t, "the list of benchmarks", s.ok("evalrouter", "benchmark", "list", "--status", "active", "--json").stdout, m.ProfileID)
	manifest["columns"] = object{"answer": "q", "question": "a"}
	contains(t, "a dry run of what cannot be", s.refused(2, "gold_not_gradable", "evalrouter", "benchmark", "create", s.writeJSON("bad.json", manifest), "--dry-run", "--json").stdout, `"row":1`)
	s.refused(2, "manifest_invalid", "evalrouter", "benchmark", "create", s.writeJSON("bad.json", manifest))
	manifest["colums"] = object{}
	s.refused(2, "invalid_input", "evalrouter", "benchmark", "create", s.writeJSON("bad.json", manifest))
	contains(t, "the archive", s.ok("evalrouter", "benchmark", "archive-source", first.ID[:8], "--json").stdout, `"status":"archived"`)
	contains(t, "the list", list("archived"), first.ID)
	s.audit()
}

// local starts the local service of the site with flags of its operator.
func (s *site) local(flags ...string) {
	s.t.Helper()
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command(context.Background(), "evalrouterd", append([]string{"local", "--data", s.data(), "--port", "0"}, flags...)...)
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	limit := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(s.data(), "service.json")); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			s.t.Fatalf("the service did not start:\n%s", log)
		}
	}
}

// PVT-02: files of a data set are imported at a commit, with a receipt, and a
// benchmark is made of one.
func TestPrivate_PVT02_Import(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	commit, rows := strings.Repeat("0a", 20), "{\"q\":\"1+1?\",\"a\":2}\n{\"q\":\"2+2?\",\"a\":4}\n"
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/datasets/acme/sums/revision/main":
			fmt.Fprintf(w, `{"sha":%q}`, commit)
		case "/datasets/acme/sums/resolve/" + commit + "/data/test.jsonl":
			http.Redirect(w, r, "/cdn/1", http.StatusFound)
		case "/cdn/1":
			fmt.Fprint(w, rows)
		default:
			http.NotFound(w, r)
		}
	}))
	defer hub.Close()
	s.local("--hub", hub.URL)
	out := s.ok("evalrouter", "benchmark", "import", "hf://acme/sums@main", "data/test.jsonl", "--json").stdout
	sum := sha256.Sum256([]byte(rows))
	uri := "hf://acme/sums@" + commit + "/data/test.jsonl"
	contains(t, "the receipt", out, commit, uri, hex.EncodeToString(sum[:]), fmt.Sprintf(`"bytes":%d`, len(rows)))
	s.refused(2, "hub_not_found", "evalrouter", "benchmark", "import", "hf://acme/sums@main", "data/none.jsonl")
	s.refused(2, "invalid_request", "evalrouter", "benchmark", "import", "acme/sums", "data/test.jsonl")
	m := decode[made](t, s.ok("evalrouter", "benchmark", "create", s.writeJSON("m.json", object{"name": "Sums", "source": uri, "task": "numeric", "columns": object{"answer": "a", "question": "q"},
		"prompt_template": "{{question}}", "max_output_tokens": 64, "data_license": "MIT", "rights_attestation": true, "sha256": hex.EncodeToString(sum[:])}), "--json").stdout)
	r := decode[run](t, s.ok("evalrouter", "run", m.slug(), "--model", "practice.solver-0.95", "--full", "--max-cost", "1", "--yes", "--json").stdout)
	if r.Status != "completed" || r.GradedCount != 2 {
		t.Errorf("%+v", r)
	}
}

// PVT-06: where the operator has switched it off, the command says so and
// nothing changes; everything else works.
func TestPrivate_PVT06_SwitchedOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.local("--no-private-benchmarks")
	file := s.write("a.csv", []byte("q,a\n1,2\n"))
	for _, args := range [][]string{{"upload", file}, {"import", "hf://a/b@main", "a.csv"}, {"sources"}, {"list"}, {"archive", "byob-1"}, {"archive-source", "1234"}} {
		s.refused(1, "feature_unavailable", "evalrouter", append([]string{"benchmark"}, args...)...)
	}
	s.ok("evalrouter", "run", "dates", "--model", "practice.solver-0.8", "--sample", "2", "--max-cost", "1", "--yes", "--json")
}

// family is a public benchmark and how a workspace would bring the same data.
type family struct {
	slug, data, folder string
	task               string
	options            object
	question           func(object) string
	target             func(object) string
}

func input(row object) string { return row["input"].(string) }

func families() []family {
	last := object{"answer_pattern": `(?im)^[ \t*_#>` + "`" + `]*ANSWER[*_]*[ \t]*[:：](.+)$`, "ignore_case": true, "ignore_punctuation": true}
	target := func(row object) string { return strings.Trim(row["target"].(string), "()") }
	bbh := func(name, task string, options object) family {
		return family{slug: "bbh-" + strings.ReplaceAll(name, "_", "-"), data: name + ".json", folder: "bbh", task: task, options: options, question: input, target: target}
	}
	return []family{
		bbh("boolean_expressions", "exact_match", last), bbh("web_of_lies", "exact_match", last), bbh("object_counting", "numeric", nil),
		bbh("date_understanding", "multiple_choice", object{"letters": 6}), bbh("logical_deduction_three_objects", "multiple_choice", object{"letters": 3}),
		{slug: "svamp", data: "SVAMP.json", folder: "svamp", task: "numeric", options: object{"answer_pattern": last["answer_pattern"], "take": "last", "percent": "face"},
			question: func(row object) string { return row["Body"].(string) + "\n" + row["Question"].(string) },
			target:   func(row object) string { return fmt.Sprint(row["Answer"]) }},
	}
}

// saying is what a model says to a task: right or wrong, in one of the forms
// that models write, by the question alone.
func saying(question, right, wrong string) string {
	sum := sha256.Sum256([]byte(question))
	value := right
	if sum[0] < 100 {
		value = wrong
	}
	switch sum[1] % 4 {
	case 0:
		return "ANSWER: " + value
	case 1:
		return "Let us see, step by step. It follows.\n\nANSWER: " + value
	case 2:
		return "One thing after the other.\n**ANSWER: " + value + "**"
	}
	return "First this, then that, and so on.\nANSWER: " + value + "."
}

// Five tasks of BIG-Bench Hard and SVAMP, brought as private benchmarks, get the
// score that the family's grader gives to the same answers, task by task.
func TestPrivate_ScoresAsTheFamilies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, f := range families() {
		raw, err := os.ReadFile(shared(t, "data", f.folder, f.data))
		if err != nil {
			t.Fatal(err)
		}
		var rows []object
		if f.folder == "bbh" {
			rows = decode[struct{ Examples []object }](t, string(raw)).Examples
		} else {
			rows = decode[[]object](t, string(raw))
		}
		manifestFile := filepath.Join("..", "..", "bundle", "manifests", f.slug+".json")
		shipped, err := os.ReadFile(manifestFile)
		if err != nil {
			t.Fatal(err)
		}
		template := decode[struct{ Prompt struct{ Template string } }](t, string(shipped)).Prompt.Template
		e := s.answers(f, rows)
		id := s.connect(e, f.slug, "0.50", "1.50")
		abs, err := filepath.Abs(manifestFile)
		if err != nil {
			t.Fatal(err)
		}
		s.ok("evalrouterd", "catalog", "add", "--data", s.data(), "--manifest", abs, "--file", shared(t, "data", f.folder, f.data))
		m := s.brings(f, rows, template)
		of, own := s.outcomes(f.slug, id), s.outcomes(m.slug(), id)
		if len(of) != len(rows) || len(own) != len(rows) || len(rows) == 0 {
			t.Fatalf("%s: %d rows, %d tasks of the family and %d of our own", f.slug, len(rows), len(of), len(own))
		}
		right := 0
		for task, outcome := range of {
			if (outcome == "right") != (own[task] == "right") {
				t.Errorf("%s, task %s: the family says %s, the private benchmark %s", f.slug, task, outcome, own[task])
			}
			if outcome == "right" {
				right++
			}
		}
		if right == 0 || right == len(rows) {
			t.Errorf("%s: %d of %d right shows nothing", f.slug, right, len(rows))
		}
		t.Logf("row b: %s: %d of %d right, by the family and as a private benchmark", f.slug, right, len(rows))
	}
	s.audit()
}

// answers is an endpoint that gives a fixed answer to every question.
func (s *site) answers(f family, rows []object) *endpoint {
	s.t.Helper()
	var lines bytes.Buffer
	for i, row := range rows {
		wrong := f.target(rows[(i+1)%len(rows)])
		for n := 2; wrong == f.target(row); n++ {
			wrong = f.target(rows[(i+n)%len(rows)])
		}
		line, err := json.Marshal(object{"question": f.question(row), "answer": saying(f.question(row), f.target(row), wrong)})
		if err != nil {
			s.t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	rec, err := replay.ReadRecording(&lines, "question", "answer")
	if err != nil {
		s.t.Fatal(err)
	}
	e := &endpoint{log: filepath.Join(s.t.TempDir(), "questions.log")}
	srv, err := replay.New(replay.Config{Recording: rec, Model: f.slug, LogPath: e.log})
	if err != nil {
		s.t.Fatal(err)
	}
	e.Server = httptest.NewServer(srv)
	s.t.Cleanup(func() { e.Server.Close(); srv.Close() })
	return e
}

// brings makes a private benchmark of a family's rows, in the form that an
// author would write them.
func (s *site) brings(f family, rows []object, template string) made {
	s.t.Helper()
	columns := object{"answer": "answer"}
	var lines bytes.Buffer
	for _, row := range rows {
		flat := object{"answer": f.target(row)}
		for _, name := range []string{"input", "Body", "Question"} {
			if v, ok := row[name]; ok {
				flat[name], columns[name] = v, name
			}
		}
		if v, ok := row["ID"]; ok {
			flat["ID"], columns["id"] = v, "ID"
		}
		line, err := json.Marshal(flat)
		if err != nil {
			s.t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	data := s.write(f.slug+".jsonl", lines.Bytes())
	manifest := object{"name": f.slug, "data": data, "task": f.task, "columns": columns, "prompt_template": template, "max_output_tokens": 512, "data_license": "MIT", "rights_attestation": true}
	if f.options != nil {
		manifest["grader_options"] = f.options
	}
	return decode[made](s.t, s.ok("evalrouter", "benchmark", "create", s.writeJSON(f.slug+"-manifest.json", manifest), "--json").stdout)
}

// outcomes runs all of a benchmark and gives what each task came to.
func (s *site) outcomes(slug, connection string) map[string]string {
	s.t.Helper()
	r := decode[run](s.t, s.ok("evalrouter", "run", slug, "--model", "connection:"+connection, "--full", "--max-cost", "100", "--concurrency", "64", "--yes", "--json").stdout)
	file := filepath.Join(s.home, r.ID+".json")
	s.ok("evalrouter", "export", r.ID, "--format", "json", "--output", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for _, x := range decode[export](s.t, string(raw)).Samples {
		out[x.TaskID] = x.Outcome
	}
	return out
}
