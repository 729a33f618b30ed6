package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/spans"
	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// intake is what ingest measures with.
type intake struct {
	size   func() int64 // of the database
	pid    int          // of the service
	origin string
	owner  string
	// another gives another key, where each may ask so much in a minute.
	another    func() (string, error)
	secret     string // of the connection
	connection string
	client     http.Client
	batch      int
	steps      int
	content    int
}

// ingest measures how many spans a second the service keeps, and how long lists
// and details take over what it kept.
func ingest(args []string) error {
	flags := flag.NewFlagSet("scripts/bench ingest", flag.ContinueOnError)
	length := flags.Duration("time", time.Minute, "how long spans are sent")
	senders := flags.Int("senders", 4, "how many send at a time")
	in := &intake{}
	flags.IntVar(&in.batch, "batch", 512, "spans of a request")
	flags.IntVar(&in.steps, "steps", 32, "spans of a trace")
	flags.IntVar(&in.content, "content", 1024, "bytes of content of a span")
	most := flags.Int64("spans", 0, "stop when that many are kept")
	postgres := flags.Bool("postgres", false, "keep them in a PostgreSQL of its own instead of SQLite")
	queries := flags.Int("queries", 200, "how often each list and detail is asked for")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := in.local
	if *postgres {
		begin = in.postgres
	}
	end, err := begin(dir)
	if err != nil {
		return err
	}
	defer end()
	if err := in.connect(); err != nil {
		return err
	}
	if err := in.send(*length, *senders, *most); err != nil {
		return err
	}
	return in.ask(*queries)
}

