package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// databases measures the same run over SQLite and over PostgreSQL, in
// alternating pairs: one evalrouterd serve on a fresh installation, driven
// through its API.
func databases(args []string) error {
	var s scenario
	flags := flag.NewFlagSet("scripts/bench databases", flag.ContinueOnError)
	flags.IntVar(&s.n, "n", 10_000, "tasks")
	flags.IntVar(&s.inFlight, "c", 256, "calls in flight")
	flags.IntVar(&s.pairs, "pairs", 5, "pairs of one run on each, in alternating order")
	flags.DurationVar(&s.latency, "latency", 0, "latency of the mock; the median when -sigma is set")
	flags.Float64Var(&s.sigma, "sigma", 0, "sigma of a lognormal latency")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || s.n < 1 || s.pairs < 1 {
		return errUsage
	}
	server, ok := testpg.FindServer(testpg.DebianGlob)
	if !ok {
		return fmt.Errorf("PostgreSQL is not installed: %s", testpg.InstallHint)
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := pairing{scenario: s, dir: dir, server: server, tasks: filepath.Join(dir, "tasks.jsonl")}
	if err := writeTasks(d.tasks, s.n, s.told); err != nil {
		return err
	}
	bin, err := buildPeer(filepath.Join("..", "shared", "tools", "mockllm"), dir)
	if err != nil {
		return err
	}
	if d.mock, err = startMock(bin, s); err != nil {
		return err
	}
	defer d.mock.stop()
	return d.measure()
}

// pairing is a prepared comparison of the two databases.
type pairing struct {
	scenario
	dir, tasks, server string
	mock               *mock
	walls              [2][]float64
}

func (d *pairing) measure() error {
	fmt.Printf("%d tasks, %d in flight, latency %s (mean %s), one process\n", d.n, d.inFlight, d.latency, d.mean().Round(10*time.Microsecond))
	names := []string{"SQLite", "PostgreSQL"}
	for i := range d.pairs {
		order := []int{0, 1}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, side := range order {
			wall, err := d.side(fmt.Sprintf("%d-%d", i, side), side == 1)
			if err != nil {
				return fmt.Errorf("%s: %w", names[side], err)
			}
			d.walls[side] = append(d.walls[side], wall.Seconds())
		}
	}
	var ratio []float64
	for side, name := range names {
		w := median(d.walls[side])
		fmt.Printf("%-10s  %6.0f samples/s  wall %.2f s", name, float64(d.n)/w, w)
		if d.latency > 0 {
			fmt.Printf("  %.1f %% of ideal", 100*float64(d.n)*d.mean().Seconds()/float64(d.inFlight)/w)
		}
		fmt.Println()
	}
	for i := range d.walls[0] {
		ratio = append(ratio, d.walls[0][i]/d.walls[1][i])
	}
	fmt.Printf("pairs: PostgreSQL does %.2f of SQLite's samples/s (min %.2f, max %.2f)\n", median(ratio), slices.Min(ratio), slices.Max(ratio))
	return nil
}

// side runs once on a fresh installation and gives the time from the request
// that starts the run to its end.
func (d *pairing) side(name string, postgres bool) (time.Duration, error) {
	s := &served{dir: filepath.Join(d.dir, name)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return 0, err
	}
	if postgres {
		pg, err := testpg.Start(context.Background(), d.server)
		if err != nil {
			return 0, err
		}
		defer pg.Stop()
		s.env = []string{"EVALROUTERD_DATABASE_URL=" + pg.URL}
	}
	if err := d.furnish(s); err != nil {
		return 0, err
	}
	defer s.stop()
	return d.drive(s)
}

// furnish adds the benchmark and starts the service.
func (d *pairing) furnish(s *served) error {
	raw, err := os.ReadFile(d.tasks)
	if err != nil {
		return err
	}
	manifest := filepath.Join(d.dir, "sums.json")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, sumsManifest, sha256.Sum256(raw), len(raw)), 0o600); err != nil {
		return err
	}
	if _, err := s.run("catalog", "add", "--manifest", manifest, "--file", d.tasks); err != nil {
		return err
	}
	if err := s.serve("--allow-private", strings.TrimPrefix(d.mock.base, "http://")); err != nil {
		return err
	}
	s.key, err = s.run("keys", "create", "--workspace", "main", "--name", "bench", "--scopes", "eval:read,eval:write,connections:write")
	s.key = strings.TrimSpace(s.key)
	return err
}

func (d *pairing) drive(s *served) (time.Duration, error) {
	var made, q, r struct{ ID string }
	if err := s.call("POST", "/v1/connections", map[string]any{"name": "mock", "base_url": d.mock.base + "/v1", "model_id": "mock-1",
		"price_in_microusd": "500000", "price_out_microusd": "1500000"}, &made); err != nil {
		return 0, err
	}
	var concurrency any = d.inFlight
	if d.inFlight > 100 {
		concurrency = "max"
	}
	if err := s.call("POST", "/v1/quotes", map[string]any{"selection": map[string]any{"profile_ids": []string{"sums@1"}}, "model": map[string]any{"kind": "connection", "connection_id": made.ID},
		"coverage": map[string]any{"mode": "full"}, "max_charge_microusd": "900000000", "concurrency": concurrency}, &q); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := s.call("POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r); err != nil {
		return 0, err
	}
	for {
		var page struct{ Terminal bool }
		if err := s.call("GET", "/v1/runs/"+r.ID+"/events?after=4000000000&wait_seconds=20&type=run.finished", nil, &page); err != nil {
			return 0, err
		}
		if page.Terminal {
			break
		}
	}
	wall := time.Since(began)
	var end struct {
		Status string
		Graded int `json:"graded_count"`
	}
	if err := s.call("GET", "/v1/runs/"+r.ID, nil, &end); err != nil {
		return 0, err
	}
	if end.Status != "completed" || end.Graded != d.n {
		return 0, fmt.Errorf("the run is %s with %d graded", end.Status, end.Graded)
	}
	return wall, nil
}

// served is one evalrouterd serve.
type served struct {
	dir, base, key string
	env            []string
	cmd            *exec.Cmd
}

func (s *served) command(args ...string) (*exec.Cmd, error) {
	bin, err := filepath.Abs(filepath.Join("bin", "evalrouterd"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin, append(args, "--data", s.dir)...)
	cmd.Env = append([]string{"HOME=" + s.dir, "PATH=/usr/bin:/bin"}, s.env...)
	return cmd, nil
}

func (s *served) run(args ...string) (string, error) {
	cmd, err := s.command(args...)
	if err != nil {
		return "", err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", args, err, errs.String())
	}
	return string(out), nil
}

func (s *served) serve(args ...string) error {
	cmd, err := s.command(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return err
	}
	says, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), " serves "); ok {
			s.base, _, _ = strings.Cut(rest, " ")
			go io.Copy(io.Discard, says) // until the process ends
			return nil
		}
	}
	return fmt.Errorf("the service did not start: %v", cmd.Wait())
}

func (s *served) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait()
}

func (s *served) call(method, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.base+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(path), b...))
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	if method == "POST" {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("%x", sum[:8]))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s answers %d: %s", method, path, res.StatusCode, got)
	}
	return json.Unmarshal(got, into)
}
