package e2e_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/spans"
)

var ingestKills = flag.Int("e2e.ingest-kills", 2, "kills of the service while spans arrive")

// exporters send batches until each is acknowledged, over deaths of the
// service, as real ones do.
type exporters struct {
	s      *site
	secret string

	mu    sync.Mutex
	up    chan struct{} // closed while the service is there
	url   string
	kept  map[string]int // spans by trace, of what was acknowledged
	acks  chan struct{}
	again int // batches that were sent more than once
	stop  bool
}

const (
	exporterCount = 3
	exportedBatch = 256
	exportedSteps = 24
)

// where is the service's address once it is up.
func (e *exporters) where() string {
	e.mu.Lock()
	up := e.up
	e.mu.Unlock()
	<-up
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.url
}

func (e *exporters) down() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.up = make(chan struct{})
}

func (e *exporters) back() {
	url := e.s.serviceURL()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.url = url
	close(e.up)
}

// send exports batches until it is told to stop. Each is sent until it is
// acknowledged.
func (e *exporters) send(seed uint64) {
	m := spans.New(exportedSteps, 400, seed, 1_764_500_000_000_000_000)
	for {
		raw, traces := m.Batch(exportedBatch)
		body := spans.Zip(raw)
		for tries := 1; ; tries++ {
			if e.post(body) {
				e.acknowledged(traces, tries)
				break
			}
		}
		e.mu.Lock()
		stop := e.stop
		e.mu.Unlock()
		if stop {
			return
		}
	}
}

func (e *exporters) post(body []byte) bool {
	req, err := http.NewRequest(http.MethodPost, e.where()+"/v1/otlp/v1/traces", bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+e.secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (e *exporters) acknowledged(traces [][16]byte, tries int) {
	e.mu.Lock()
	left := exportedBatch
	for _, id := range traces {
		n := min(left, exportedSteps)
		e.kept[hex.EncodeToString(id[:])] = n
		left -= n
	}
	if tries > 1 {
		e.again++
	}
	e.mu.Unlock()
	select {
	case e.acks <- struct{}{}:
	default:
	}
}

// The service is killed while spans arrive: what it acknowledged is there, and
// once, though what it did not acknowledge was sent again.
func TestIngestKill_NoAcknowledgedSpanIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.traceConnection("load", "otlp")
	e := &exporters{s: s, secret: c.Secret, up: make(chan struct{}), kept: map[string]int{}, acks: make(chan struct{}, 1)}
	e.back()
	var group sync.WaitGroup
	for n := range exporterCount {
		group.Add(1)
		go func() { defer group.Done(); e.send(uint64(n)) }()
	}
	for k := range *ingestKills {
		for range 3 + k%5 { // while the others are in the middle of something
			<-e.acks
		}
		pid := s.pid()
		e.down()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.ok("evalrouter", "local", "start")
		e.back()
	}
	<-e.acks
	e.mu.Lock()
	e.stop = true
	e.mu.Unlock()
	group.Wait()

	stored := map[string]int{}
	for _, tr := range s.traces() {
		if _, twice := stored[tr.SourceID]; twice {
			t.Errorf("trace %s is there twice", tr.SourceID)
		}
		stored[tr.SourceID] = tr.Spans
	}
	lost, doubled, total := 0, 0, 0
	for id, n := range e.kept {
		total += n
		lost += max(0, n-stored[id])
		doubled += max(0, stored[id]-n)
	}
	if lost > 0 || doubled > 0 || len(stored) != len(e.kept) {
		t.Errorf("of %d acknowledged spans %d are lost and %d doubled; %d traces of %d", total, lost, doubled, len(stored), len(e.kept))
	}
	var shown struct {
		Spans []struct{ ID string } `json:"spans"`
	}
	for id, n := range e.kept { // one of them, step by step
		shown.Spans = nil
		all := s.traces("--query", "bench")
		for _, tr := range all {
			if tr.SourceID == id {
				shown = decode[struct {
					Spans []struct{ ID string } `json:"spans"`
				}](t, s.ok("evalrouter", "traces", "show", tr.ID, "--json").stdout)
			}
		}
		seen := map[string]bool{}
		for _, x := range shown.Spans {
			seen[x.ID] = true
		}
		if len(seen) != n || len(shown.Spans) != n {
			t.Errorf("trace %s shows %d steps of %d", id, len(shown.Spans), n)
		}
		break
	}
	t.Logf("row b: %d kills under load: %d acknowledged spans in %d traces, %d lost, %d doubled; %d batches were sent again", *ingestKills, total, len(e.kept), lost, doubled, e.again)
	s.audit()
}
