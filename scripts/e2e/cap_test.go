package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/fault"
)

// A cap that buys about a hundred tasks holds at every moment, and repeating
// the command never buys twice.
func TestCap_HoldsAndRepeatsStartNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.addGSM8K()
	e := serveRecorded(t, "6b_finetuning", 30*time.Millisecond)
	id := s.connect(e, "6b_finetuning", "5", "15")
	args := []string{"run", "gsm8k", "--model", "connection:" + id, "--full", "--max-cost", "0.25", "--concurrency", "8", "--yes", "--json"}

	// The same command twice at once: one starts the run, the other follows it.
	var first output
	var both sync.WaitGroup
	both.Go(func() { first = s.run("evalrouter", args...) })
	s.waitAsked(e, 1)
	again := s.run("evalrouter", args...)
	both.Wait()
	r := decode[run](t, again.stdout)
	if id := decode[run](t, first.stdout).ID; r.ID != id {
		t.Errorf("the same command started %s beside %s", r.ID, id)
	}
	if again.code != 4 || r.Status != "partial" || r.TerminalReason != "spending_cap" {
		t.Errorf("exit %d, %s, %s", again.code, r.Status, r.TerminalReason)
	}
	if n := r.GradedCount; n < 60 || n > 160 {
		t.Errorf("%d tasks graded; the cap was to buy about a hundred", n)
	}
	if spend := micros(t, r.SpendMicrousd); spend > 250_000 {
		t.Errorf("spent %d under a cap of 250000", spend)
	}
	total := 0
	for _, n := range r.Outcomes {
		total += n
	}
	if total != 1319 || r.Outcomes["skipped_budget"] != 1319-r.ProcessedOf("skipped_budget") {
		t.Errorf("outcomes %v do not add up to 1319", r.Outcomes)
	}
	s.checkEvents(r.ID, 250_000)
	after := s.refused(2, "repeat_needs_new", "evalrouter", args...)
	contains(t, "the repeat", after.stdout+after.stderr, r.ID, "--new")
	if c := e.counters(t); c.Duplicates != 0 {
		t.Errorf("the endpoint saw %d questions twice", c.Duplicates)
	}
	s.audit()
}

// ProcessedOf counts what is in every outcome but one.
func (r run) ProcessedOf(except string) (n int) {
	for o, k := range r.Outcomes {
		if o != except {
			n += k
		}
	}
	return n
}

// checkEvents reads the whole log: sequences without gaps, and never more
// spent and reserved than the cap.
func (s *site) checkEvents(id string, cap int64) {
	s.t.Helper()
	seq := int64(0)
	for line := range strings.Lines(s.ok("evalrouter", "events", id).stdout) {
		var e struct {
			Sequence int64
			Data     struct {
				Spend    string `json:"spend_microusd"`
				Reserved string `json:"reserved_microusd"`
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		if seq++; e.Sequence != seq {
			s.t.Fatalf("event %d where %d was due", e.Sequence, seq)
		}
		if sum := micros(s.t, e.Data.Spend) + micros(s.t, e.Data.Reserved); sum > cap {
			s.t.Errorf("event %d: %d spent and reserved under a cap of %d", e.Sequence, sum, cap)
		}
	}
	if seq < 100 {
		s.t.Errorf("only %d events", seq)
	}
}

// The answer to POST /v1/runs is lost on the way and the command repeated:
// there is one run.
func TestLostAnswer_OneRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ok("evalrouter", "local", "start")
	b, err := os.ReadFile(s.data() + "/service.json")
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(decode[struct {
		BaseURL string `json:"base_url"`
	}](t, string(b)).BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	key := s.ok("evalrouterd", "keys", "create", "--data", s.data(), "--workspace", "local", "--name", "e2e", "--scopes", "eval:read,eval:write,billing:read")
	secret := strings.TrimSpace(key.stdout)
	lossy := fault.New(target, []fault.Rule{{Kind: fault.Drop, Method: "POST", Path: "/v1/runs"}}, io.Discard)
	plain := fault.New(target, nil, io.Discard)
	var healed atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if healed.Load() {
			plain.ServeHTTP(w, r)
			return
		}
		lossy.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	s.env = []string{"EVALROUTER_API_KEY=" + secret, "EVALROUTER_WORKSPACE_ID=local", "EVALROUTER_BASE_URL=" + proxy.URL}
	args := []string{"run", "arithmetic", "--model", "practice.solver-0.8", "--sample", "10", "--max-cost", "1", "--yes", "--json", "--allow-http"}
	lost := s.run("evalrouter", args...)
	if lost.code == 0 {
		t.Fatalf("every answer was lost and nobody noticed:\n%s", lost.stdout)
	}
	healed.Store(true)
	r := decode[run](t, s.ok("evalrouter", args...).stdout)
	if r.Status != "completed" {
		t.Errorf("%s: %s", r.ID, r.Status)
	}
	list := decode[struct{ Data []run }](t, s.ok("evalrouter", "status", "--json", "--allow-http").stdout)
	if len(list.Data) != 1 || list.Data[0].ID != r.ID {
		t.Errorf("%d runs after a lost answer and a repeat", len(list.Data))
	}
	s.env = nil
	s.audit()
}
