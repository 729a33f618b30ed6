package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// patience bounds one side of a pair.
const patience = 20 * time.Minute

// runLoader measures the bare Go client that commits an intent before each
// call and the result after it.
func (b *bench) runLoader(i int) error {
	if b.alone {
		return nil
	}
	if err := b.mock.reset(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.loader, "-url", b.mock.base+"/v1/chat/completions", "-data", b.tasks, "-c", strconv.Itoa(b.inFlight),
		"-journal", "sqlite2", "-out", filepath.Join(b.dir, fmt.Sprintf("loader-%d.db", i)))
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run goloader: %w\n%s", err, out)
	}
	f := figures{wall: time.Since(began), cpu: cpuOf(cmd.ProcessState), rss: peak(cmd.ProcessState), state: strings.TrimSpace(string(out))}
	if f.counters, err = b.mock.counters(); err != nil {
		return err
	}
	b.peer = append(b.peer, f)
	return nil
}

// runProduct measures evalrouter and its service in an empty home: from the
// start of the run command to its end, with the quote, the watch and the score.
func (b *bench) runProduct(i int) error {
	h := &home{dir: filepath.Join(b.dir, fmt.Sprintf("home-%d", i))}
	model, err := b.furnish(h)
	if err != nil {
		return err
	}
	defer h.run("evalrouter", "local", "stop")
	pid, err := h.pid()
	if err != nil {
		return err
	}
	before, size := cpuNow(pid), h.databaseSize()
	if err := b.mock.reset(); err != nil {
		return err
	}
	began := time.Now()
	cmd, out, err := h.run("evalrouter", "run", "sums", "--model", model, "--full", "--max-cost", "900", "--concurrency", b.concurrency(), "--yes", "--json")
	f := figures{wall: time.Since(began)}
	var run struct {
		Status         string         `json:"status"`
		Outcomes       map[string]int `json:"outcomes"`
		CreatedAt      time.Time      `json:"created_at"`
		SpendMicrousd  string         `json:"spend_microusd"`
		TerminalReason string         `json:"terminal_reason"`
	}
	if json.Unmarshal([]byte(out), &run) != nil || run.Status == "" {
		return fmt.Errorf("run: %w\n%s", err, out)
	}
	f.state = fmt.Sprintf("%s (%s) %v, spent %s microusd", run.Status, run.TerminalReason, run.Outcomes, run.SpendMicrousd)
	if f.counters, err = b.mock.counters(); err != nil {
		return err
	}
	f.first = time.Unix(0, f.counters.FirstNS).Sub(run.CreatedAt)
	f.cpu = cpuOf(cmd.ProcessState) + cpuNow(pid) - before
	f.rss = peak(cmd.ProcessState) + peakNow(pid)
	if _, out, err = h.run("evalrouter", "local", "stop"); err != nil {
		return fmt.Errorf("stop the service: %w\n%s", err, out)
	}
	f.disk, f.commits = h.databaseSize()-size, h.commits()
	if _, out, err := h.run("evalrouterd", "audit", "--data", h.data()); err != nil {
		return fmt.Errorf("audit: %w\n%s", err, out)
	}
	b.product = append(b.product, f)
	return nil
}

// concurrency is the flag for so many calls in flight: above a hundred it is
// the service's own ceiling, 256 by default.
func (b *bench) concurrency() string {
	if b.inFlight > 100 {
		return "max"
	}
	return strconv.Itoa(b.inFlight)
}

// furnish gives a home the benchmark, a running service and a connection to
// the mock; it returns the model to run.
func (b *bench) furnish(h *home) (model string, err error) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(b.tasks)
	if err != nil {
		return "", err
	}
	manifest := filepath.Join(b.dir, "sums.json")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, sumsManifest, sha256.Sum256(raw), len(raw)), 0o600); err != nil {
		return "", err
	}
	if _, out, err := h.run("evalrouterd", "catalog", "add", "--data", h.data(), "--manifest", manifest, "--file", b.tasks); err != nil {
		return "", fmt.Errorf("add the benchmark: %w\n%s", err, out)
	}
	_, out, err := h.run("evalrouter", "connections", "create", "--name", "mock", "--endpoint", b.mock.base+"/v1", "--model", "mock-1",
		"--price-in", "0.50", "--price-out", "1.50", "--no-key", "--json")
	var made struct{ ID string }
	if err != nil || json.Unmarshal([]byte(out), &made) != nil {
		return "", fmt.Errorf("connect the mock: %w\n%s", err, out)
	}
	return "connection:" + made.ID, nil
}

const sumsManifest = `{
  "schema": "evalrouter.benchmark_manifest.v1", "slug": "sums", "version": "1", "name": "Sums", "description": "Sums with a hint.",
  "category": "mathematics", "family": "generic",
  "data": {"file": "tasks.jsonl", "format": "jsonl", "sha256": "%x", "bytes": %d},
  "source": {"url": "https://example.com/sums", "revision": "1", "path": "tasks.jsonl"},
  "license": {"data": "MIT", "code": "MIT", "url": "https://example.com/license"},
  "columns": {"input": ["question"], "target": "expected"},
  "prompt": {"template": "{{question}}"},
  "grader": {"kind": "numeric", "options": {"take": "last", "percent": "face"}},
  "max_output_tokens": 1024, "metrics": ["accuracy"]
}
`

// home is one person's machine.
type home struct{ dir string }

func (h *home) data() string { return filepath.Join(h.dir, ".local", "share", "evalrouter") }

func (h *home) run(name string, args ...string) (*exec.Cmd, string, error) {
	bin, err := filepath.Abs("bin")
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
	cmd.Dir, cmd.Env = h.dir, []string{"HOME=" + h.dir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	var out bytes.Buffer
	cmd.Stdout = &out
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	if err != nil {
		out.Write(errs.Bytes())
	}
	return cmd, out.String(), err
}

func (h *home) pid() (int, error) {
	b, err := os.ReadFile(filepath.Join(h.data(), "service.json"))
	if err != nil {
		return 0, err
	}
	var s struct{ PID int }
	return s.PID, json.Unmarshal(b, &s)
}

func (h *home) databaseSize() (n int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(h.data(), "evalrouter.db"+suffix)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// commits is what the service's log says of its durable commits when it
// stopped, 0 when it says nothing.
func (h *home) commits() (n int64) {
	b, err := os.ReadFile(filepath.Join(h.data(), "evalrouterd.log"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		var said struct{ Commits int64 }
		if json.Unmarshal([]byte(line), &said) == nil && said.Commits > 0 {
			n = said.Commits
		}
	}
	return n
}
