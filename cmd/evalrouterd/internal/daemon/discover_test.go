package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
)

// A local service finds a model server on its machine, and what it gives is
// enough to make a connection.
func TestDiscover(t *testing.T) {
	t.Parallel()
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := map[string]string{
			"/": "Ollama is running", "/api/version": `{"version":"0.34.0"}`, "/api/tags": `{"models":[{"name":"m:1b"}]}`, "/v1/models": `{"data":[{"id":"m:1b"}]}`,
			"/v1/chat/completions": `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`,
		}[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(ollama.Close)
	at, err := url.Parse(ollama.URL)
	if err != nil {
		t.Fatal(err)
	}
	l := startLocal(t, t.TempDir(), "--model-port", at.Port())
	var found struct {
		Servers []struct {
			Server   string
			BaseURL  string `json:"base_url"`
			Protocol string
			Models   []struct{ ID string }
		}
		Probed []string
	}
	if status := l.call(t, "POST", "/v1/connections/discover", nil, &found); status != 200 || len(found.Servers) != 1 || len(found.Probed) != 1 {
		t.Fatalf("status %d: %+v", status, found)
	}
	s := found.Servers[0]
	if s.Server != "ollama" || s.BaseURL != ollama.URL+"/v1" || len(s.Models) != 1 || s.Models[0].ID != "m:1b" {
		t.Errorf("found %+v", s)
	}
	var made struct{ ID string }
	l.call(t, "POST", "/v1/connections", map[string]any{"name": "found", "base_url": s.BaseURL, "model_id": s.Models[0].ID, "protocol": s.Protocol, "api_key": ""}, &made)
	var checked struct {
		Result struct{ Status string } `json:"check_result"`
	}
	if status := l.call(t, "POST", "/v1/connections/"+made.ID+"/check", nil, &checked); status != 200 || checked.Result.Status != "ok" {
		t.Errorf("the check answers %d %+v", status, checked)
	}
}

// Only the owner of a machine looks around on it.
func TestDiscover_NotWhenServing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, as := serveManaged(t, dir, providers(t, dir, "http://127.0.0.1:9", "1"))
	var body map[string]any
	status := l.call(t, "POST", "/v1/connections/discover", nil, &body, as...)
	if status != 403 { // the key of the harness may not read connections
		t.Errorf("without the right: %d %v", status, body)
	}
	key := regexp.MustCompile(`erk_\S+`).FindString(run(t, "keys", "create", "--workspace", "main", "--name", "c", "--scopes", "connections:read", "--data", dir).ok(t).stdout)
	status = l.call(t, "POST", "/v1/connections/discover", nil, &body, "Authorization", "Bearer "+key)
	if e, ok := body["error"].(map[string]any); status != 404 || !ok || e["code"] != "feature_unavailable" {
		t.Errorf("with it: %d %v", status, body)
	}
}
