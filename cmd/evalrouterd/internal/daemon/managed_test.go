package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// model is a provider that speaks Messages: it counts, and notes what it was
// asked with.
type model struct {
	*httptest.Server
	asked  atomic.Int64
	key    atomic.Pointer[string]
	budget atomic.Int64
	// answers is how many calls are answered; the others wait for their client
	// to go. 0 answers all.
	answers int64
}

func newModel(t *testing.T) *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		key := r.Header.Get("X-Api-Key")
		m.key.Store(&key)
		var in struct {
			Thinking struct {
				Budget int64 `json:"budget_tokens"`
			}
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.budget.Store(in.Thinking.Budget)
		if m.answers > 0 && m.asked.Load() > m.answers {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"id":"msg","type":"message","model":"claude-x","content":[{"type":"text","text":"ANSWER: 1"}],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":10,"cache_read_input_tokens":100,"output_tokens":20}}`)
	}))
	t.Cleanup(m.Close)
	return m
}

func providers(t *testing.T, dir, base, price string) string {
	t.Helper()
	path := filepath.Join(dir, "routes.yaml")
	text := fmt.Sprintf(`version: 1
providers:
  claude: {protocol: anthropic_messages, base_url: %q, key: {env: TEST_PROVIDER_KEY}}
routes:
  - id: anthropic.claude-x
    provider: claude
    model: claude-x
    context_window: 200000
    max_output_tokens: 8192
    prices: {version: a, effective: 2026-11-01, input: %s, cache_read: 0.3, output: 15}
    reasoning: {mode: budget, min_tokens: 16, max_tokens: 4096, can_disable: true}
`, base, price)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveManaged starts a service with a file of routes and gives it with a key.
func serveManaged(t *testing.T, dir, file string) (*living, []string) {
	t.Helper()
	furnish(t, dir)
	cmd := watched(t, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--providers", file)
	cmd.Env = append(cmd.Env, "TEST_PROVIDER_KEY=sk-managed-0123456789")
	l := begin(t, cmd, dir)
	address := regexp.MustCompile(`serves http://(127\.0\.0\.1:\d+) `)
	until(t, l, "its address", func() bool { return address.MatchString(l.stderr.String()) })
	l.base = "http://" + address.FindStringSubmatch(l.stderr.String())[1]
	if err := os.WriteFile(filepath.Join(dir, "owner.token"), []byte("made up\n"), 0o600); err != nil { // for the harness alone
		t.Fatal(err)
	}
	key := strings.TrimSpace(run(t, "keys", "create", "--workspace", "main", "--name", "ci", "--scopes", "eval:read,eval:write,billing:read", "--data", dir).ok(t).stdout)
	return l, []string{"Authorization", "Bearer " + key}
}

// A managed route is in the catalog with its prices, needs credit, is called
// with the operator's key, and is charged at its own price for each class. The
// quote checks the chosen reasoning against it.
func TestManaged_RUN33(t *testing.T) {
	t.Parallel()
	dir, m := t.TempDir(), newModel(t)
	file := providers(t, dir, m.URL, "3")
	l, as := serveManaged(t, dir, file)
	var route struct {
		PriceVersion string         `json:"price_version"`
		Pricing      map[string]any `json:"pricing"`
		Reasoning    struct {
			Mode   string
			Budget map[string]any
		}
	}
	l.call(t, "GET", "/v1/catalog/models/anthropic.claude-x", nil, &route, as...)
	if route.PriceVersion != "anthropic.claude-x/a" || route.Pricing["cached_input_microusd"] != "300000" || route.Reasoning.Mode != "budget" || route.Reasoning.Budget["max_tokens"] != 4096.0 {
		t.Errorf("the route is %+v", route)
	}
	quote := func(reasoning any) (id string, status int, body map[string]any) {
		status = l.call(t, "POST", "/v1/quotes", map[string]any{
			"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "anthropic.claude-x"},
			"max_charge_microusd": "1000000", "coverage": map[string]any{"mode": "sample", "sample_count": 5}, "reasoning": reasoning,
		}, &body, as...)
		id, _ = body["id"].(string)
		return id, status, body
	}
	if _, status, body := quote(map[string]any{"mode": "effort", "effort": "high"}); status != 422 || !strings.Contains(fmt.Sprint(body), "16 to 4096 thinking tokens") {
		t.Errorf("an effort that is not offered answers %d %v", status, body)
	}
	id, status, body := quote(map[string]any{"mode": "budget", "budget_tokens": 32})
	if status != 200 || body["reasoning"] == nil {
		t.Fatalf("the quote answers %d %v", status, body)
	}
	start := func(quote, key string) (run struct{ ID string }, status int) {
		status = l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": quote}, &run, append([]string{"Idempotency-Key", key}, as...)...)
		return run, status
	}
	if _, status := start(id, "k1"); status != 402 {
		t.Errorf("a run without credit answers %d", status)
	}
	run(t, "credits", "grant", "main", "5", "--note", "x", "--data", dir).ok(t)
	started, status := start(id, "k2")
	if status != 200 && status != 201 && status != 202 {
		t.Fatalf("the run answers %d", status)
	}
	var got struct {
		Status string
		Spend  string `json:"spend_microusd"`
	}
	until(t, l, "the end of the run", func() bool {
		l.call(t, "GET", "/v1/runs/"+started.ID, nil, &got, as...)
		return got.Status == "completed" || got.Status == "failed" || got.Status == "partial"
	})
	// 10 new at $3, 100 cached at $0.30, 20 out at $15 a million: 360 each.
	if got.Status != "completed" || got.Spend != "1800" || m.asked.Load() != 5 || *m.key.Load() != "sk-managed-0123456789" || m.budget.Load() != 32 {
		t.Errorf("the run is %+v after %d calls with budget %d", got, m.asked.Load(), m.budget.Load())
	}
	stale, _, _ := quote(nil)
	l.signal(t, syscall.SIGTERM)
	l.ended(t)
	if out := l.stderr.String(); strings.Contains(out, "sk-managed") {
		t.Error("the key is in the log")
	}
	changed := watched(t, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--providers", providers(t, dir, m.URL, "4"))
	changed.Env = append(changed.Env, "TEST_PROVIDER_KEY=x")
	out, err := changed.CombinedOutput()
	if err == nil || changed.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "prices of a version never change") {
		t.Errorf("other prices under the same version: %v\n%s", err, out)
	}
	l, as = serveManaged(t, dir, providers(t, dir, m.URL+"/elsewhere", "3"))
	if _, status := start(stale, "k3"); status != 409 {
		t.Errorf("a quote of a route that moved answers %d", status)
	}
}

// The key goes to the address that stands beside it. A run that began before
// the operator moved the route ends instead, and the old address learns
// nothing more.
func TestManaged_KeyStaysAtItsAddress(t *testing.T) {
	t.Parallel()
	dir, old, moved := t.TempDir(), newModel(t), newModel(t)
	old.answers = 1
	l, as := serveManaged(t, dir, providers(t, dir, old.URL, "3"))
	run(t, "credits", "grant", "main", "5", "--note", "x", "--data", dir).ok(t)
	var q, r struct{ ID string }
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "anthropic.claude-x"},
		"max_charge_microusd": "1000000", "coverage": map[string]any{"mode": "sample", "sample_count": 5}, "concurrency": 1,
	}, &q, as...)
	l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, append([]string{"Idempotency-Key", "k"}, as...)...)
	until(t, l, "the second call", func() bool { return old.asked.Load() == 2 })
	l.signal(t, syscall.SIGKILL)
	l.ended(t)
	l, as = serveManaged(t, dir, providers(t, dir, moved.URL, "3"))
	var got struct {
		Status string
		Reason string `json:"terminal_reason"`
	}
	until(t, l, "the end of the run", func() bool {
		l.call(t, "GET", "/v1/runs/"+r.ID, nil, &got, as...)
		return got.Reason != ""
	})
	if old.asked.Load() != 2 || moved.asked.Load() != 0 || got.Reason != "provider_unavailable" {
		t.Errorf("%+v; the old address was asked %d times, the new one %d times", got, old.asked.Load(), moved.asked.Load())
	}
}

