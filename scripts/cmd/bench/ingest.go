package main

import (
	"bytes"
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
)

// intake is what ingest measures with.
type intake struct {
	h       *home
	origin  string
	secret  string
	owner   string
	client  http.Client
	batch   int
	steps   int
	content int
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
	queries := flags.Int("queries", 200, "how often each list and detail is asked for")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in.h = &home{dir: dir}
	if err := in.begin(); err != nil {
		return err
	}
	defer in.h.run("evalrouter", "local", "stop")
	if err := in.send(*length, *senders, *most); err != nil {
		return err
	}
	return in.ask(*queries)
}

// begin starts the service and makes a connection.
func (in *intake) begin() error {
	_, out, err := in.h.run("evalrouter", "traces", "connections", "create", "--name", "bench", "--kind", "otlp", "--json")
	if err != nil {
		return fmt.Errorf("make a connection: %w\n%s", err, out)
	}
	var c struct{ Secret string }
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		return err
	}
	in.secret = c.Secret
	b, err := os.ReadFile(filepath.Join(in.h.data(), "service.json"))
	if err != nil {
		return err
	}
	var s struct {
		URL string `json:"base_url"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	in.origin = s.URL
	token, err := os.ReadFile(filepath.Join(in.h.data(), "owner.token"))
	in.owner = strings.TrimSpace(string(token))
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
	pid, err := in.h.pid()
	if err != nil {
		return err
	}
	cpu, size, began := cpuNow(pid), in.h.databaseSize(), time.Now()
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
	_, out, err := in.h.run("evalrouter", "traces", "connections", "list", "--jq", ".data[0].trace_count")
	if err != nil {
		return fmt.Errorf("count traces: %w\n%s", err, out)
	}
	fmt.Printf("%d spans of %.0f bytes in %d requests of %d from %d senders in %.0f s: %.0f spans/s kept, request p50 %s p99 %s\n", kept.Load(), float64(bytesSent.Load())/float64(kept.Load()),
		len(took), in.batch, senders, passed.Seconds(), float64(kept.Load())/passed.Seconds(), percentile(took, 0.50), percentile(took, 0.99))
	fmt.Printf("%s traces; %.0f bytes of database a span; service: %.0f µs of CPU a span, peak RSS %.0f MB\n", strings.TrimSpace(out),
		float64(in.h.databaseSize()-size)/float64(kept.Load()), (cpuNow(pid)-cpu)*1e6/float64(kept.Load()), float64(peakNow(pid))/1e6)
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

func (in *intake) get(path string, into any) error {
	req, err := http.NewRequest(http.MethodGet, in.origin+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+in.owner)
	resp, err := in.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s", path, resp.StatusCode, b)
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
		{"its 500 steps with content", "/v1/traces/" + long + "/spans?limit=1000"},
	} {
		var took []time.Duration
		for range n {
			at := time.Now()
			if err := in.get(q.path, nil); err != nil {
				return err
			}
			took = append(took, time.Since(at))
		}
		fmt.Printf("%-30s p50 %8s  p99 %8s\n", q.name, percentile(took, 0.50), percentile(took, 0.99))
	}
	return nil
}
