package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// imported brings whole traces, as the connector does, and gives the status.
func (s *site) imported(c traceConnection, outputs ...string) int {
	s.t.Helper()
	in := api.TraceImport{Source: api.SourceLangSmith, ProjectID: "p"}
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	for i, output := range outputs {
		end := at.Add(time.Second)
		t := api.ImportedTrace{
			SourceTraceID: string(rune('a' + i)), Name: "support", Status: api.TraceOK, Completeness: api.TraceComplete, Reasons: []string{}, StartedAt: at, EndedAt: &end, Labels: []string{}, SpanCount: 1,
			Spans: []api.ImportedSpan{{SourceSpanID: "1", Kind: api.SpanAgent, Name: "support", Status: api.TraceOK, StartedAt: at, EndedAt: &end, Input: json.RawMessage(`"My parcel is late."`), Output: json.RawMessage(output)}},
		}
		var err error
		if t.Digest, _, err = t.ContentDigest(); err != nil {
			s.t.Fatal(err)
		}
		in.Traces = append(in.Traces, t)
	}
	body, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, s.serviceURL()+"/v1/trace-connections/"+c.ID+"/imports", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.Secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// A judge's questions are a benchmark that is quoted and run like any other, and
// what it says becomes evaluations once, also where the service was killed between
// the end of the run and the taking over.
func TestJudging_FromTracesToVerdicts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.traceConnection("ls", "langsmith")
	if got := s.imported(c, `"It comes tomorrow."`, `"Look it up yourself."`, `"I have asked the carrier."`); got != 200 {
		t.Fatalf("the import answered %d", got)
	}
	s.refused(2, "invalid_input", "evalrouter", "traces", "judge", "polite")
	contains(t, "a new judge", s.ok("evalrouter", "traces", "evaluators", "create", "--name", "polite", "--prompt-file", s.write("polite.txt", []byte("Was the agent helpful and polite?"))).stdout, "evalrouter traces judge polite")
	s.refused(2, "invalid_input", "evalrouter", "traces", "evaluators", "create", "--name", "both", "--rule", "error", "--prompt", "x")
	contains(t, "a judge as a rule", s.refused(2, "invalid_request", "evalrouter", "traces", "evaluators", "run", "polite").stderr, "costs money", "evalrouter traces judge polite")
	q := decode[api.TraceQuestions](t, s.ok("evalrouter", "traces", "judge", "polite", "--json").stdout)
	if q.ProfileID == nil || q.Questions != 3 {
		t.Fatalf("%+v", q)
	}
	said := s.ok("evalrouter", "traces", "judge", "polite").stdout
	slug := (*q.ProfileID)[:len(*q.ProfileID)-len("@1")]
	contains(t, "the questions again", said, "Made 3 questions of polite. Nothing was spent.", "evalrouter run "+slug+" --full --model MODEL", "evalrouter traces verdicts RUN")

	// The practice route knows the expected answer, so that it says pass where it is
	// right, and gives no verdict where it is wrong.
	r := decode[run](t, s.ok("evalrouter", "run", slug, "--model", "practice.solver-0.8", "--full", "--max-cost", "1", "--yes", "--json").stdout)
	if r.Status != "completed" || r.PlannedCount != 3 {
		t.Fatalf("%+v", r)
	}
	if err := syscall.Kill(s.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	v := decode[api.TraceVerdicts](t, s.ok("evalrouter", "traces", "verdicts", r.ID, "--json").stdout)
	if v.Passed != r.Outcomes["right"] || v.Passed+v.NoVerdict != 3 || v.Kept != v.Passed {
		t.Errorf("%+v of %v", v, r.Outcomes)
	}
	again := decode[api.TraceVerdicts](t, s.ok("evalrouter", "traces", "verdicts", r.ID, "--json").stdout)
	if again.Kept != 0 || again.Known != v.Kept {
		t.Errorf("%+v, then %+v", v, again)
	}
	judged := 0
	for _, x := range s.traces() {
		whole := decode[struct {
			Evaluations []api.TraceEvaluation `json:"evaluations"`
		}](t, s.ok("evalrouter", "traces", "show", x.ID, "--json").stdout)
		for _, e := range whole.Evaluations {
			judged++
			if e.Label != api.JudgedPass || e.Score != 1 || e.RunID != r.ID {
				t.Errorf("%+v", e)
			}
			contains(t, "the trace", s.ok("evalrouter", "traces", "show", x.ID).stdout, "judged pass in run "+r.ID[:8])
		}
	}
	if judged != v.Kept {
		t.Errorf("%d evaluations are shown of %d", judged, v.Kept)
	}
	other := decode[run](t, s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--sample", "3", "--max-cost", "1", "--yes", "--json").stdout)
	contains(t, "a run that asked no judge", s.refused(2, "invalid_request", "evalrouter", "traces", "verdicts", other.ID).stderr, "next: evalrouter traces evaluators list")
	s.audit()
}

// The page about traces leads to verdicts as it stands.
func TestPages_Tracing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if got := s.imported(s.traceConnection("ls", "langsmith"), `"It comes tomorrow."`); got != 200 {
		t.Fatalf("the import answered %d", got)
	}
	script := strings.Replace(handbook.Script(document(t, "docs/tracing.md"), "Judge traces with a model"), "--model MODEL", "--model practice.solver-0.95", 1)
	out := s.follow("sh", script)
	contains(t, "the verdicts", out.stdout, "Made evaluator helpful.", "passed, 0 failed;", `"data":[]`)
	s.audit()
}