// What is wrong with the file ends the start with status 2, its line and
// nothing started.
func TestManaged_Refusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
	}{
		{"not there", "", "providers_unreadable"},
		{"a mistake", "version: 1\nroute: []\n", ":2: route: is not known"},
		{"a metadata address", "version: 1\nproviders: {a: {protocol: openai_chat, base_url: \"http://169.254.169.254\"}}\nroutes: []\n", "never reached"},
		{"a key in the clear", "version: 1\nproviders: {a: {protocol: openai_chat, base_url: \"http://api.vendor.example/v1\"}}\nroutes: []\n", "in the clear"},
		{"a key in the clear to a public address", "version: 1\nproviders: {a: {protocol: openai_chat, base_url: \"http://93.184.216.34\"}}\nroutes: []\n", "in the clear"},
		{"no key", "version: 1\nproviders: {a: {protocol: openai_chat, base_url: \"https://h.example\", key: {env: NOT_SET_ANYWHERE}}}\n" +
			"routes: [{id: r, provider: a, model: m, context_window: 9, max_output_tokens: 9, prices: {version: a, effective: 2026-01-01, input: 1, output: 1}}]\n", "providers_key_missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "p.yaml")
			if c.text != "" {
				if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, command := range []string{"serve", "local"} {
				r := run(t, command, "--data", filepath.Join(dir, command), "--providers", file)
				if r.status != 2 || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, "nothing was started") {
					t.Errorf("%s: status %d: %s", command, r.status, r.stderr)
				}
			}
		})
	}
}
