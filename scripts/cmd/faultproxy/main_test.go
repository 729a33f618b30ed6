package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// printed hands over each line that the program prints.
type printed chan string

func (p printed) Write(b []byte) (int, error) {
	p <- string(b)
	return len(b), nil
}

func TestRunDropsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer target.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := make(printed, 8)
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-target", target.URL, "-drop-response", "POST /v1/runs", "-times", "1"}, out, io.Discard)
	}()
	base := strings.TrimSpace(<-out)
	if resp, err := http.Post(base+"/v1/runs", "", nil); err == nil {
		resp.Body.Close()
		t.Errorf("the first answer arrived: %s", resp.Status)
	}
	if line := <-out; line != "drop POST /v1/runs (1)\n" {
		t.Errorf("printed %q", line)
	}
	resp, err := http.Post(base+"/v1/runs", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n := seen.Load(); n != 2 || resp.StatusCode != 200 {
		t.Errorf("the target saw %d requests, the second answer was %s", n, resp.Status)
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no target", nil, "write it as http://127.0.0.1:PORT"},
		{"target with a path", []string{"-target", "http://127.0.0.1:1/v1"}, "write it as"},
		{"target elsewhere", []string{"-target", "http://10.0.0.1:80"}, "only loopback"},
		{"rule without a method", []string{"-target", "http://127.0.0.1:1", "-delay", "/v1"}, "METHOD /path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			if code := run(t.Context(), tt.args, io.Discard, &errs); code != 2 || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("exit %d, stderr %q; want 2 and %q", code, &errs, tt.want)
			}
		})
	}
}
