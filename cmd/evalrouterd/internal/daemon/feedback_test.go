package daemon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// What is said through the API reaches the operator, cleaned for the terminal
// and whole as JSON, and what becomes of it reaches the sender.
func TestFeedbackReachesTheOperator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	address := regexp.MustCompile(`serves (http://127\.0\.0\.1:\d+) `)
	until(t, l, "its address", func() bool { return address.MatchString(l.stderr.String()) })
	l.base = address.FindStringSubmatch(l.stderr.String())[1]
	as := []string{"Authorization", "Bearer " + strings.TrimSpace(run(t, "keys", "create", "--workspace", "main", "--name", "ci", "--scopes", "feedback:write", "--data", dir).ok(t).stdout)}
	if err := os.WriteFile(filepath.Join(dir, "owner.token"), []byte("made up\n"), 0o600); err != nil { // for the harness alone; serve reads none
		t.Fatal(err)
	}
	var receipt struct {
		ID     string `json:"feedback_id"`
		Status string
	}
	if status := l.call(t, "POST", "/v1/feedback", map[string]any{"kind": "bug", "severity": "blocker", "summary": "It \x1b[31mhangs", "client": map[string]any{"name": "evalrouter", "version": "1"}}, &receipt, as...); status != 200 {
		t.Fatalf("it answers %d", status)
	}
	shown := run(t, "feedback", "list", "--data", dir).ok(t).stdout
	if !strings.Contains(shown, receipt.ID) || !strings.Contains(shown, "blocker") || strings.Contains(shown, "\x1b") {
		t.Errorf("the operator sees %q", shown)
	}
	if doc := run(t, "feedback", "list", "--json", "--data", dir).ok(t).stdout; !strings.Contains(doc, `"client":{"name":"evalrouter","version":"1"}`) {
		t.Errorf("as JSON: %s", doc)
	}
	if r := run(t, "feedback", "mark", receipt.ID, "praised", "--data", dir); r.status != 2 {
		t.Errorf("an unknown status ends with %d", r.status)
	}
	run(t, "feedback", "mark", receipt.ID, "resolved", "--data", dir).ok(t)
	if l.call(t, "GET", "/v1/feedback/"+receipt.ID, nil, &receipt, as...); receipt.Status != "resolved" {
		t.Errorf("the sender sees %+v", receipt)
	}
	l.signal(t, syscall.SIGTERM)
	if status := l.ended(t); status != 0 {
		t.Errorf("the status is %d: %s", status, l.stderr)
	}
}
