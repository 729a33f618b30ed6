package httpapi_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestExportInspect reads exported logs back: both formats hold the same log,
// its scores are the run's, Inspect's own scorer gives them again from the
// logged answers, and writing the log again changes nothing.
func TestExportInspect(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	var e api.Export
	h.send("GET", "/v1/runs/"+run.ID+"/export", nil).want(t, 200).into(t, &e)
	var logs []*evallog.Log
	for format, ext := range map[string]string{"inspect": ".eval", "inspect-json": ".eval.json"} {
		r := h.send("GET", "/v1/runs/"+run.ID+"/export?format="+format, nil).want(t, 200)
		if got := r.header.Get("Content-Disposition"); got != `attachment; filename="evalrouter-`+run.ID[:8]+ext+`"` {
			t.Errorf("%s is called %s", format, got)
		}
		l := readLog(t, r.body)
		var again bytes.Buffer
		write := l.WriteJSON
		if format == "inspect" {
			write = l.WriteArchive
		}
		if err := write(&again); err != nil {
			t.Fatal(err)
		}
		if a, b := shown(l), shown(readLog(t, again.Bytes())); a != b {
			t.Errorf("%s changes when it is written again", format)
		}
		logs = append(logs, l)
		sameScores(t, l, e)
	}
	if shown(logs[0]) != shown(logs[1]) {
		t.Error("the two formats hold different logs")
	}
	if got := logs[0].Results(); len(got) != 1 || got[0].Scored != run.GradedCount {
		t.Errorf("results %+v for %d graded tasks", got, run.GradedCount)
	}
}

func readLog(t *testing.T, b []byte) *evallog.Log {
	t.Helper()
	l, err := evallog.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// shown is a log as text.
func shown(l *evallog.Log) string {
	lines := []string{}
	for _, s := range l.Samples {
		lines = append(lines, value.Repr(s))
	}
	return value.Repr(l.Head) + strings.Join(lines, "\n") + value.Repr(l.Reductions)
}

// sameScores holds a log against the service's own export of the run.
func sameScores(t *testing.T, l *evallog.Log, e api.Export) {
	t.Helper()
	byTask := map[string]api.ExportSample{}
	for _, s := range e.Samples {
		if s.Status == "graded" {
			byTask[s.TaskID] = s
		}
	}
	var scores []metric.Sample
	for _, d := range l.Samples {
		s, err := evallog.View(d)
		if err != nil {
			t.Fatal(err)
		}
		want, ok := byTask[s.ID.(string)]
		delete(byTask, s.ID.(string))
		if !ok || len(s.Scores) != 1 || s.Completion != *want.Answer || s.Finish != bundle.Finish(*want.FinishReason) {
			t.Fatalf("sample %v is not the run's", s.ID)
		}
		logged := s.Scores[0].Score
		number, _ := score.DefaultToFloat().Float(logged.Value)
		if number != want.Scores["accuracy"] {
			t.Errorf("sample %v scores %v, the run says %v", s.ID, logged.Value, want.Scores)
		}
		again, err := score.Match{Location: score.End, Numeric: true}.Score(s.Completion, s.Target)
		if err != nil || again.Value != logged.Value {
			t.Errorf("sample %v scores %v again, logged %v (%v)", s.ID, again.Value, logged.Value, err)
		}
		compat, _ := logged.Metadata.Get("grader_compat")
		if c, _ := compat.(string); !strings.HasPrefix(c, "inspect/match@1+") {
			t.Errorf("sample %v has the class %v", s.ID, compat)
		}
		scores = append(scores, metric.Sample{ID: s.ID, Score: again})
	}
	if len(byTask) > 0 {
		t.Errorf("%d graded tasks are not in the log", len(byTask))
	}
	fresh, _, err := metric.Plan{Scorer: "match", Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}}.Results(scores)
	if err != nil || fresh[0].Figures[0].Value != l.Results()[0].Figures[0].Value || fresh[0].Figures[1].Value != l.Results()[0].Figures[1].Value {
		t.Errorf("figures %+v, the log has %+v (%v)", fresh, l.Results(), err)
	}
}

// TestExportLMEval reads the archive back: one line a graded task, and figures
// that are those of the lines.
func TestExportLMEval(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	r := h.send("GET", "/v1/runs/"+run.ID+"/export?format=lm-eval", nil).want(t, 200)
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		_, base, _ := strings.Cut(f.Name, "/")
		kind, _, _ := strings.Cut(base, "_")
		files[kind] = b
	}
	var results struct {
		Results  map[string]map[string]any `json:"results"`
		NSamples map[string]map[string]int `json:"n-samples"`
	}
	if err := json.Unmarshal(files["results"], &results); err != nil {
		t.Fatal(err)
	}
	n, sum, last := 0, 0.0, -1.0
	for line := range strings.Lines(string(files["samples"])) {
		var s map[string]any
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		n, sum = n+1, sum+s["score"].(float64)
		if id := s["doc_id"].(float64); id <= last || s["filter"] != "inspect/match" {
			t.Errorf("document %v with the filter %v after document %v", id, s["filter"], last)
		}
		last = s["doc_id"].(float64)
	}
	task := results.Results["arithmetic"]
	if n != run.GradedCount || results.NSamples["arithmetic"]["effective"] != n || task["score,inspect/match"] != sum/float64(n) {
		t.Errorf("%d lines with sum %v for %d graded tasks; results %v, %v", n, sum, run.GradedCount, task, results.NSamples)
	}
}
