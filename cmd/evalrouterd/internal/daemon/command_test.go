package daemon_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	dir, none := t.TempDir(), filepath.Join(t.TempDir(), "none")
	furnish(t, dir)
	tests := []struct {
		name   string
		args   []string
		status int
		stdout string // part of it
		stderr string
	}{
		{"nothing", nil, 2, "", "evalrouterd is the EvalRouter service"},
		{"help", []string{"help"}, 0, "catalog add", ""},
		{"version", []string{"version"}, 0, "evalrouterd 0.0.0-test", ""},
		{"version as a flag", []string{"--version"}, 0, "evalrouterd 0.0.0-test", ""},
		{"help of a command", []string{"keys", "create", "--help"}, 0, "--scopes", ""},
		{"unknown command", []string{"serv"}, 2, "", "(command_unknown)"},
		{"half a command", []string{"keys"}, 2, "", "one of: create, list, rotate, revoke, reset, rotate-master (command_unknown)"},
		{"unknown flag", []string{"audit", "--frob=1"}, 2, "", "--frob is not a flag of evalrouterd audit"},
		{"unknown flag before another", []string{"audit", "--frob", "--json"}, 2, "", "--frob is not a flag of evalrouterd audit"},
		{"secret for a flag", []string{"audit", "--sk-Canary_1"}, 2, "", "that is not a flag of evalrouterd audit"},
		{"flag without a value", []string{"audit", "--data"}, 2, "", "--data has no value"},
		{"placeholder of a flag", []string{"audit", "--help"}, 0, "--data DIR             the data directory DIR", ""},
		{"audit of nothing", []string{"audit", "--data", none}, 2, "", "(installation_missing)"},
		{"list of nothing", []string{"catalog", "list", "--data", none}, 2, "", "(installation_missing)"},
		{"key for nothing", []string{"keys", "create", "--data", none, "--workspace", "main", "--name", "n", "--scopes", "eval:read"}, 2, "", "(installation_missing)"},
		{"reset of nothing", []string{"keys", "reset", "--data", none}, 2, "", "(installation_missing)"},
		{"credit for nothing", []string{"credits", "grant", "--data", none, "main", "1"}, 2, "", "(installation_missing)"},
		{"one dash", []string{"audit", "-data", dir}, 2, "", "(invalid_input)"},
		{"operand too many", []string{"audit", "--data", dir, "extra"}, 2, "", "takes nothing but flags"},
		{"operand missing", []string{"credits", "grant", "--data", dir, "main"}, 2, "", "something is missing: evalrouterd credits grant WORKSPACE USD"},
		{"operands too many", []string{"credits", "grant", "--data", dir, "main", "1", "2"}, 2, "", "that is too much: evalrouterd credits grant WORKSPACE USD"},
		{"amount with separators", []string{"credits", "grant", "--data", dir, "main", "1,000"}, 2, "", "without separators"},
		{"no amount", []string{"credits", "grant", "--data", dir, "main", "lots"}, 2, "", "(invalid_input)"},
		{"no such workspace", []string{"credits", "grant", "--data", dir, "nobody", "5"}, 2, "", "(not_found)"},
		{"key without scopes", []string{"keys", "create", "--data", dir, "--workspace", "main", "--name", "n"}, 2, "", "(invalid_input)"},
		{"key with an unknown scope", []string{"keys", "create", "--data", dir, "--workspace", "main", "--name", "n", "--scopes", "all"}, 2, "", "eval:read"},
		{"key for nobody", []string{"keys", "create", "--data", dir, "--workspace", "nobody", "--name", "n", "--scopes", "eval:read"}, 2, "", "(not_found)"},
		{"add nothing", []string{"catalog", "add", "--data", dir}, 2, "", "nothing was added"},
		{"add half", []string{"catalog", "add", "--data", dir, "--manifest", "gsm8k"}, 2, "", "nothing was added"},
		{"add without the file", []string{"catalog", "add", "--data", dir, "--manifest", "gsm8k", "--file", "no-such"}, 2, "", "nothing was added"},
		{"add without the manifest", []string{"catalog", "add", "--data", dir, "--manifest", "no-such", "--file", "no-such"}, 2, "", "nothing was added"},
		{"draw of nothing", []string{"catalog", "add", "--data", dir, "--generate", "arithmetic", "--tasks", "0"}, 2, "", "nothing was added"},
		{"draw of an unknown one", []string{"catalog", "add", "--data", dir, "--generate", "no-such"}, 2, "", "(invalid_request)"},
		{"port out of range", []string{"local", "--data", dir, "--port", "70000"}, 2, "", "(invalid_input)"},
		{"address of nobody", []string{"serve", "--data", dir, "--addr", "203.0.113.1:80"}, 2, "", "(invalid_configuration)"},
		{"backup of nothing", []string{"backup", "--data", none, "b.db"}, 2, "", "(installation_missing)"},
		{"backup into nothing", []string{"backup", "--data", dir}, 2, "", "something is missing: evalrouterd backup FILE"},
		{"backup of PostgreSQL", []string{"backup", "--database", "postgres://127.0.0.1:1/x", "b.db"}, 2, "", "pg_dump"},
		{"backup into no folder", []string{"backup", "--data", dir, filepath.Join(dir, "no-such", "b.db")}, 2, "", "nothing was copied"},
		{"audit of a fresh installation", []string{"audit", "--data", dir}, 0, "No findings.", ""},
		{"audit as JSON", []string{"audit", "--json", "--data", dir}, 0, `{"findings":[],"ok":true}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.args...)
			if r.status != tt.status || !strings.Contains(r.stdout, tt.stdout) || !strings.Contains(r.stderr, tt.stderr) {
				t.Errorf("status %d\nstdout: %s\nstderr: %s", r.status, r.stdout, r.stderr)
			}
			if strings.Contains(r.stderr, "Canary") {
				t.Errorf("the refusal repeats what may be a secret: %s", r.stderr)
			}
			if tt.status != 0 && r.stdout != "" {
				t.Errorf("a refusal prints on stdout: %s", r.stdout)
			}
		})
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("asking made the directory: %v", err)
	}
}

// A database file that is damaged, or not ours, is said to be so, with what to do
// next, and is left as it is.
func TestCommands_UnusableDatabase(t *testing.T) {
	t.Parallel()
	damage := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			furnish(t, dir)
			path := filepath.Join(dir, "evalrouter.db")
			raw, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(raw), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, end := range []string{"-wal", "-shm"} {
				if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	for _, tt := range []struct {
		name   string
		make   func(*testing.T, string)
		status int
		code   string
	}{
		{"no database", damage(func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), len(b)/8) }), 1, "(database_damaged)"},
		{"the schema is gone", damage(func(b []byte) []byte { clear(b[100:4096]); return b }), 1, "(database_damaged)"},
		{"cut off", damage(func(b []byte) []byte { return b[:8192] }), 1, "(database_damaged)"},
		{"pages are gone", damage(func(b []byte) []byte { clear(b[4096:]); return b }), 1, "(database_damaged)"},
		{"another program's", func(t *testing.T, dir string) {
			t.Helper()
			db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "evalrouter.db"))
			if err == nil {
				_, err = db.Exec("CREATE TABLE notes (text)")
			}
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}, 2, "(installation_missing)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.make(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, "evalrouter.db"))
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, "audit", "--data", dir)
			if got.status != tt.status || got.stdout != "" || !strings.Contains(got.stderr, tt.code) {
				t.Errorf("status %d: %s%s", got.status, got.stdout, got.stderr)
			}
			if tt.status == 1 && !strings.Contains(got.stderr, "evalrouterd restore --data "+dir) {
				t.Errorf("no next command: %s", got.stderr)
			}
			if after, err := os.ReadFile(filepath.Join(dir, "evalrouter.db")); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

// A key ends by its prefix, once and for good, and is never named whole.
func TestKeysRevoke(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := startLocal(t, dir)
	key := strings.TrimSpace(run(t, "keys", "create", "--data", dir, "--workspace", "local", "--name", "ci", "--scopes", "eval:read").ok(t).stdout)
	status := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.base+"/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("the new key gives status %d", got)
	}
	prefix := key[:12]
	if got := run(t, "keys", "revoke", key, "--data", dir); got.status != 2 || !strings.Contains(got.stderr, "(secret_in_arguments)") || strings.Contains(got.stderr, key) {
		t.Errorf("a whole key: status %d: %s", got.status, got.stderr)
	}
	if got := run(t, "keys", "revoke", "erk_00000000", "--data", dir); got.status != 2 || !strings.Contains(got.stderr, "(not_found)") {
		t.Errorf("no such key: status %d: %s", got.status, got.stderr)
	}
	if got := run(t, "keys", "revoke", prefix, "--data", dir).ok(t); !strings.Contains(got.stdout, prefix+" (ci) of workspace local has ended") {
		t.Errorf("says %s", got.stdout)
	}
	if got := run(t, "keys", "revoke", prefix, "--data", dir).ok(t); !strings.Contains(got.stdout, "already") {
		t.Errorf("the second time says %s", got.stdout)
	}
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("a key that has ended gives status %d", got)
	}
}

// TestCatalogAddBegins makes an installation where there is none, and says so
// once.
func TestCatalogAddBegins(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	add := []string{"catalog", "add", "--generate", "arithmetic", "--tasks", "10", "--data", dir}
	if r := run(t, add...).ok(t); !strings.Contains(r.stderr, dir) || !strings.Contains(r.stderr, "one is begun") {
		t.Errorf("beginning says %q", r.stderr)
	}
	if r := run(t, add...).ok(t); r.stderr != "" {
		t.Errorf("the second time says %q", r.stderr)
	}
	run(t, "audit", "--data", dir).ok(t)
}

// benchmarkFiles writes a small benchmark and gives its two files.
func benchmarkFiles(t *testing.T, change func(manifest map[string]any)) (manifest, data string) {
	t.Helper()
	dir := t.TempDir()
	rows := `{"question":"2+2?","answer":"4"}` + "\n" + `{"question":"3*3?","answer":"9"}` + "\n"
	sum := sha256.Sum256([]byte(rows))
	m := map[string]any{
		"schema": "evalrouter.benchmark_manifest.v1", "slug": "tiny", "version": "1", "name": "Tiny", "category": "mathematics", "family": "generic",
		"data":   map[string]any{"file": "tiny.jsonl", "format": "jsonl", "sha256": hex.EncodeToString(sum[:])},
		"source": map[string]any{"url": "https://example.com/tiny"}, "license": map[string]any{"data": "CC0-1.0"},
		"columns": map[string]any{"input": []string{"question"}, "target": "answer"}, "prompt": map[string]any{"template": "{{question}}"},
		"grader": map[string]any{"kind": "numeric", "options": map[string]any{"take": "last"}}, "max_output_tokens": 64, "metrics": []string{"accuracy"},
	}
	if change != nil {
		change(m)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	manifest, data = filepath.Join(dir, "tiny.json"), filepath.Join(dir, "tiny.jsonl")
	for path, content := range map[string][]byte{manifest: b, data: []byte(rows)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return manifest, data
}

// TestAddWhileRunning admits benchmarks into the directory of a running
// service, which offers them at once and runs them.
func TestAddWhileRunning(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	manifest, data := benchmarkFiles(t, nil)
	add := []string{"catalog", "add", "--data", l.dir, "--manifest", manifest, "--file", data}
	r := run(t, add...).ok(t)
	for _, want := range []string{"tiny@1 added", "tasks         2", "CC0-1.0", "https://example.com/tiny"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("adding says %q, without %q", r.stdout, want)
		}
	}
	if r := run(t, add...).ok(t); !strings.Contains(r.stdout, "tiny@1 was there already") {
		t.Errorf("adding it again says %s", r.stdout)
	}
	changed, _ := benchmarkFiles(t, func(m map[string]any) { m["max_output_tokens"] = 65 })
	if r := run(t, "catalog", "add", "--data", l.dir, "--manifest", changed, "--file", data); r.status != 2 || !strings.Contains(r.stderr, "versions never change") {
		t.Errorf("another manifest of the same version: status %d: %s", r.status, r.stderr)
	}
	if r := run(t, "catalog", "add", "--generate", "arithmetic", "--seed", "7", "--tasks", "50", "--data", l.dir).ok(t); !strings.Contains(r.stdout, "arithmetic-s7-n50@1") {
		t.Errorf("a draw says %s", r.stdout)
	}
	if r := run(t, "catalog", "list", "--data", l.dir).ok(t); !strings.Contains(r.stdout, "tiny@1") || !strings.Contains(r.stdout, "arithmetic-s7-n50@1") {
		t.Errorf("the list is %s", r.stdout)
	}
	for _, id := range []string{"tiny@1", "arithmetic-s7-n50@1"} {
		if got := l.complete(t, id, "practice.solver-0.8"); got.Status != "completed" {
			t.Errorf("a run of %s is %+v", id, got)
		}
	}
	if a := run(t, "audit", "--data", l.dir); a.status != 0 {
		t.Errorf("the audit: %s%s", a.stdout, a.stderr)
	}
}

// complete runs a benchmark to its end.
func (l *living) complete(t *testing.T, profile, route string, header ...string) (r runView) {
	t.Helper()
	var q, made struct{ ID string }
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{profile}}, "model": map[string]any{"kind": "managed", "route_id": route}, "max_charge_microusd": "1000000",
	}, &q, header...)
	if status := l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &made, append([]string{"Idempotency-Key", "run of " + profile}, header...)...); status != 200 {
		t.Fatalf("the run of %s answers %d", profile, status)
	}
	until(t, l, "the end of the run", func() bool {
		l.call(t, "GET", "/v1/runs/"+made.ID, nil, &r, header...)
		return r.Status == "completed" || r.Status == "partial" || r.Status == "failed"
	})
	return r
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(m map[string]any)
		want   string
	}{
		{"other bytes", func(m map[string]any) { m["data"].(map[string]any)["sha256"] = strings.Repeat("0", 64) }, "data_digest"},
		{"unknown field", func(m map[string]any) { m["frob"] = 1 }, "frob"},
		{"no such column", func(m map[string]any) { m["columns"].(map[string]any)["target"] = "solution" }, "solution"},
		{"unknown grader", func(m map[string]any) { m["grader"] = map[string]any{"kind": "magic"} }, "kind: want one of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			furnish(t, dir)
			manifest, data := benchmarkFiles(t, tt.change)
			r := run(t, "catalog", "add", "--data", dir, "--manifest", manifest, "--file", data)
			if r.status != 2 || !strings.Contains(r.stderr, tt.want) {
				t.Errorf("status %d: %s", r.status, r.stderr)
			}
			if list := run(t, "catalog", "list", "--data", dir); strings.Contains(list.stdout, "tiny") {
				t.Errorf("after the refusal the list is %s", list.stdout)
			}
		})
	}
}

// TestServe_PKG10 starts the service for others: no owner's token, no practice
// credit, keys and credit from the operator's commands.
// slip is a key with another last character.
func slip(key string) string {
	last := "0"
	if strings.HasSuffix(key, last) {
		last = "1"
	}
	return key[:len(key)-1] + last
}

func TestServe_PKG10(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	address := regexp.MustCompile(`serves http://(127\.0\.0\.1:\d+) `)
	until(t, l, "its address", func() bool { return address.MatchString(l.stderr.String()) })
	if strings.Contains(l.stderr.String(), "plain HTTP") { // nobody else reaches it
		t.Errorf("it warns: %s", l.stderr)
	}
	l.base = "http://" + address.FindStringSubmatch(l.stderr.String())[1]
	if _, err := os.Stat(filepath.Join(dir, "owner.token")); !os.IsNotExist(err) {
		t.Errorf("serve made an owner's token: %v", err)
	}
	key := strings.TrimSpace(run(t, "keys", "create", "--workspace", "main", "--name", "ci", "--scopes", "eval:read,eval:write,billing:read", "--data", dir).ok(t).stdout)
	if !regexp.MustCompile(`^erk_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$`).MatchString(key) {
		t.Errorf("the key is %q", key)
	}
	as := []string{"Authorization", "Bearer " + key}
	if err := os.WriteFile(filepath.Join(dir, "owner.token"), []byte("made up\n"), 0o600); err != nil { // for the harness alone; serve reads none
		t.Fatal(err)
	}
	if status := l.call(t, "GET", "/v1/runs", nil, nil); status != 401 {
		t.Errorf("a made-up token answers %d", status)
	}
	signedOut, err := http.Post(l.base+"/v1/runs", "application/json", strings.NewReader(`{"quote_id":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	signedOut.Body.Close()
	if signedOut.StatusCode != 401 {
		t.Errorf("starting a run signed out answers %d", signedOut.StatusCode)
	}
	if status := l.call(t, "GET", "/v1/runs", nil, nil, "Authorization", "Bearer "+slip(key)); status != 401 {
		t.Errorf("a mistyped key answers %d", status)
	}
	var c map[string]any
	if l.call(t, "GET", "/v1/credits", nil, &c, as...); c["balance_microusd"] != "0" || c["practice"] != nil {
		t.Errorf("the credits are %v", c)
	}
	var q struct{ ID string }
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"}, "max_charge_microusd": "1000000",
	}, &q, as...)
	if status := l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, nil, append([]string{"Idempotency-Key", "k"}, as...)...); status != 402 {
		t.Errorf("a run without credit answers %d", status)
	}
	if r := run(t, "credits", "grant", "main", "1025.50", "--note", "first", "--data", dir).ok(t); !strings.Contains(r.stdout, "$1,025.50 granted to main; available $1,025.50") {
		t.Errorf("the grant says %s", r.stdout)
	}
	if got := l.complete(t, "arithmetic@1", "practice.solver-0.8", as...); got.Status != "completed" {
		t.Errorf("the run is %+v", got)
	}
	var ledger struct {
		Data []struct {
			Kind, Note string
			Amount     string `json:"amount_microusd"`
			Balance    string `json:"balance_after_microusd"`
		}
	}
	l.call(t, "GET", "/v1/credits/ledger?limit=200", nil, &ledger, as...)
	if first := ledger.Data[len(ledger.Data)-1]; first.Kind != "grant" || first.Note != "first" || first.Amount != "1025500000" || first.Balance != "1025500000" {
		t.Errorf("the ledger begins with %+v", first)
	}
	l.signal(t, syscall.SIGTERM)
	if status := l.ended(t); status != 0 {
		t.Errorf("the status is %d: %s", status, l.stderr)
	}
}

// TestShippedBenchmarks adds the real data that the shipped manifests name,
// where it is at hand.
func TestShippedBenchmarks(t *testing.T) {
	t.Parallel()
	data := filepath.Join("..", "..", "..", "..", "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the shared data is not here: %v", err)
	}
	dir := t.TempDir()
	r := run(t, "catalog", "add", "--data", dir, "--manifest", "gsm8k", "--file", filepath.Join(data, "gsm8k", "test.jsonl")).ok(t)
	if !strings.Contains(r.stdout, "gsm8k@1 added") || !strings.Contains(r.stdout, "1319") || !strings.Contains(r.stdout, "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14") {
		t.Errorf("adding says %s", r.stdout)
	}
}

// TestSlowClient sends half a request: the server gives up on it, and on
// others not at all.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: "); err != nil {
		t.Fatal(err)
	}
	if res, err := http.Get(l.base + "/healthz"); err != nil || res.StatusCode != 200 {
		t.Errorf("beside a slow client: %v", err)
	} else {
		res.Body.Close()
	}
	buf := make([]byte, 1024)
	n, _ := conn.Read(buf) // returns once the server has closed its side
	if n > 0 && !strings.Contains(string(buf[:n]), "408") && !strings.Contains(string(buf[:n]), "400") {
		t.Errorf("half a request is answered with %q", buf[:n])
	}
}
