package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The real answers of the published models, stopped by a cap after about 400
// tasks and resumed twice, give the published counts again. Nothing that was
// graded costs anything again, and the endpoint sees each question once.
func TestResume_GSM8K_RES03_RES04_RES05_RES16(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("gsm8k-inspect")
	for model, want := range map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742} {
		e := serveRecorded(t, model, 0)
		id := s.connect(e, model, "5", "15")
		args := []string{"gsm8k-inspect", "--model", "connection:" + id, "--full", "--concurrency", "8", "--yes", "--json", "--max-cost", pays400}
		first := decode[run](t, s.run("evalrouter", append([]string{"run"}, args...)...).stdout)
		if first.Status != "partial" || first.TerminalReason != "spending_cap" || first.GradedCount < 250 || first.GradedCount > 550 {
			t.Errorf("%s: stopped %s, %s, after %d tasks", model, first.Status, first.TerminalReason, first.GradedCount)
		}
		frozen := s.ok("evalrouter", "results", first.ID, "--json").stdout
		second := decode[run](t, s.run("evalrouter", "resume", first.ID, "--max-cost", pays400, "--yes", "--json").stdout)
		if second.Status != "partial" || second.GradedCount < first.GradedCount+200 {
			t.Errorf("%s: the first resume ended %s with %d graded", model, second.Status, second.GradedCount)
		}
		third := decode[run](t, s.ok("evalrouter", "resume", second.ID, "--max-cost", "100", "--yes", "--json").stdout)
		if third.Status != "completed" || third.GradedCount != 1319 || third.Outcomes["right"] != want {
			t.Errorf("%s: the second resume ended %s, %v; want %d right", model, third.Status, third.Outcomes, want)
		}
		if c := e.counters(t); c.Unique != 1319 || c.Duplicates != 0 {
			t.Errorf("%s: the endpoint saw %+v", model, c)
		}
		s.checkChain(model, first, second, third)
		if s.ok("evalrouter", "results", first.ID, "--json").stdout != frozen {
			t.Errorf("%s: the result of the first run has changed", model)
		}
		t.Logf("%s: %d, %d and %d graded for %s, %s and %s; %d right", model, first.GradedCount, second.GradedCount, third.GradedCount,
			first.SpendMicrousd, second.SpendMicrousd, third.SpendMicrousd, third.Outcomes["right"])
	}
	s.audit()
}

// pays400 is about what 400 of the recorded answers cost at these rates.
const pays400 = "0.62"

// add admits a benchmark that is graded by Inspect's rules.
func (s *site) add(name string) {
	s.t.Helper()
	manifest, err := filepath.Abs(filepath.Join("..", "..", "bundle", "manifests", name+".json"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.ok("evalrouterd", "catalog", "add", "--data", s.data(), "--manifest", manifest, "--file", shared(s.t, "data", "gsm8k", "test.jsonl"))
}

// checkChain reads what each task of a chain cost: what was taken over, nothing;
// and what was asked, once.
func (s *site) checkChain(model string, runs ...run) {
	s.t.Helper()
	type sample struct {
		TaskID string `json:"task_id"`
		Charge string `json:"charge_microusd"`
		Reused bool   `json:"reused"`
		Origin string `json:"origin_run_id"`
		Status string `json:"status"`
	}
	paid, reused := map[string]int{}, 0
	for n, r := range runs {
		file := filepath.Join(s.home, fmt.Sprintf("%s-%d.json", model, n))
		s.ok("evalrouter", "export", r.ID, "--format", "json", "--output", file)
		total := int64(0)
		raw, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, x := range decode[struct{ Samples []sample }](s.t, string(raw)).Samples {
			cost := micros(s.t, x.Charge)
			total += cost
			switch {
			case x.Reused && (cost != 0 || x.Origin == r.ID || n == 0):
				s.t.Errorf("%s: task %s of run %d was taken over from %s for %d", model, x.TaskID, n, x.Origin, cost)
			case x.Reused:
				reused++
			case x.Status == "graded":
				paid[x.TaskID]++
			}
		}
		if spend := micros(s.t, r.SpendMicrousd); spend != total {
			s.t.Errorf("%s: run %d spent %d, its tasks %d", model, n, spend, total)
		}
	}
	for task, n := range paid {
		if n != 1 {
			s.t.Errorf("%s: task %s was paid %d times", model, task, n)
		}
	}
	if want := runs[0].GradedCount + runs[1].GradedCount; len(paid) != 1319 || reused != want {
		s.t.Errorf("%s: %d tasks were paid and %d taken over, want 1319 and %d", model, len(paid), reused, want)
	}
}

// A service that is killed while a continuation runs goes on with it, and asks
// nothing twice.
func TestResume_SurvivesAKill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("gsm8k-inspect")
	e := serveRecorded(t, "6b_finetuning", 20*time.Millisecond)
	id := s.connect(e, "6b_finetuning", "5", "15")
	first := decode[run](t, s.run("evalrouter", "run", "gsm8k-inspect", "--model", "connection:"+id, "--sample", "150", "--concurrency", "8", "--yes", "--json", "--max-cost", "0.15").stdout)
	if first.Status != "partial" || first.GradedCount == 0 {
		t.Fatalf("the first run is %s with %d graded", first.Status, first.GradedCount)
	}
	asked := e.counters(t).Unique
	done := make(chan output, 1)
	go func() { done <- s.run("evalrouter", "resume", first.ID, "--max-cost", "10", "--yes", "--json") }()
	s.waitAsked(e, asked+30)
	was := s.service()
	if err := syscall.Kill(was.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	heard := squat(t, was.Port)
	out := <-done
	r := decode[run](t, out.stdout)
	if r.ID == "" {
		t.Fatalf("resume: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	lost := r.Outcomes["provider_error"]
	if r.GradedCount+lost != 150 || lost > 8 {
		t.Errorf("after the kill it is %s with %d graded and %d lost", r.Status, r.GradedCount, lost)
	}
	if c := e.counters(t); c.Duplicates != 0 {
		t.Errorf("the endpoint saw %+v", c)
	}
	s.audit()
	for _, text := range heard() {
		if strings.Contains(text, "Authorization") || strings.Contains(text, first.ID) {
			t.Errorf("who took the port was told %q", text)
		}
	}
}

// squat takes the port of a service that has just died, as any program on the
// machine may, and answers what it was told. Where another one was quicker, that
// one is in the way instead.
func squat(t *testing.T, port int) (heard func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if err == nil {
			break
		}
		<-tick.C // the system may still be taking the old one apart
		l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	}
	if err != nil {
		t.Logf("the port of the service that died cannot be had: %v", err)
		return func() []string { return nil }
	}
	var mu sync.Mutex
	var told []string
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var text strings.Builder
		_ = r.Write(&text) // a Builder takes everything
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text.String())
		w.WriteHeader(http.StatusUnauthorized)
	})}
	go func() { _ = srv.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		t.Logf("the port of the service that died was asked %d times", len(told))
		return told
	}
}
