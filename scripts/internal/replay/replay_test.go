package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/replay"
)

const recorded = `{"q":"How many eggs?","m":{"a":"Nine eggs.\nA: 9"}}
{"q":"How many eggs? And how many ducks?","m":{"a":"A: 3"}}
{"q":"  Wie viele Äpfel sind es heute?\n","m":{"a":"Äpfel: ÄÄÄÄ"}}
`

func recording(t *testing.T, text string) *replay.Recording {
	t.Helper()
	rec, err := replay.ReadRecording(strings.NewReader(text), "q", "m.a")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// serve starts an endpoint and returns its base URL.
func serve(t *testing.T, c replay.Config) (*replay.Server, string) {
	t.Helper()
	if c.Recording == nil {
		c.Recording = recording(t, recorded)
	}
	c.Model = "m1"
	s, err := replay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(s)
	t.Cleanup(func() {
		hs.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, hs.URL
}

func post(t *testing.T, url, body, key string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func chat(content string) string {
	body, err := json.Marshal(map[string]any{"model": "m1", "messages": []any{
		map[string]any{"role": "system", "content": "Answer."}, map[string]any{"role": "user", "content": content},
	}})
	if err != nil {
		panic(err) // a map of strings always encodes
	}
	return string(body)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, body string
		status           int
		want             string
	}{
		{
			"question inside a prompt", "/v1/chat/completions", chat("Question: How many eggs?\nThink step by step."), 200,
			`{"id":"chatcmpl-ID","object":"chat.completion","created":1700000000,"model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":"Nine eggs.\nA: 9"},"finish_reason":"stop"}],"usage":{"prompt_tokens":13,"completion_tokens":4,"total_tokens":17}}`,
		},
		{"the longest question wins", "/v1/chat/completions", chat("How many eggs? And how many ducks?"), 200, `"content":"A: 3"`},
		{"white space around does not count", "/v1/chat/completions", chat("Wie viele Äpfel sind es heute?"), 200, `"content":"Äpfel: ÄÄÄÄ"`},
		{"content in parts", "/v1/chat/completions", `{"model":"m1","messages":[{"role":"user","content":[{"type":"text","text":"How many "},{"type":"text","text":"eggs?"}]}]}`, 200, "Nine eggs."},
		{"only the last user message counts", "/v1/chat/completions", `{"model":"m1","messages":[{"role":"user","content":"How many eggs?"},{"role":"assistant","content":"9"},{"role":"user","content":"Sure?"}]}`, 400, "question_unknown"},
		{"plain completion", "/v1/completions", `{"model":"m1","prompt":"Q: How many eggs? A:"}`, 200, `"choices":[{"index":0,"text":"Nine eggs.\nA: 9","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":9}`},
		{"one prompt in a list", "/v1/completions", `{"model":"m1","prompt":["How many eggs?"]}`, 200, "Nine eggs."},
		{"two prompts", "/v1/completions", `{"model":"m1","prompt":["How many eggs?","x"]}`, 400, "prompt must be one text"},
		{"cut at the limit", "/v1/chat/completions", strings.Replace(chat("How many eggs?"), "{", `{"max_tokens":2,`, 1), 200, `"content":"Nine egg"},"finish_reason":"length"}],"usage":{"prompt_tokens":6,"completion_tokens":2,`},
		{"cut between characters", "/v1/chat/completions", strings.Replace(chat("Wie viele Äpfel sind es heute?"), "{", `{"max_completion_tokens":3,`, 1), 200, `"content":"Äpfel: ÄÄ"},"finish_reason":"length"`},
		{"unknown question", "/v1/chat/completions", chat("How many hens?"), 400, "question_unknown"},
		{"unknown model", "/v1/chat/completions", `{"model":"m2","messages":[{"role":"user","content":"How many eggs?"}]}`, 404, "model_not_found"},
		{"stream", "/v1/chat/completions", strings.Replace(chat("How many eggs?"), "{", `{"stream":true,`, 1), 400, "does not stream"},
		{"no user message", "/v1/chat/completions", `{"model":"m1","messages":[]}`, 400, "no message of role user"},
		{"no JSON", "/v1/chat/completions", `{`, 400, "no JSON request"},
		{"unknown route", "/v1/embeddings", `{}`, 404, "no route POST /v1/embeddings"},
	}
	_, base := serve(t, replay.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, body, err := post(t, base+tt.path, tt.body, "")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tt.want, "chatcmpl-ID", between(body, `"id":"`, `"`), 1)
			if status != tt.status || !strings.Contains(body, want) {
				t.Errorf("%d %s\nwant %d with %s", status, body, tt.status, want)
			}
		})
	}
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

func TestKey(t *testing.T) {
	t.Parallel()
	s, base := serve(t, replay.Config{Key: "k1"})
	for _, tt := range []struct {
		name, key string
		status    int
	}{{"right", "k1", 200}, {"wrong", "k2", 401}, {"none", "", 401}} {
		if status, body, err := post(t, base+"/v1/chat/completions", chat("How many eggs?"), tt.key); err != nil || status != tt.status {
			t.Errorf("%s key: %d %s %v, want %d", tt.name, status, body, err, tt.status)
		}
	}
	if got := s.Counters().Requests; got != 1 {
		t.Errorf("%d requests counted, want only the authorized one", got)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	_, base := serve(t, replay.Config{})
	resp, err := http.Get(base + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if want := `{"object":"list","data":[{"id":"m1","object":"model","owned_by":"replay"}]}` + "\n"; err != nil || string(body) != want {
		t.Errorf("%v %s", err, body)
	}
}

// The counts survive a restart, and a log line that a kill cut short.
func TestCountersSurviveRestart(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	ask := func(questions ...string) replay.Counters {
		s, base := serve(t, replay.Config{LogPath: log})
		for _, q := range questions {
			if status, body, err := post(t, base+"/v1/chat/completions", chat(q), ""); err != nil || (status != 200 && q != "?") {
				t.Fatal(status, body, err)
			}
		}
		return s.Counters()
	}
	ask("How many eggs?", "Wie viele Äpfel sind es heute?", "?")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, append(data, `{"q":"cut`...), 0o600); err != nil {
		t.Fatal(err)
	}
	ask("How many eggs?")
	got := ask("How many eggs?")
	want := replay.Counters{
		Requests: 4, Unique: 2, Duplicates: 2, MaxInflight: 1, Answered: 1,
		ByQuestion: map[string]int{"How many eggs?": 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// An endpoint that cannot keep its books does not answer.
func TestNoAnswerWithoutLog(t *testing.T) {
	t.Parallel()
	c := replay.Config{Recording: recording(t, recorded), Model: "m1", LogPath: filepath.Join(t.TempDir(), "log")}
	s, err := replay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // the file is closed under the running endpoint
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(chat("How many eggs?"))))
	if w.Code != 500 || strings.Contains(w.Body.String(), "Nine") || s.Counters().Requests != 0 {
		t.Errorf("%d %s, %+v", w.Code, w.Body, s.Counters())
	}
}

func TestInflight(t *testing.T) {
	t.Parallel()
	s, base := serve(t, replay.Config{Latency: 300 * time.Millisecond})
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if status, body, err := post(t, base+"/v1/chat/completions", chat("How many eggs?"), ""); err != nil || status != 200 {
				t.Error(status, body, err)
			}
		})
	}
	group.Wait()
	if c := s.Counters(); c.MaxInflight < 2 || c.MaxInflight > 5 || c.Requests != 5 || c.Duplicates != 4 {
		t.Errorf("counters %+v", c)
	}
}

