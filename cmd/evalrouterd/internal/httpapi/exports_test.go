package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// capped is a run over 40 tasks whose cap pays a few of them.
func (h *harness) capped(t *testing.T) api.RunRecord {
	t.Helper()
	id := h.finished(object{"coverage": object{"mode": "sample", "sample_count": 40, "seed": 7}, "max_charge_microusd": "2000"})
	var r api.RunRecord
	h.send("GET", "/v1/runs/"+id, nil).want(t, 200).into(t, &r)
	if r.Status != api.StatusPartial || *r.TerminalReason != "spending_cap" || r.Outcomes["skipped_budget"] == 0 || r.GradedCount == 0 {
		t.Fatalf("the run is %s because of %s with %v", r.Status, *r.TerminalReason, r.Outcomes)
	}
	return r
}

func TestExportJSON(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	var e api.Export
	r := h.send("GET", "/v1/runs/"+run.ID+"/export?format=json", nil).want(t, 200).into(t, &e)
	if len(e.Samples) != 40 {
		t.Fatalf("%d samples for 40 planned tasks", len(e.Samples))
	}
	seen, outcomes, sum := map[string]bool{}, map[string]int{}, usd.Micro(0)
	for _, s := range e.Samples {
		if seen[s.TaskID] {
			t.Errorf("task %s stands twice", s.TaskID)
		}
		seen[s.TaskID] = true
		outcomes[s.Outcome]++
		sum += s.ChargeMicrousd
		if graded := s.Status == "graded"; graded != (s.Answer != nil) || graded != (s.Scores != nil) || graded != (s.Usage != nil) {
			t.Errorf("task %s is %s with answer %v, scores %v, usage %v", s.TaskID, s.Status, s.Answer, s.Scores, s.Usage)
		}
		if s.Answer != nil {
			if want := sha256.Sum256([]byte(*s.Answer)); *s.AnswerSHA256 != hex.EncodeToString(want[:]) {
				t.Errorf("task %s: answer_sha256 is not of the answer", s.TaskID)
			}
		}
	}
	for o, n := range run.Outcomes {
		if outcomes[o] != n {
			t.Errorf("%d samples are %s, the run says %d", outcomes[o], o, n)
		}
	}
	if sum != run.SpendMicrousd || e.Summary.BillingSnapshot.SpendMicrousd != sum {
		t.Errorf("the samples cost %s, the run %s, the snapshot says %s", sum, run.SpendMicrousd, e.Summary.BillingSnapshot.SpendMicrousd)
	}
	want := sha256.Sum256(r.body)
	if r.header.Get("X-Content-SHA256") != hex.EncodeToString(want[:]) || r.header.Get("X-Result-Version") != "1" ||
		r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) || r.header.Get("Content-Disposition") != `attachment; filename="evalrouter-`+run.ID[:8]+`.json"` {
		t.Errorf("the headers are %v", r.header)
	}
}

// TestCharge_RUN15_RUN16 recomputes every charge from the usage and the quoted
// rates, and looks at the cap at every moment of the run.
func TestCharge_RUN15_RUN16(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	var e api.Export
	h.send("GET", "/v1/runs/"+run.ID+"/export", nil).want(t, 200).into(t, &e)
	rates := e.Model.Pricing
	for _, s := range e.Samples {
		want := usd.Micro(0)
		if s.Usage != nil {
			picos := s.Usage.InputTokens*int64(*rates.InputMicrousd) + s.Usage.OutputTokens*int64(*rates.OutputMicrousd)
			want = usd.Micro((picos + 999_999) / 1_000_000)
		}
		if s.ChargeMicrousd != want {
			t.Errorf("task %s was charged %d for %+v, want %d", s.TaskID, s.ChargeMicrousd, s.Usage, want)
		}
	}
	checked := 0
	for at := int64(0); ; {
		p := h.events(t, core.RunID(run.ID), "limit=200&after="+strconv.FormatInt(at, 10))
		for _, ev := range p.Data {
			spend, err1 := usd.ParseWire(ev.Data["spend_microusd"].(string))
			reserved, err2 := usd.ParseWire(ev.Data["reserved_microusd"].(string))
			if err1 != nil || err2 != nil || spend+reserved > run.CapMicrousd {
				t.Errorf("event %d: %s spent and %s reserved of %s", ev.Sequence, spend, reserved, run.CapMicrousd)
			}
			checked++
		}
		if at = p.NextSequence; !p.HasMore {
			break
		}
	}
	if checked < 10 {
		t.Errorf("only %d events were looked at", checked)
	}
}

