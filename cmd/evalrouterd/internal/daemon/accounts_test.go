package daemon_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// registered puts registrations into a directory, as pages do.
func registered(t *testing.T, dir string, emails ...string) {
	t.Helper()
	furnish(t, dir)
	s, err := store.Open(context.Background(), store.Options{Path: filepath.Join(dir, "evalrouter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for i, email := range emails {
		id := "reg-" + string(rune('a'+i))
		g := core.Registration{ID: id, Browser: []byte(id), Email: email, Name: "N \x1b[31m", Password: "hash", Address: "192.0.2.7", ExpiresAt: s.Now() + 1_000_000_000}
		if err := s.Access().AddRegistration(context.Background(), g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CreateWorkspace(context.Background(), core.WorkspaceInfo{ID: "main", Slug: "main", Name: "Main"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Without mail the operator lets people in: one of several who claim the same
// address by the id of the registration.
func TestAccounts_AUT25_OperatorApproves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	registered(t, dir, "ada@example.org", "bob@example.org", "bob@example.org")
	do := func(args ...string) ran { return run(t, append(args, "--data", dir)...) }
	short, secret := filepath.Join(dir, "short"), filepath.Join(dir, "secret")
	for file, text := range map[string]string{short: "short", secret: "a password that is new\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := do("accounts", "list").ok(t).stdout; strings.Count(out, "waits for approval") != 3 || strings.Contains(out, "\x1b") {
		t.Errorf("list:\n%s", out)
	}
	if out := do("accounts", "approve", "Ada@Example.org", "--workspace", "main", "--role", "owner").ok(t).stdout; out != "ada@example.org can sign in, and is owner of the workspace main.\n" {
		t.Errorf("approve: %s", out)
	}
	if r := do("accounts", "approve", "bob@example.org"); r.status != 2 || !strings.Contains(r.stderr, "reg-b") || !strings.Contains(r.stderr, "reg-c") || !strings.Contains(r.stderr, "(ambiguous_id)") {
		t.Errorf("two of an address: %d %s", r.status, r.stderr)
	}
	do("accounts", "approve", "reg-c").ok(t)
	for _, tt := range []struct {
		code string
		args []string
	}{
		{"not_found", []string{"accounts", "approve", "eve@example.org"}},
		{"not_found", []string{"accounts", "disable", "eve@example.org"}},
		{"not_found", []string{"accounts", "approve", "ada@example.org", "--workspace", "none"}},
		{"invalid_input", []string{"accounts", "approve", "ada@example.org", "--role", "king"}},
		{"invalid_input", []string{"audit-log", "--limit", "0"}},
		{"invalid_input", []string{"accounts", "password", "ada@example.org", "--file", short}},
		{"invalid_input", []string{"accounts", "password", "ada@example.org"}},
		{"not_found", []string{"accounts", "password", "eve@example.org", "--file", secret}},
		{"command_unknown", []string{"accounts", "remove", "ada@example.org"}},
	} {
		if r := do(tt.args...); r.status != 2 || !strings.Contains(r.stderr, "("+tt.code+")") && !strings.Contains(r.stderr, tt.code) {
			t.Errorf("%v: %d %s", tt.args, r.status, r.stderr)
		}
	}
	if out := do("accounts", "password", "ada@example.org", "--file", secret).ok(t).stdout; !strings.Contains(out, "has the new password") || strings.Contains(out, "is new") {
		t.Errorf("password: %s", out)
	}
	do("accounts", "disable", "bob@example.org").ok(t)
	if out := do("accounts", "list").ok(t).stdout; !strings.Contains(out, "disabled") || strings.Contains(out, "waits") {
		t.Errorf("list:\n%s", out)
	}
	if r := do("accounts", "approve", "bob@example.org", "--workspace", "main"); r.status != 2 || !strings.Contains(r.stderr, "accounts enable bob@example.org") {
		t.Errorf("an account that is kept out is approved: %d %s", r.status, r.stderr)
	}
	do("accounts", "enable", "bob@example.org").ok(t)
	out := do("audit-log", "--json").ok(t).stdout
	var actions []string
	for line := range strings.Lines(out) {
		var l struct{ Action, Actor, At string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Actor != "operator" || l.At == "" {
			t.Fatalf("%s: %v", line, err)
		}
		actions = append(actions, l.Action)
	}
	if got := strings.Join(actions, " "); got != "account.active account.disabled account.password account.verified member.added account.verified" {
		t.Errorf("the log says %s", got)
	}
	if out := do("audit-log", "--workspace", "main").ok(t).stdout; strings.Count(out, "\n") != 2 || !strings.Contains(out, "member.added") {
		t.Errorf("the log of a workspace:\n%s", out)
	}
}

func TestServe_SignInFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open, broken := filepath.Join(dir, "open"), filepath.Join(dir, "broken")
	if err := os.WriteFile(open, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte(`{"address":"canary"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"plain HTTP elsewhere", []string{"--web-origin", "http://eval.example.org"}},
		{"a path", []string{"--web-origin", "https://eval.example.org/x"}},
		{"no scheme", []string{"--web-origin", "eval.example.org"}},
		{"capitals", []string{"--web-origin", "https://Eval.example.org"}},
		{"a mail file that others read", []string{"--mail-file", open}},
		{"a mail file that is wrong", []string{"--mail-file", broken}},
		{"no mail file", []string{"--mail-file", filepath.Join(dir, "none")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, append([]string{"serve", "--data", filepath.Join(dir, "data"), "--addr", "127.0.0.1:0"}, tt.args...)...)
			if r.status != 2 || !strings.Contains(r.stderr, "(invalid_input)") || strings.Contains(r.stderr, "canary") {
				t.Errorf("%d %s", r.status, r.stderr)
			}
		})
	}
}

// Keys have ends and ceilings, are listed without their secrets, and have
// successors.
func TestKeys_Commands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	registered(t, dir)
	do := func(args ...string) ran { return run(t, append(args, "--data", dir)...) }
	for _, more := range [][]string{
		{"--days", "-1"}, {"--days", "4000"}, {"--ceiling", "0"}, {"--ceiling", "many"}, {"--ceiling", "5", "--scopes", "keys:admin"}, {"--scopes", "root"}, {"--name", strings.Repeat("x", 81)},
	} {
		args := append([]string{"keys", "create", "--workspace", "main", "--name", "ci", "--scopes", "eval:read"}, more...)
		if r := do(args...); r.status != 2 || !strings.Contains(r.stderr, "(invalid_input)") || r.stdout != "" {
			t.Errorf("%v: %d %s%s", more, r.status, r.stdout, r.stderr)
		}
	}
	key := strings.TrimSpace(do("keys", "create", "--workspace", "main", "--name", "ci \x1b[31m", "--scopes", "eval:write,eval:read", "--days", "30", "--ceiling", "25").ok(t).stdout)
	prefix := key[:12]
	next := strings.TrimSpace(do("keys", "rotate", prefix, "--overlap", "2h").ok(t).stdout)
	if next == key || next[:4] != "erk_" {
		t.Errorf("the successor is %s", next)
	}
	for _, args := range [][]string{{"keys", "rotate", prefix, "--overlap", "25h"}, {"keys", "rotate", "erk_00000000"}, {"keys", "rotate", next}, {"keys", "list", "--workspace", "none"}} {
		if r := do(args...); r.status != 2 || r.stdout != "" || strings.Contains(r.stderr, next) {
			t.Errorf("%v: %d %s%s", args, r.status, r.stdout, r.stderr)
		}
	}
	do("keys", "revoke", next[:12]).ok(t)
	out := do("keys", "list", "--workspace", "main").ok(t).stdout
	if strings.Count(out, "\n") != 3 || strings.Count(out, "$0.00 of $25.00") != 2 || strings.Count(out, "revoked") != 1 || !strings.Contains(out, "eval:read,eval:write") || strings.Contains(out, key) || strings.Contains(out, "\x1b") {
		t.Errorf("list:\n%s", out)
	}
}
