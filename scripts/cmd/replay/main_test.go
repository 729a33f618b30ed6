package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// announced hands over what the program prints first.
type announced chan string

func (a announced) Write(p []byte) (int, error) {
	a <- string(p)
	return len(p), nil
}

func data(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.jsonl")
	if err := os.WriteFile(path, []byte(`{"question":"How many eggs?","big":{"solution":"A: 9"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(string) (string, bool) { return "secret-key", true }

func noEnv(string) (string, bool) { return "", false }

func TestRunServesUntilStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := make(announced, 1)
	var errs bytes.Buffer
	ended := make(chan int, 1)
	args := []string{"-data", data(t), "-answer", "big.solution", "-model", "m", "-key-env", "KEY", "-log", filepath.Join(t.TempDir(), "log")}
	go func() { ended <- run(ctx, args, env, out, &errs) }()
	base := strings.TrimSpace(<-out)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"How many eggs?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret-key")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "A: 9") {
		t.Errorf("%d %s %v", resp.StatusCode, body, err)
	}
	cancel()
	if code := <-ended; code != 0 || errs.Len() > 0 {
		t.Errorf("exit %d, stderr %q", code, &errs)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	path := data(t)
	for _, tt := range []struct {
		name   string
		args   []string
		lookup func(string) (string, bool)
		code   int
		want   string
	}{
		{"unknown flag", []string{"-nope"}, env, 2, "not defined"},
		{"no data", nil, env, 1, "open recording"},
		{"wrong path", []string{"-data", path, "-answer", "small.solution"}, env, 1, `no field "small.solution"`},
		{"key not set", []string{"-data", path, "-answer", "big.solution", "-key-env", "KEY"}, noEnv, 1, "variable KEY is not set"},
		{"open to the network", []string{"-data", path, "-answer", "big.solution", "-addr", "0.0.0.0:0"}, env, 1, "only loopback"},
		{"impossible rate", []string{"-data", path, "-answer", "big.solution", "-fail-rate", "2"}, env, 1, "rates"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			if code := run(t.Context(), tt.args, tt.lookup, io.Discard, &errs); code != tt.code || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("exit %d, stderr %q; want %d and %q", code, &errs, tt.code, tt.want)
			}
		})
	}
}