// TestExport_CMP30 looks for what exports must not hold: prompts, times of
// single tasks, usage of single attempts.
func TestExport_CMP30(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.finished(nil)
	q, err := h.store.Run(t.Context(), core.Scope{Workspace: core.Local}, core.RunID(id))
	if err != nil {
		t.Fatal(err)
	}
	quote, err := h.store.Quote(t.Context(), core.Scope{Workspace: core.Local}, q.QuoteID)
	if err != nil {
		t.Fatal(err)
	}
	var prompts []string
	for i := range quote.Coverage.N {
		task, err := h.catalog.Task(t.Context(), quote.Profile, quote.Order().At(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range task.Input {
			b, err := json.Marshal(m.Text)
			if err != nil {
				t.Fatal(err)
			}
			prompts = append(prompts, m.Text, strings.Trim(string(b), `"`))
		}
	}
	for _, format := range []string{"json", "csv", "summary", "scores", "html", "md", "github", "junit"} {
		body := string(h.send("GET", "/v1/runs/"+id+"/export?format="+format, nil).want(t, 200).body)
		for _, p := range prompts {
			if strings.Contains(body, p) {
				t.Errorf("%s holds a prompt: %.80q", format, p)
			}
		}
		for _, word := range []string{"started_at", "latency", "duration", "reasoning_text", "attempts\""} {
			if strings.Contains(body, word) {
				t.Errorf("%s holds %q", format, word)
			}
		}
	}
}

// TestExportRepeatable asks for a version twice: the bytes are the same.
func TestExportRepeatable(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	for _, format := range []string{"json", "csv", "summary", "scores", "html", "md", "github", "junit", "parquet"} {
		first := h.send("GET", "/v1/runs/"+run.ID+"/export?version=1&format="+format, nil).want(t, 200)
		h.now.Add(int64(1e9))
		again := h.send("GET", "/v1/runs/"+run.ID+"/export?version=1&format="+format, nil).want(t, 200)
		if string(first.body) != string(again.body) {
			t.Errorf("%s differs the second time", format)
		}
		h.send("GET", "/v1/runs/"+run.ID+"/export?version=2&format="+format, nil).refused(t, 404, "not_found")
	}
}

// TestExportParquet reads the typed rows back: they are those of the JSON export.
func TestExportParquet(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	r := h.send("GET", "/v1/runs/"+run.ID+"/export?format=parquet", nil).want(t, 200)
	if ct, name := r.header.Get("Content-Type"), r.header.Get("Content-Disposition"); ct != "application/vnd.apache.parquet" || !strings.HasSuffix(name, `.parquet"`) {
		t.Errorf("the file is %q, %q", ct, name)
	}
	type row struct {
		TaskID  string   `parquet:"task_id"`
		Outcome string   `parquet:"outcome"`
		Answer  *string  `parquet:"answer,optional"`
		Score   *float64 `parquet:"score,optional"`
		Charge  int64    `parquet:"charge_microusd"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	var e api.Export
	h.send("GET", "/v1/runs/"+run.ID+"/export?format=json", nil).want(t, 200).into(t, &e)
	var want []row
	for _, s := range e.Samples {
		w := row{TaskID: s.TaskID, Outcome: s.Outcome, Answer: s.Answer, Charge: int64(s.ChargeMicrousd)}
		if v, ok := s.Scores["accuracy"]; ok {
			w.Score = &v
		}
		want = append(want, w)
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestExportCSV(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	r := h.send("GET", "/v1/runs/"+run.ID+"/export?format=csv", nil).want(t, 200)
	if note := r.header.Get("X-CSV-Text"); note != export.CSVText {
		t.Errorf("the header says %q", note)
	}
	if ct := r.header.Get("Content-Type"); ct != "text/csv; charset=utf-8" {
		t.Errorf("the content type is %q", ct)
	}
	rows, err := csv.NewReader(strings.NewReader(string(r.body))).ReadAll()
	if err != nil || len(rows) != 41 {
		t.Fatalf("%d rows (%v), want 41", len(rows), err)
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	right, sum := 0, 0
	for _, row := range rows[1:] {
		n, err := strconv.Atoi(row[col["charge_microusd"]])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
		if row[col["score_accuracy"]] == "1" {
			right++
		}
	}
	if right != run.Outcomes["right"] || usd.Micro(sum) != run.SpendMicrousd {
		t.Errorf("the table has %d right for %d, the run %d for %s", right, sum, run.Outcomes["right"], run.SpendMicrousd)
	}
}

// TestExportExpired takes the recorded answers away, as their retention does.
func TestExportExpired(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.finished(nil)
	h.now.Store(began.AddDate(0, 0, core.RawDays).UnixMicro())
	var e api.Export
	h.send("GET", "/v1/runs/"+run+"/export", nil).want(t, 200).into(t, &e)
	if e.ExportPolicy.Answers != "expired" || !e.Result.Retention.RawEvidenceExpired {
		t.Errorf("the policy is %+v", e.ExportPolicy)
	}
	for _, s := range e.Samples {
		if s.Answer != nil || s.AnswerWithheld == nil || *s.AnswerWithheld != "expired" || s.Scores == nil {
			t.Errorf("task %s: answer %v, withheld %v, scores %v", s.TaskID, s.Answer, s.AnswerWithheld, s.Scores)
		}
	}
	h.now.Store(began.AddDate(0, 0, core.SummaryDays).UnixMicro())
	for _, path := range []string{"/results", "/export"} {
		h.send("GET", "/v1/runs/"+run+path, nil).refused(t, 410, "result_expired")
	}
}

func TestTaskList(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.capped(t)
	var all []api.TaskRecord
	for at := "?limit=7"; at != ""; {
		var p api.Page[api.TaskRecord]
		h.send("GET", "/v1/runs/"+run.ID+"/tasks"+at, nil).want(t, 200).into(t, &p)
		all, at = append(all, p.Data...), ""
		if p.NextCursor != nil {
			at = "?limit=7&cursor=" + *p.NextCursor
		}
	}
	if len(all) != 40 {
		t.Fatalf("%d tasks are listed", len(all))
	}
	byStatus := map[string]int{}
	for i, task := range all {
		byStatus[task.Status]++
		if task.Index != i || task.Outcome == nil {
			t.Errorf("task %d has the index %d and the outcome %v", i, task.Index, task.Outcome)
		}
	}
	for status, want := range byStatus {
		var p api.Page[api.TaskRecord]
		h.send("GET", "/v1/runs/"+run.ID+"/tasks?limit=200&status="+status, nil).want(t, 200).into(t, &p)
		if len(p.Data) != want {
			t.Errorf("the filter %s lists %d tasks of %d", status, len(p.Data), want)
		}
	}
	if byStatus["skipped_budget"] != run.Outcomes["skipped_budget"] || byStatus["graded"] != run.GradedCount {
		t.Errorf("the tasks are %v, the run %v", byStatus, run.Outcomes)
	}
}