// questions is a recording of n questions, none of which contains another.
func questions(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"q\":\"What is number %04d of the list?\",\"m\":{\"a\":\"A: %d\"}}\n", i, i)
	}
	return b.String()
}

// Faults depend on seed, question and repetition, not on the order of asking.
func TestFaultsAreReproducible(t *testing.T) {
	t.Parallel()
	const n = 300
	fates := func(seed uint64, reverse bool) (map[int]string, replay.Counters) {
		s, base := serve(t, replay.Config{Recording: recording(t, questions(n)), FailRate: 0.2, DropRate: 0.1, Seed: seed})
		got := map[int]string{}
		for i := range n {
			if reverse {
				i = n - 1 - i
			}
			status, _, err := post(t, base+"/v1/chat/completions", chat(fmt.Sprintf("What is number %04d of the list?", i)), "")
			switch {
			case err != nil:
				got[i] = "dropped"
			case status == 503:
				got[i] = "failed"
			default:
				got[i] = fmt.Sprint(status)
			}
		}
		return got, s.Counters()
	}
	first, counters := fates(7, false)
	second, _ := fates(7, true)
	other, _ := fates(8, false)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the order changed the faults:\n%s", diff)
	}
	if cmp.Equal(first, other) {
		t.Error("another seed gave the same faults")
	}
	if counters.Failed < 30 || counters.Failed > 90 || counters.Dropped < 10 || counters.Dropped > 60 {
		t.Errorf("%+v: far from rates 0.2 and 0.1 of %d", counters, n)
	}
	if counters.Answered+counters.Failed+counters.Dropped != n || counters.Requests != n {
		t.Errorf("%+v do not add up to %d", counters, n)
	}
}

