package daemon_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestProof asks the service that service.json names whether it knows the
// owner's token, before the token is sent.
func TestProof(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	const nonce = "00112233445566778899aabbccddeeff"
	req, err := http.NewRequest(http.MethodGet, l.base+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Local-Nonce", nonce)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		OK    bool
		Proof string
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(l.token(t)))
	mac.Write([]byte(nonce + "\n" + req.URL.Host))
	if !got.OK || got.Proof != hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("the proof is %+v", got)
	}
}

// TestOwnerToken starts with a token that was not generated: it opens nothing,
// and a new one stands in its place.
func TestOwnerToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "owner.token"), []byte("bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := startLocal(t, dir)
	if token := l.token(t); !regexp.MustCompile(`^local_[0-9a-f]{64}$`).MatchString(token) {
		t.Errorf("the token is %q", token)
	}
	if status := l.call(t, "GET", "/v1/runs", nil, nil, "Authorization", "Bearer bad"); status != 401 {
		t.Errorf("the old token answers %d", status)
	}
	if status := l.call(t, "GET", "/v1/runs", nil, nil); status != 200 {
		t.Errorf("the new token answers %d", status)
	}
}

// TestMasterKeyLost takes the master key away from an installation with a
// stored key: nothing starts and nothing is made until its owner says so.
func TestMasterKeyLost(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	key := filepath.Join(l.dir, "master.key")
	var c struct{ ID string }
	l.call(t, "POST", "/v1/connections", map[string]any{"name": "n", "base_url": "http://127.0.0.1:9/v1", "model_id": "m", "api_key": "sk-lost-key-0001"}, &c)
	if r := run(t, "keys", "reset", "--data", l.dir); r.status != 2 || !strings.Contains(r.stderr, "(data_dir_in_use)") {
		t.Errorf("reset beside a running service: status %d: %s", r.status, r.stderr)
	}
	l.signal(t, syscall.SIGTERM)
	l.ended(t)
	if r := run(t, "keys", "reset", "--data", l.dir); r.status != 2 || !strings.Contains(r.stderr, "nothing was reset") {
		t.Errorf("reset with the key in place: status %d: %s", r.status, r.stderr)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"local", "--port", "0"}, {"serve", "--addr", "127.0.0.1:0"}, {"keys", "create", "--workspace", "local", "--name", "n", "--scopes", "eval:read"},
	} {
		r := run(t, append(args, "--data", l.dir)...)
		if r.status != 2 || !strings.Contains(r.stderr, "(master_key_missing)") || !strings.Contains(r.stderr, "keys reset --data "+l.dir) {
			t.Errorf("%v: status %d: %s", args, r.status, r.stderr)
		}
	}
	run(t, "audit", "--data", l.dir).ok(t) // needs no secrets
	if _, err := os.Stat(key); !os.IsNotExist(err) {
		t.Fatalf("a master key was made: %v", err)
	}
	run(t, "keys", "reset", "--data", l.dir).ok(t)
	again := startLocal(t, l.dir)
	var q, no struct {
		ID    string
		Error struct{ Code, Message string }
	}
	again.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "connection", "connection_id": c.ID},
		"coverage": map[string]any{"sample_count": 1}, "max_charge_microusd": "1000000",
	}, &q)
	if status := again.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &no, "Idempotency-Key", "lost"); status != 409 || no.Error.Code != "key_unopenable" {
		t.Errorf("a run on it answers %d: %+v", status, no.Error)
	}
	var checked struct {
		Check struct {
			Status string `json:"status"`
			Code   string `json:"error_code"`
			Sent   bool   `json:"sent_request"`
		} `json:"check_result"`
	}
	if again.call(t, "POST", "/v1/connections/"+c.ID+"/check", nil, &checked); checked.Check.Status != "failed" || checked.Check.Code != "key_unopenable" || checked.Check.Sent {
		t.Errorf("the check found %+v", checked)
	}
}

// TestWorkspaceNames tells who mistypes a workspace which ones there are.
func TestWorkspaceNames(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	for _, args := range [][]string{{"credits", "grant", "lcoal", "1"}, {"keys", "create", "--workspace", "lcoal", "--name", "n", "--scopes", "eval:read"}} {
		if r := run(t, append(args, "--data", l.dir)...); r.status != 2 || !strings.Contains(r.stderr, "There is: local (not_found)") {
			t.Errorf("%v: status %d: %s", args, r.status, r.stderr)
		}
	}
}

