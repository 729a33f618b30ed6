package e2e_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

const (
	kills       = 20
	concurrency = 8
)

// The service is killed at twenty random moments of a run of 1,319 paid calls
// and started again each time. The run ends, nobody is asked twice, and no
// more is unresolved than was in flight.
func TestKill_TwentyTimesInARun(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s := newSite(t)
	s.addGSM8K()
	e := serveRecorded(t, "175b_verification", 20*time.Millisecond)
	id := s.connect(e, "175b_verification", "0.50", "1.50")
	r := s.submit(`{"model": {"kind": "connection", "connection_id": "` + id + `"}, "selection": {"profile_ids": ["gsm8k@1"]},
		"coverage": {"mode": "full"}, "max_charge_microusd": "100000000", "concurrency": 8}`)

	moments := make([]int, kills)
	for i := range moments {
		moments[i] = 5 + random.IntN(1100)
	}
	slices.Sort(moments)
	for i, asked := range moments {
		s.waitAsked(e, asked+i*concurrency/4)
		if err := syscall.Kill(s.pid(), syscall.SIGKILL); err != nil {
			t.Fatalf("kill %d: %v", i+1, err)
		}
		s.ok("evalrouter", "local", "start")
	}
	s.run("evalrouter", "wait", r.ID)
	end := s.status(r.ID)
	unresolved := end.Outcomes["provider_error"]
	t.Logf("after %d kills: %s, %v", kills, end.Status, end.Outcomes)
	if end.Status != "completed" && end.Status != "partial" {
		t.Errorf("the run ended as %s (%s)", end.Status, end.TerminalReason)
	}
	total := 0
	for _, n := range end.Outcomes {
		total += n
	}
	if total != 1319 || end.GradedCount+unresolved != 1319 {
		t.Errorf("%d graded and %d unresolved of 1319: %v", end.GradedCount, unresolved, end.Outcomes)
	}
	if unresolved > kills*concurrency {
		t.Errorf("%d unresolved after %d kills with %d in flight", unresolved, kills, concurrency)
	}
	if c := e.counters(t); c.Duplicates != 0 {
		t.Errorf("the endpoint saw %d questions twice", c.Duplicates)
	}
	s.audit()
}

// submit quotes a request and starts its run without following it.
func (s *site) submit(quote string) run {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "quote.json")
	if err := os.WriteFile(file, []byte(quote), 0o600); err != nil {
		s.t.Fatal(err)
	}
	q := decode[struct{ ID string }](s.t, s.ok("evalrouter", "quote", "--config", file, "--json").stdout)
	return decode[run](s.t, s.ok("evalrouter", "run", "--quote", q.ID, "--idempotency-key", "key-of-"+q.ID, "--json").stdout)
}

// waitAsked waits until the endpoint was asked so often, or the run cannot
// go on asking.
func (s *site) waitAsked(e *endpoint, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for e.counters(s.t).Requests < min(n, 1300) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("the endpoint was asked %d times in a minute, waiting for %d", e.counters(s.t).Requests, n)
		}
	}
}