func TestNewRefusesRates(t *testing.T) {
	t.Parallel()
	for _, c := range []replay.Config{{FailRate: -0.1}, {FailRate: 0.6, DropRate: 0.6}} {
		c.Recording = recording(t, recorded)
		if _, err := replay.New(c); err == nil {
			t.Errorf("rates %v and %v were accepted", c.FailRate, c.DropRate)
		}
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "\n", "holds no question"},
		{"no JSON", "x\n", "line 1"},
		{"missing field", `{"q":"a"}`, `no field "m.a"`},
		{"field is no text", `{"q":"a","m":{"a":1}}`, "is no text"},
		{"path through text", `{"q":"a","m":"a"}`, `no field "m.a"`},
		{"empty question", `{"q":" ","m":{"a":"x"}}`, "question is empty"},
		{"two answers", "{\"q\":\"a\",\"m\":{\"a\":\"x\"}}\n{\"q\":\"a\",\"m\":{\"a\":\"y\"}}", "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := replay.ReadRecording(strings.NewReader(tt.text), "q", "m.a"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
	same := "{\"q\":\"a\",\"m\":{\"a\":\"x\"}}\n{\"q\":\"a \",\"m\":{\"a\":\"x\"}}"
	if rec := recording(t, same); rec.Len() != 1 {
		t.Errorf("%d questions, want the repeated one once", rec.Len())
	}
}

// Every published question of the real recording finds its own answer, alone and inside a prompt.
func TestPublishedRecording(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "gsm8k", "example_model_solutions.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the folder ../shared beside the repository is not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"} {
		rec, err := replay.ReadRecording(bytes.NewReader(data), "question", model+".solution")
		if err != nil {
			t.Fatal(err)
		}
		if rec.Len() != 1319 {
			t.Errorf("%s: %d questions, want 1319", model, rec.Len())
		}
		s, _ := serve(t, replay.Config{Recording: rec})
		for line := range bytes.Lines(data) {
			var row map[string]json.RawMessage
			var question string
			var solution struct{ Solution string }
			for _, err := range []error{json.Unmarshal(line, &row), json.Unmarshal(row["question"], &question), json.Unmarshal(row[model], &solution)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(chat("Solve this.\n\n"+question+"\n\nEnd with the number."))))
			var got struct {
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Choices) != 1 || got.Choices[0].Message.Content != solution.Solution {
				t.Fatalf("%s: %q got %s", model, question, w.Body)
			}
		}
		if c := s.Counters(); c.Requests != 1319 || c.Duplicates != 0 {
			t.Errorf("%s: %d requests, %d duplicates", model, c.Requests, c.Duplicates)
		}
	}
}