// local starts the service that a person has, over SQLite.
func (in *intake) local(dir string) (end func(), err error) {
	h := &home{dir: dir}
	if _, out, err := h.run("evalrouter", "local", "start"); err != nil {
		return nil, fmt.Errorf("start the service: %w\n%s", err, out)
	}
	end = func() { h.run("evalrouter", "local", "stop") }
	b, err := os.ReadFile(filepath.Join(h.data(), "service.json"))
	if err != nil {
		return end, err
	}
	var s struct {
		URL string `json:"base_url"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return end, err
	}
	token, err := os.ReadFile(filepath.Join(h.data(), "owner.token"))
	if err != nil {
		return end, err
	}
	in.origin, in.owner, in.size = s.URL, strings.TrimSpace(string(token)), h.databaseSize
	in.pid, err = h.pid()
	return end, err
}

// postgres starts an installation over a PostgreSQL that is there for this alone.
func (in *intake) postgres(dir string) (end func(), err error) {
	server, ok := testpg.FindServer(testpg.DebianGlob)
	if !ok {
		return nil, fmt.Errorf("PostgreSQL is not installed: %s", testpg.InstallHint)
	}
	pg, err := testpg.Start(context.Background(), server)
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir, env: []string{"EVALROUTERD_DATABASE_URL=" + pg.URL}}
	if err := s.serve(); err != nil {
		pg.Stop()
		return nil, err
	}
	end = func() { s.stop(); pg.Stop() }
	in.another = func() (string, error) {
		key, err := s.run("keys", "create", "--workspace", "main", "--name", "bench", "--scopes", "traces:read,traces:write")
		return strings.TrimSpace(key), err
	}
	in.origin, in.pid = s.base, s.cmd.Process.Pid
	in.owner, err = in.another()
	return end, err
}

// connect makes a connection.
func (in *intake) connect() error {
	var c struct{ ID, Secret string }
	err := in.call(http.MethodPost, "/v1/trace-connections", strings.NewReader(`{"name":"bench","kind":"otlp"}`), &c)
	in.connection, in.secret = c.ID, c.Secret
	return err
}

func (in *intake) post(body []byte) error {
	req, err := http.NewRequest(http.MethodPost, in.origin+"/v1/otlp/v1/traces", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+in.secret)
	resp, err := in.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || len(answer) > 0) {
		err = fmt.Errorf("the service answered %d: %q", resp.StatusCode, answer)
	}
	return err
}

// send sends batches from several senders and prints what came of them.
func (in *intake) send(length time.Duration, senders int, most int64) error {
	cpu, size, began := cpuNow(in.pid), int64(0), time.Now()
	if in.size != nil {
		size = in.size()
	}
	var kept, bytesSent atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var group sync.WaitGroup
	for n := range senders {
		group.Add(1)
		go func() {
			defer group.Done()
			m := spans.New(in.steps, in.content, uint64(n), uint64(time.Now().UnixNano()))
			for time.Since(began) < length && (most == 0 || kept.Load() < most) {
				raw, _ := m.Batch(in.batch)
				body := spans.Zip(raw)
				at := time.Now()
				err := in.post(body)
				mu.Lock()
				took = append(took, time.Since(at))
				failed = errors.Join(failed, err)
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
				kept.Add(int64(in.batch))
				bytesSent.Add(int64(len(raw)))
			}
		}()
	}
	group.Wait()
	if failed != nil {
		return failed
	}
	passed := time.Since(began)
	var c struct {
		Traces int64 `json:"trace_count"`
	}
	if err := in.get("/v1/trace-connections/"+in.connection, &c); err != nil {
		return err
	}
	fmt.Printf("%d spans of %.0f bytes in %d requests of %d from %d senders in %.0f s: %.0f spans/s kept, request p50 %s p99 %s\n", kept.Load(), float64(bytesSent.Load())/float64(kept.Load()),
		len(took), in.batch, senders, passed.Seconds(), float64(kept.Load())/passed.Seconds(), percentile(took, 0.50), percentile(took, 0.99))
	fmt.Printf("%d traces; service: %.0f µs of CPU a span, peak RSS %.0f MB", c.Traces, (cpuNow(in.pid)-cpu)*1e6/float64(kept.Load()), float64(peakNow(in.pid))/1e6)
	if in.size != nil {
		fmt.Printf("; %.0f bytes of database a span", float64(in.size()-size)/float64(kept.Load()))
	}
	fmt.Println()
	return nil
}

func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))].Round(100 * time.Microsecond)
}

func (in *intake) get(path string, into any) error { return in.call(http.MethodGet, path, nil, into) }

func (in *intake) call(method, path string, body io.Reader, into any) error {
	req, err := http.NewRequest(method, in.origin+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+in.owner)
	req.Header.Set("Content-Type", "application/json")
	resp, err := in.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, b)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(b, into)
	}
	return err
}

// ask times lists and details over everything that was kept.
func (in *intake) ask(n int) error {
	m := spans.New(500, in.content, 99, uint64(time.Now().UnixNano()))
	raw, _ := m.Batch(500)
	if err := in.post(spans.Zip(raw)); err != nil {
		return err
	}
	var page struct {
		Data []struct{ ID string }
		Next string `json:"next_cursor"`
	}
	if err := in.get("/v1/traces?limit=1", &page); err != nil {
		return err
	}
	long := page.Data[0].ID
	if err := in.get("/v1/traces?limit=200", &page); err != nil {
		return err
	}
	for _, q := range []struct{ name, path string }{
		{"list of 50", "/v1/traces"},
		{"the page behind 200", "/v1/traces?cursor=" + page.Next},
		{"with a status that is rare", "/v1/traces?status=error"},
		{"with a part of a name", "/v1/traces?q=bench"},
		{"with a part that no name has", "/v1/traces?q=nowhere"},
		{"with a model", "/v1/traces?model=bench-1"},
		{"one trace", "/v1/traces/" + long},
		{"its 500 steps with content", "/v1/traces/" + long + "/spans?limit=500"},
	} {
		if err := in.repeat(q.name, q.path, n); err != nil {
			return err
		}
	}
	return nil
}

// repeat prints how long a list takes, with every page of it.
func (in *intake) repeat(name, path string, n int) (err error) {
	if in.another != nil {
		if in.owner, err = in.another(); err != nil {
			return err
		}
	}
	read := func() error { return in.get(path, nil) }
	if strings.Contains(path, "/spans") {
		read = func() error { return in.walk(path) }
	}
	var took []time.Duration
	cpu := cpuNow(in.pid)
	for range n {
		at := time.Now()
		if err := read(); err != nil {
			return err
		}
		took = append(took, time.Since(at))
	}
	fmt.Printf("%-30s p50 %8s  p99 %8s  service: %5.1f ms of CPU\n", name, percentile(took, 0.50), percentile(took, 0.99), (cpuNow(in.pid)-cpu)*1e3/float64(n))
	return nil
}

// walk reads every page of a list.
func (in *intake) walk(path string) error {
	for next := path; next != ""; {
		var page struct {
			Next string `json:"next_cursor"`
		}
		if err := in.get(next, &page); err != nil {
			return err
		}
		if next = ""; page.Next != "" {
			next = path + "&cursor=" + page.Next
		}
	}
	return nil
}
