package httpapi_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// likelyCase is a multiple-choice task with what a model thinks of each choice,
// and what lm-eval says of it.
type likelyCase struct {
	Name    string
	Choices []string
	Gold    string   // a letter
	Results [][2]any // sum, greedy
	Right   map[string]bool
}

func (c likelyCase) question() string { return "Case " + c.Name + "?" }

// completions is an endpoint that says how likely each choice of some cases is,
// or, when it is mute, takes the request and says nothing of it.
type completions struct {
	cases []likelyCase
	mute  bool
	mu    sync.Mutex
	asked map[string]int
}

func (s *completions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt    string
		Echo      bool
		MaxTokens int `json:"max_tokens"`
		LogProbs  int
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/completions" || body.MaxTokens > 16 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	choice := object{"index": 0, "text": "ok", "finish_reason": "length"}
	tokens := []string{"x", "y"}
	if body.Echo && body.LogProbs == 1 && !s.mute {
		context, last, sum, greedy := s.find(body.Prompt)
		best := sum
		if !greedy {
			best += 0.25
		}
		tokens = []string{context[:2], context[2:], last, " and"}
		choice["text"] = strings.Join(tokens, "")
		choice["logprobs"] = object{
			"tokens": tokens, "token_logprobs": []any{nil, -3.5, sum, -1},
			"top_logprobs": []any{nil, object{"u": -1}, object{last: sum, "v": best}, object{" and": -1}},
		}
	}
	s.mu.Lock()
	s.asked[body.Prompt]++
	s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(object{"model": "m", "choices": []any{choice}, "usage": object{"prompt_tokens": len(tokens) - 1, "completion_tokens": 1, "total_tokens": len(tokens)}})
}

// find splits a prompt into its context and the choice that it ends with.
func (s *completions) find(prompt string) (context, last string, sum float64, greedy bool) {
	for _, c := range s.cases {
		rest, ok := strings.CutPrefix(prompt, c.question()+" ")
		for i, choice := range c.Choices {
			if ok && rest == choice {
				return c.question(), " " + choice, c.Results[i][0].(float64), c.Results[i][1].(bool)
			}
		}
	}
	at := strings.LastIndex(prompt, " ")
	return prompt[:at], prompt[at:], -1.5, true
}

// connect makes and checks a connection to an endpoint.
func (h *harness) connect(t *testing.T, s http.Handler) api.ConnectionRecord {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	var c api.ConnectionRecord
	h.send("POST", "/v1/connections", object{"name": "Base model", "base_url": srv.URL + "/v1", "model_id": "m", "protocol": "openai_completions",
		"price_in_microusd": "1000000", "price_out_microusd": "2000000"}).want(t, 200).into(t, &c)
	h.send("POST", "/v1/connections/"+c.ID+"/check", nil).want(t, 200).into(t, &c)
	return c
}

