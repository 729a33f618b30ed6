package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"time"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// agentWord is the word by which bench starts itself as an agent to kill.
const agentWord = "tracing-agent"

// spooling captures into a spool.
func spooling(dir, origin string) (*tracing.TraceCapture, error) {
	return capture(nil, origin, func(c *tracing.Config) { c.Delivery.SpoolDir = dir })
}

// spoolAgent ends spans until it is killed, and prints the trace of each one.
func spoolAgent(dir, origin string) error {
	c, err := spooling(dir, origin)
	if err != nil {
		return err
	}
	for {
		_, s := c.StartModel(context.Background(), "openai", "gpt-x")
		s.Input("What is it like?")
		s.End()
		if _, err := fmt.Println(s.TraceID()); err != nil {
			return err
		}
	}
}

// replays kills an agent whose spans nobody takes, and then while they are taken,
// and counts what arrives.
func replays(int) error {
	fmt.Println("an agent with a spool is killed after 20,000 spans; bar: every ended span arrives, at most one batch twice")
	for _, down := range []bool{true, false} {
		if err := replay(down); err != nil {
			return err
		}
	}
	return nil
}

func replay(down bool) error {
	dir, err := os.MkdirTemp("", "bench-spool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := fakeotlp.New()
	if down {
		r.Plan = func(int) fakeotlp.Fault { return fakeotlp.Fault{Status: 503} }
	}
	server := httptest.NewServer(r)
	printed, err := killAgent(dir, server.URL, 20_000)
	server.Close()
	if err != nil {
		return err
	}
	r.Plan = nil
	before := len(r.Spans())
	server = httptest.NewServer(r)
	defer server.Close()
	from := time.Now()
	c, err := spooling(dir, server.URL)
	if err != nil {
		return err
	}
	if err := errors.Join(c.Flush(context.Background()), c.Close(context.Background())); err != nil {
		return err
	}
	took := time.Since(from)
	got := map[string]bool{}
	twice := 0
	for _, s := range r.Spans() {
		got[fmt.Sprintf("%x", s.TraceId)] = true
		twice += s.Times - 1
	}
	missing := 0
	for id := range printed {
		if !got[id] {
			missing++
		}
	}
	fmt.Printf("  service down %-5v: %d ended, %d had arrived, %d replayed in %d ms; %d missing, %d came twice\n", down, len(printed), before, c.Stats().Replayed, took.Milliseconds(), missing, twice)
	return nil
}

// killAgent runs an agent until it printed n traces, and returns all it printed.
func killAgent(dir, origin string, n int) (map[string]bool, error) {
	cmd := exec.Command(os.Args[0], agentWord, dir, origin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start an agent: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start an agent: %w", err)
	}
	printed := map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed[lines.Text()] = true
		if len(printed) == n {
			if err := cmd.Process.Kill(); err != nil {
				return nil, fmt.Errorf("kill an agent: %w", err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(printed) < n {
		return nil, fmt.Errorf("the agent ended by itself after %d spans: %w", len(printed), err)
	}
	return printed, nil
}
