package daemon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// led is a model server that speaks chat completions. It answers a task as say
// does, each time that it is let to, or at once after open.
type led struct {
	*httptest.Server
	let chan struct{}
	say func(task string) (status int, body string)
}

var askedTask = regexp.MustCompile(`Task ([A-Za-z0-9_-]+):`)

func newLed(t *testing.T, say func(task string) (int, string)) *led {
	t.Helper()
	m := &led{let: make(chan struct{}), say: say}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		select {
		case <-m.let:
		case <-r.Context().Done():
			return
		}
		task := askedTask.FindSubmatch(raw)
		if task == nil {
			http.Error(w, "which task?", http.StatusBadRequest)
			return
		}
		status, body := m.say(string(task[1]))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(m.Close)
	return m
}

// chat is an answer of chat completions.
func chat(text, finish string) (int, string) {
	raw, err := json.Marshal(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
	})
	if err != nil {
		return http.StatusInternalServerError, ""
	}
	return http.StatusOK, string(raw)
}

// ledRoute is a route to a model, with its name.
type ledRoute struct {
	*led
	name string
}

// ledRoutes is a file of routes led.0, led.1 and so on.
func ledRoutes(t *testing.T, dir string, list ...ledRoute) string {
	t.Helper()
	providers, routes := "", ""
	for i, r := range list {
		quoted, err := json.Marshal(r.name)
		if err != nil {
			t.Fatal(err)
		}
		providers += fmt.Sprintf("  p%d: {protocol: openai_chat, base_url: %q, key: {env: TEST_PROVIDER_KEY}}\n", i, r.URL+"/v1")
		routes += fmt.Sprintf("  - {id: led.%d, provider: p%d, model: m, name: %s, context_window: 20000, max_output_tokens: 500, prices: {version: a, effective: 2026-11-01, input: 100, output: 400}}\n", i, i, quoted)
	}
	text := "version: 1\nproviders:\n" + providers + "routes:\n" + routes
	path := filepath.Join(dir, "routes.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// admits adds a benchmark whose tasks have these ids. All of them are answered
// by 7.
func admits(t *testing.T, dir string, ids []string) {
	t.Helper()
	admitsAs(t, dir, "sevens", fields{"kind": "inspect/pattern", "options": fields{"pattern": `(\d+)`}}, ids)
}

// admitsAs is admits under another name and with another grader.
func admitsAs(t *testing.T, dir, slug string, grader fields, ids []string) {
	t.Helper()
	var rows strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&rows, "{\"id\":%q,\"q\":\"Task %s: how much is 3 + 4?\",\"a\":\"7\"}\n", id, id)
	}
	sum := sha256.Sum256([]byte(rows.String()))
	manifest, err := json.Marshal(fields{
		"schema": "evalrouter.benchmark_manifest.v1", "slug": slug, "version": "1", "name": slug, "family": "inspect",
		"data": fields{"file": "sevens.jsonl", "format": "jsonl", "sha256": hex.EncodeToString(sum[:])}, "source": fields{"url": "https://example.org/sevens"}, "license": fields{"data": "CC0-1.0"},
		"columns": fields{"input": []string{"q"}, "target": "a", "id": "id"}, "prompt": fields{"template": "{{q}}"},
		"grader": grader, "max_output_tokens": 200, "metrics": []string{"accuracy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	data, doc := filepath.Join(tmp, "sevens.jsonl"), filepath.Join(tmp, "manifest.json")
	for path, b := range map[string][]byte{data: []byte(rows.String()), doc: manifest} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "catalog", "add", "--data", dir, "--manifest", doc, "--file", data).ok(t)
}

// serveLed serves many with these routes, at an address or at a free one.
func serveLed(t *testing.T, dir, addr, routes string) *living {
	t.Helper()
	cmd := program(t, "serve", "--data", dir, "--addr", addr, "--providers", routes)
	cmd.Env = append(cmd.Env, "TEST_PROVIDER_KEY=sk-of-the-test")
	l := begin(t, cmd, dir)
	l.awaitBase(t)
	return l
}

// member registers a person, gives their workspace credit, and gives a key of it.
func (l *living) member(t *testing.T, s *surfer, mail string) (workspace, token string) {
	t.Helper()
	l.enters(t, s, mail)
	m := regexp.MustCompile(`workspace=([0-9a-f-]+)"`).FindStringSubmatch(s.sees("/traces"))
	if m == nil {
		t.Fatal("no page leads to the workspace")
	}
	run(t, "credits", "grant", m[1], "100", "--note", "n", "--data", l.dir).ok(t)
	return m[1], strings.TrimSpace(run(t, "keys", "create", "--workspace", m[1], "--name", "n", "--scopes", "eval:read,eval:write,benchmarks:submit", "--data", l.dir).ok(t).stdout)
}

// quotes quotes a run of the whole of sevens, with so many calls at once.
func (l *living) quotes(t *testing.T, token, route, limit string, at int) (q api.QuoteRecord) {
	t.Helper()
	return l.quotesOf(t, token, "sevens@1", route, limit, at)
}

// quotesOf is quotes of another benchmark.
func (l *living) quotesOf(t *testing.T, token, profile, route, limit string, at int) (q api.QuoteRecord) {
	t.Helper()
	if s := l.asks(t, token, "POST", "/v1/quotes", fields{
		"selection": fields{"profile_ids": []string{profile}}, "coverage": fields{"mode": "full"}, "model": fields{"kind": "managed", "route_id": route}, "concurrency": at, "max_charge_microusd": limit,
	}, &q); s != 200 {
		t.Fatalf("the quote is answered %d", s)
	}
	return q
}

// starts begins a run, one task after the other.
func (l *living) starts(t *testing.T, token, route, name string) string {
	t.Helper()
	return l.accepts(t, token, fields{"quote_id": l.quotes(t, token, route, "50000000", 1).ID, "name": name})
}

// accepts begins the run of a quote.
func (l *living) accepts(t *testing.T, token string, body fields) string {
	t.Helper()
	s, b, _ := l.exchange(t, "POST", "/v1/runs", body, append(bearer(token), "Idempotency-Key", body["quote_id"].(string))...)
	var r api.RunRecord
	if err := json.Unmarshal(b, &r); err != nil || s != 200 {
		t.Fatalf("the run is answered %d: %s", s, b)
	}
	return r.ID
}