// likely admits cases as a benchmark under a metric, and gives its selection.
func (h *harness) likely(t *testing.T, cases []likelyCase, metric string) object {
	t.Helper()
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	for _, c := range cases {
		if err := enc.Encode(object{"id": "case-" + c.Name, "q": c.question(), "options": c.Choices, "right": c.Gold}); err != nil {
			t.Fatal(err)
		}
	}
	slug := "likely-" + strings.ReplaceAll(metric, "_", "-")
	m, err := bundle.ReadManifest(strings.NewReader(fmt.Sprintf(`{"schema":"evalrouter.benchmark_manifest.v1","slug":%q,"version":"1","name":"Likely","family":"lm-eval",
		"data":{"file":"a.jsonl","format":"jsonl","sha256":"%x"},"source":{"url":"https://example.org/a"},"license":{"data":"MIT"},
		"columns":{"id":"id","input":["q"],"target":"right","choices":["options"]},"prompt":{"template":"{{q}}"},
		"grader":{"kind":"lmeval/multiple_choice","options":{"metric":%q}}}`, slug, sha256.Sum256(data.Bytes()), metric)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.catalog.Add(t.Context(), m, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil }); err != nil {
		t.Fatal(err)
	}
	return object{"profile_ids": []string{slug + "@1"}}
}

// evaluate runs cases on an endpoint under each metric, and holds every grade
// against lm-eval's.
func evaluate(t *testing.T, cases []likelyCase, metrics ...string) {
	t.Helper()
	h := newHarness(t)
	s := &completions{cases: cases, asked: map[string]int{}}
	c := h.connect(t, s)
	if d := cmp.Diff([]string{"chat", "temperature", "stop", "logprobs"}, c.Capabilities); d != "" || c.CheckResult.Status != "ok" {
		t.Fatalf("the check found %+v: %s", c.CheckResult, d)
	}
	for _, metric := range metrics {
		clear(s.asked)
		more := object{"selection": h.likely(t, cases, metric), "model": object{"kind": "connection", "connection_id": c.ID}, "coverage": object{"mode": "full"}, "concurrency": 4}
		id := h.finished(more)
		var e api.Export
		h.send("GET", "/v1/runs/"+id+"/export?format=json", nil).want(t, 200).into(t, &e)
		if e.Summary.Status != api.StatusCompleted || len(e.Samples) != len(cases) {
			t.Fatalf("%s: %s with %d tasks", metric, e.Summary.Status, len(e.Samples))
		}
		calls := 0
		for _, one := range cases {
			calls += len(one.Choices)
		}
		for prompt, n := range s.asked {
			if n != 1 {
				t.Errorf("%s: %q was asked %d times", metric, prompt, n)
			}
		}
		// Each call is 3 tokens in at $1 and 1 out at $2 for a million.
		if spend := e.Summary.BillingSnapshot.SpendMicrousd; len(s.asked) != calls || spend != usd.Micro(5*calls) {
			t.Errorf("%s: %d of %d prompts were asked, and cost %s", metric, len(s.asked), calls, spend)
		}
		h.graded(t, e, cases, metric)
		h.lmFiles(t, id, cases, metric)
	}
	found, err := h.store.Audit(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("the audit found %v, %v", found, err)
	}
}

func (h *harness) graded(t *testing.T, e api.Export, cases []likelyCase, metric string) {
	t.Helper()
	byID := map[string]likelyCase{}
	for _, c := range cases {
		byID["case-"+c.Name] = c
	}
	for _, s := range e.Samples {
		c := byID[s.TaskID]
		if got := s.Outcome == "right"; got != c.Right[metric] {
			t.Errorf("%s of case %s: %s (%v), lm-eval says right is %v", metric, c.Name, s.Outcome, s.Answer, c.Right[metric])
		}
		var answer map[string][2]any
		if s.Answer == nil || json.Unmarshal([]byte(*s.Answer), &answer) != nil {
			t.Fatalf("case %s has the answer %v", c.Name, s.Answer)
		}
		for i, want := range c.Results[:len(c.Choices)] {
			if answer[bundle.Letter(i)] != want {
				t.Errorf("case %s says %v of choice %d, want %v", c.Name, answer[bundle.Letter(i)], i, want)
			}
		}
		if s.ChargeMicrousd != usd.Micro(5*len(c.Choices)) {
			t.Errorf("case %s costs %s", c.Name, s.ChargeMicrousd)
		}
	}
}

// lmFiles reads the lm-eval samples file back: the requests are lm-eval's, and
// values within answers are text, as it writes them.
func (h *harness) lmFiles(t *testing.T, id string, cases []likelyCase, metric string) {
	t.Helper()
	body := h.send("GET", "/v1/runs/"+id+"/export?format=lm-eval", nil).want(t, 200).body
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, f := range z.File {
		if !strings.Contains(f.Name, "/samples_") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, 1<<20)
		for ; scan.Scan(); lines++ {
			var s struct {
				DocID     int `json:"doc_id"`
				Arguments map[string]map[string]string
				Resps     [][][]string
				Filtered  [][]string `json:"filtered_resps"`
				Metrics   []string
			}
			if err := json.Unmarshal(scan.Bytes(), &s); err != nil {
				t.Fatal(err)
			}
			c := cases[s.DocID]
			if len(s.Resps) != len(c.Choices) || len(s.Filtered) != len(c.Choices) || len(s.Arguments) != len(c.Choices) || s.Metrics[0] != metric {
				t.Fatalf("document %d is %s", s.DocID, scan.Bytes())
			}
			for i, choice := range c.Choices {
				if d := cmp.Diff(map[string]string{"arg_0": c.question(), "arg_1": " " + choice}, s.Arguments[fmt.Sprintf("gen_args_%d", i)]); d != "" {
					t.Error(d)
				}
				greedy := map[bool]string{true: "True", false: "False"}[c.Results[i][1].(bool)]
				if got := s.Resps[i][0]; len(got) != 2 || got[1] != greedy || got[0] == "" || !cmp.Equal(got, s.Filtered[i]) {
					t.Errorf("document %d: choice %d has %v and %v", s.DocID, i, got, s.Filtered[i])
				}
			}
		}
		if err := scan.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if lines != len(cases) {
		t.Errorf("%d of %d documents are in the samples file", lines, len(cases))
	}
}

// TestLikelihood_Run follows a run of log probabilities from the check of its
// connection to its files.
func TestLikelihood_Run(t *testing.T) {
	t.Parallel()
	evaluate(t, []likelyCase{
		{Name: "1", Choices: []string{"no", "yes, it is"}, Gold: "B", Results: [][2]any{{-2.0, true}, {-4.0, false}}, Right: map[string]bool{"acc_norm": true}},
		{Name: "2", Choices: []string{"red", "blue", "green"}, Gold: "B", Results: [][2]any{{-3.0, false}, {-0.5, true}, {-9.25, false}}, Right: map[string]bool{"acc": true, "acc_norm": true}},
		{Name: "3", Choices: []string{"é", "ß"}, Gold: "B", Results: [][2]any{{-1.0, true}, {-1.0, true}}, Right: map[string]bool{}},
	}, "acc", "acc_norm")
}

// TestLikelihood_Vectors runs lm-eval's own cases: of those with one right
// choice, each is graded as lm-eval does.
func TestLikelihood_Vectors(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "..", "..", "shared", "vectors", "lmeval_process_multiple_choice.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("the shared vectors are not here: %v", err)
	}
	var cases []likelyCase
	for line := range bytes.Lines(raw) {
		var v struct {
			Case  string
			Input struct {
				Choices []string
				Gold    any
				Results [][2]any
			}
			Expected map[string]any
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		c := likelyCase{Name: v.Case, Choices: v.Input.Choices, Results: v.Input.Results[:len(v.Input.Choices)], Right: map[string]bool{}}
		if slices.ContainsFunc(c.Choices, func(s string) bool { return s != strings.TrimSpace(s) }) {
			continue // a benchmark's choices have no white space around them
		}
		if c.Gold = letter(c.Choices, v.Input.Gold); c.Gold == "" {
			continue
		}
		for _, metric := range []string{"acc", "acc_norm", "acc_bytes"} {
			c.Right[metric] = v.Expected[metric] == 1.0
		}
		cases = append(cases, c)
	}
	t.Logf("%d cases", len(cases))
	if len(cases) < 50 {
		t.Fatalf("only %d of the cases can be asked", len(cases))
	}
	third := len(cases) / 3 // what each metric makes of every case is for bundle to show
	evaluate(t, cases[:third], "acc")
	evaluate(t, cases[third:2*third], "acc_norm")
	evaluate(t, cases[2*third:], "acc_bytes")
}

// letter names the one choice that is right, "" when there is none or several.
func letter(choices []string, gold any) string {
	switch g := gold.(type) {
	case float64:
		if g >= 0 && int(g) < len(choices) {
			return bundle.Letter(int(g))
		}
	case string:
		if i := slices.Index(choices, g); i >= 0 {
			return bundle.Letter(i)
		}
	}
	return ""
}

// TestLikelihood_MuteEndpoint: an endpoint that takes the request and says
// nothing of the prompt is not one that a run of log probabilities may use.
func TestLikelihood_MuteEndpoint(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	cases := []likelyCase{{Name: "1", Choices: []string{"a", "b"}, Gold: "A"}}
	c := h.connect(t, &completions{mute: true, asked: map[string]int{}})
	if c.CheckResult.Status != "ok" || !cmp.Equal(c.Capabilities, []string{"chat", "temperature", "stop"}) {
		t.Errorf("the check found %+v, %v", c.CheckResult, c.Capabilities)
	}
	selection := h.likely(t, cases, "acc")
	r := h.send("POST", "/v1/quotes", newQuote(object{"selection": selection, "model": object{"kind": "connection", "connection_id": c.ID}}))
	r.refused(t, 404, "feature_unavailable")
	var page api.Page[api.CompatibleRoute]
	h.send("GET", "/v1/catalog/compatibility?profile_id=likely-acc@1&provider=connection", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.Data[0].Compatible || page.Data[0].Reasons[0].Code != "missing_capability" {
		t.Errorf("compatibility says %+v", page.Data)
	}
}

// TestLikelihood_TurnsMute: an endpoint that gave likelihoods when it was
// checked and gives none later ends the run after one answer, which is paid for
// and is no score.
func TestLikelihood_TurnsMute(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	cases := []likelyCase{
		{Name: "1", Choices: []string{"a", "b"}, Gold: "A", Results: [][2]any{{-1.0, true}, {-2.0, true}}},
		{Name: "2", Choices: []string{"a", "b"}, Gold: "A", Results: [][2]any{{-1.0, true}, {-2.0, true}}},
	}
	s := &completions{cases: cases, asked: map[string]int{}}
	c := h.connect(t, s)
	s.mute = true
	id := h.finished(object{"selection": h.likely(t, cases, "acc"), "model": object{"kind": "connection", "connection_id": c.ID}, "coverage": object{"mode": "full"}})
	r, err := h.store.Run(t.Context(), core.Scope{Workspace: core.Local}, core.RunID(id))
	if err != nil || r.State != core.Failed || r.Tallies[core.ProviderError] != 1 || r.Metered == 0 {
		t.Errorf("%s (%s), %v, metered %s, %v", r.State, r.Reason, r.Tallies, r.Metered, err)
	}
}
