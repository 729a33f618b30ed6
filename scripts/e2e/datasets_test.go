package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// datasetItem is the part of an item that these tests read.
type datasetItem struct {
	ID       string `json:"id"`
	Review   string `json:"review"`
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
	Source   *struct {
		TraceID string `json:"trace_id"`
	} `json:"source"`
}

type datasetPage struct {
	Data []datasetItem `json:"data"`
}

type datasetVersion struct {
	Version int    `json:"version"`
	SHA256  string `json:"sha256"`
	Items   int    `json:"item_count"`
	LeftOut int    `json:"left_out"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Removed int    `json:"removed"`
}

func (s *site) export1(name, format string) (string, string) {
	s.t.Helper()
	file := filepath.Join(s.home, "out."+format)
	made := decode[struct {
		SHA256 string `json:"sha256"`
	}](s.t, s.ok("evalrouter", "datasets", "export", name, "1", "--format", format, "--output", file, "--overwrite", "--json").stdout)
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != made.SHA256 {
		s.t.Errorf("the export of %s has another hash than was said", format)
	}
	return string(b), made.SHA256
}

// From what an agent did in production to a scored run of a model: a trace
// becomes an item, items a version, the version a benchmark. What was sealed
// outlives its trace, a restart and every edit.
func TestDatasets_TDS06_TDS07_TDS08_TDS09_FromATraceToAScoredRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.traceConnection("shop", "otlp")
	if got := s.export(c.Secret, recorded(t, "langfuse")); got != 200 {
		t.Fatalf("the export answered %d", got)
	}
	trace := s.traces()[0].ID
	s.ok("evalrouter", "datasets", "create", "orders", "--description", "hard ones")
	s.ok("evalrouter", "traces", "evaluators", "create", "--name", "dear", "--rule", "cost", "--set", "microusd=100")
	s.refused(2, "invalid_request", "evalrouter", "traces", "evaluators", "create", "--name", "bad", "--rule", "slow")
	// A trace that may still grow is not judged: half a minute must pass first.
	contains(t, "the look", s.ok("evalrouter", "traces", "evaluators", "run", "dear", "--dry-run").stdout, "Looked at 0 traces")
	contains(t, "the findings", s.ok("evalrouter", "traces", "findings", "list", "--status", "open", "--json").stdout, `"data":[]`)
	s.refused(2, "invalid_input", "evalrouter", "traces", "findings", "promote", "nothing", "--dataset", "orders")
	s.refused(2, "name_taken", "evalrouter", "datasets", "create", "orders")
	s.refused(2, "invalid_request", "evalrouter", "datasets", "create", "Not A Name")
	step := "0000000000000002"
	added := decode[datasetPage](t, s.ok("evalrouter", "datasets", "add", "orders", "--trace", trace, "--step", step, "--expected", "42", "--json").stdout)
	if len(added.Data) != 1 || added.Data[0].Source == nil || added.Data[0].Source.TraceID != trace || added.Data[0].Review != "pending" {
		t.Fatalf("%+v", added)
	}
	first := added.Data[0]
	s.refused(2, "duplicate_item", "evalrouter", "datasets", "add", "orders", "--trace", trace, "--step", step, "--expected", "42")
	var lines strings.Builder
	for _, q := range []string{"1 plus 1|2", "2 plus 3|5", "10 minus 4|6", "never approved|0"} {
		question, answer, _ := strings.Cut(q, "|")
		lines.WriteString(`{"input":"What is ` + question + `?","expected":"` + answer + `"}` + "\n")
	}
	more := decode[datasetPage](t, s.ok("evalrouter", "datasets", "add", "orders", "--file", s.write("items.jsonl", []byte(lines.String())), "--json").stdout)
	if len(more.Data) != 4 {
		t.Fatalf("%+v", more)
	}

	contains(t, "the refusal", s.refused(2, "nothing_approved", "evalrouter", "datasets", "seal", "orders").stderr, "evalrouter datasets items orders --review pending")
	contains(t, "the refusal", s.refused(1, "self_review", "evalrouter", "datasets", "review", "orders", first.ID, "--approve").stderr, "evalrouter datasets update orders --allow-self-review")
	contains(t, "the update", s.ok("evalrouter", "datasets", "update", "orders", "--allow-self-review").stdout, "1 person; whoever wrote an item may review it")
	contains(t, "the review", s.ok("evalrouter", "datasets", "review", "orders", first.ID, "--approve").stdout, "is approved")
	contains(t, "the update", s.ok("evalrouter", "datasets", "update", "orders", "--forbid-self-review", "--reviewers", "2").stdout, "2 people; whoever wrote an item does not review it")
	s.refused(2, "invalid_input", "evalrouter", "datasets", "update", "orders")
	s.ok("evalrouter", "datasets", "create", "mine", "--allow-self-review")
	s.ok("evalrouter", "datasets", "add", "mine", "--trace", trace, "--step", step, "--expected", "42")
	s.ok("evalrouter", "datasets", "add", "mine", "--file", filepath.Join(s.home, "items.jsonl"))
	all := decode[datasetPage](t, s.ok("evalrouter", "datasets", "items", "mine", "--json").stdout).Data
	for _, x := range all[:4] {
		contains(t, "the review", s.ok("evalrouter", "datasets", "review", "mine", x.ID, "--approve").stdout, "is approved")
	}
	v := decode[datasetVersion](t, s.ok("evalrouter", "datasets", "seal", "mine", "--note", "first", "--json").stdout)
	if v.Version != 1 || v.Items != 4 || v.LeftOut != 1 || v.Added != 4 {
		t.Errorf("%+v", v)
	}
	s.refused(2, "nothing_changed", "evalrouter", "datasets", "seal", "mine")
	sealed, hash := s.export1("mine", "jsonl")
	contains(t, "the export", sealed, "What is 6 times 7?", `"expected":"42"`, all[0].ID, all[0].Digest)
	if strings.Contains(sealed, "never approved") {
		t.Error("an item that nobody approved was sealed")
	}
	s.export1("mine", "csv")
	s.export1("mine", "json")

	// An edit voids what was said, and another version has it; the first stays.
	edited := decode[datasetItem](t, s.ok("evalrouter", "datasets", "edit", "mine", all[1].ID, "--expected", "two", "--json").stdout)
	if edited.Review != "pending" || edited.Revision != 2 || edited.Digest == all[1].Digest {
		t.Errorf("%+v", edited)
	}
	s.ok("evalrouter", "datasets", "review", "mine", all[1].ID, "--approve")
	s.ok("evalrouter", "datasets", "edit", "mine", all[2].ID, "--withdraw")
	if v2 := decode[datasetVersion](t, s.ok("evalrouter", "datasets", "seal", "mine", "--json").stdout); v2.Version != 2 || v2.Items != 3 || v2.Changed != 1 || v2.Removed != 1 || v2.Added != 0 || v2.SHA256 == v.SHA256 {
		t.Errorf("%+v", v2)
	}
	contains(t, "the difference", s.ok("evalrouter", "datasets", "diff", "mine", "1", "2").stdout, "~ "+all[1].ID, "- "+all[2].ID, "0 added, 1 changed, 1 removed")

	// The trace goes only when that is meant, and takes nothing from the items.
	s.refused(2, "trace_held", "evalrouter", "traces", "delete", trace)
	s.ok("evalrouter", "traces", "delete", trace, "--force")
	s.ok("evalrouter", "local", "stop")
	again, hashAgain := s.export1("mine", "jsonl")
	if again != sealed || hashAgain != hash {
		t.Error("the version is not what it was before the restart")
	}

	made := decode[made](t, s.ok("evalrouter", "datasets", "package", "mine", "1", "--task", "numeric", "--license", "CC0-1.0", "--rights", "--json").stdout)
	if same := decode[struct {
		ProfileID string `json:"profile_id"`
	}](t, s.ok("evalrouter", "datasets", "package", "mine", "1", "--task", "numeric", "--license", "CC0-1.0", "--rights", "--json").stdout); same.ProfileID != made.ProfileID || made.TaskCount != 4 {
		t.Errorf("%+v, then %+v", made, same)
	}
	r := decode[run](t, s.ok("evalrouter", "run", made.slug(), "--model", "practice.solver-0.95", "--full", "--max-cost", "1", "--yes", "--json").stdout)
	if r.Status != "completed" || r.GradedCount != 4 || r.Outcomes["right"] == 0 {
		t.Errorf("%+v", r)
	}
	t.Logf("from a captured trace to a scored run: %d of %d right", r.Outcomes["right"], r.PlannedCount)
	s.ok("evalrouter", "datasets", "retract", "mine", "1", "--reason", "a mistake")
	s.refused(2, "version_retracted", "evalrouter", "datasets", "package", "mine", "1", "--task", "exact_match", "--license", "CC0-1.0", "--rights")
	contains(t, "the versions", s.ok("evalrouter", "datasets", "versions", "mine", "--json").stdout, `"retraction_reason":"a mistake"`)
	s.ok("evalrouter", "datasets", "archive", "mine")
	s.refused(2, "dataset_archived", "evalrouter", "datasets", "add", "mine", "--input", "x")
	s.audit()
}