// TestOwnAddress refuses to make the service its own model.
func TestOwnAddress(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "127.0.0.9"} {
		var no struct {
			Error struct{ Code, Message string }
		}
		status := l.call(t, "POST", "/v1/connections", map[string]any{"name": host, "base_url": "http://" + host + ":" + port + "/v1", "model_id": "m"}, &no)
		if status != 422 || no.Error.Code != "endpoint_refused" || !strings.Contains(no.Error.Message, "own address") {
			t.Errorf("%s answers %d: %+v", host, status, no.Error)
		}
	}
}

// TestDiskFull lets files grow to a limit, as on a full disk: the service
// answers storage_full with its directory, stays alive for reading, and the
// record holds together.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	cmd := watched(t, "local", "--data", dir, "--port", "0")
	cmd.Env = append(cmd.Env, fmt.Sprintf("EVALROUTERD_TEST_FILE_LIMIT=%d", 512<<10))
	l := adopt(t, cmd, dir)
	var no struct {
		ID    string
		Error struct{ Code, Message string }
	}
	status := 0
	for range 2000 {
		no.Error.Code = ""
		status = l.call(t, "POST", "/v1/quotes", map[string]any{
			"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"}, "max_charge_microusd": "1000000",
		}, &no)
		if status != 200 {
			break
		}
	}
	if status != 507 || no.Error.Code != "storage_full" || !strings.Contains(no.Error.Message, dir) {
		t.Errorf("a full disk answers %d: %+v", status, no.Error)
	}
	for range 3 {
		l.call(t, "POST", "/v1/connections", map[string]any{"name": "n", "base_url": "https://example.com/v1", "model_id": "m", "api_key": strings.Repeat("k", 4000)}, nil)
	}
	if n := strings.Count(l.stderr.String(), "storage is full"); n != 1 {
		t.Errorf("the log tells it %d times: %s", n, l.stderr)
	}
	res, err := http.Get(l.base + "/v1/catalog/models")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
		t.Errorf("reading answers %d (%v)", res.StatusCode, err)
	}
	res.Body.Close()
	l.signal(t, syscall.SIGTERM)
	l.ended(t)
	if r := run(t, "audit", "--data", dir); r.status != 0 {
		t.Errorf("the audit: %s%s", r.stdout, r.stderr)
	}
}

// What was revoked after a backup is good in it: an operator says what becomes
// of keys before anything goes on.
func TestRecover_Keys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		says string
		live bool
	}{
		{"kept", []string{"--keep-keys"}, "acknowledged", true},
		{"ended", []string{"--end-keys"}, "API keys that were revoked: 1.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := startLocal(t, dir) // makes the workspace
			l.signal(t, syscall.SIGTERM)
			l.ended(t)
			run(t, "keys", "create", "--data", dir, "--workspace", "local", "--name", "n", "--scopes", "eval:read").ok(t)
			run(t, "restore", "--data", dir).ok(t)
			if r := run(t, "recover", "--data", dir).ok(t); !strings.Contains(r.stdout, "API keys that are good in this copy: 1") || !strings.Contains(r.stdout, "Sign-ins of browsers and terminals that were ended: 0.") {
				t.Errorf("recover says %s", r.stdout)
			}
			for _, args := range [][]string{{"--ack"}, {"--ack", "--keep-keys", "--end-keys"}} {
				if r := run(t, append([]string{"recover", "--data", dir}, args...)...); r.status != 2 || !strings.Contains(r.stderr, "nothing was acknowledged") {
					t.Errorf("%v: %d: %s", args, r.status, r.stderr)
				}
			}
			if r := run(t, append([]string{"recover", "--data", dir, "--ack"}, tt.args...)...).ok(t); !strings.Contains(r.stdout, tt.says) {
				t.Errorf("it says %s", r.stdout)
			}
			if r := run(t, "keys", "list", "--data", dir, "--workspace", "local").ok(t); strings.Contains(r.stdout, "revoked") == tt.live {
				t.Errorf("the keys are\n%s", r.stdout)
			}
		})
	}
}
