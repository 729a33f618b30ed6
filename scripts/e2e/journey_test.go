package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A newcomer with an empty home, no key and no account sees a score.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out := s.ok("evalrouter", "demo")
	contains(t, "the demo", out.stdout, "95 %", "simulated")
	s.audit()
	again := s.ok("evalrouter", "demo")
	contains(t, "the demo, a second time", again.stdout, "95 %")
}

// The four published models' real answers give the published counts, every
// task is exported once, and the charges add up by hand.
func TestGSM8K_PublishedModels(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.addGSM8K()
	for model, want := range map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742} {
		e := serveRecorded(t, model, 0)
		id := s.connect(e, model, "0.50", "1.50")
		out := s.ok("evalrouter", "run", "gsm8k", "--model", "connection:"+id, "--full", "--max-cost", "100", "--concurrency", "64", "--yes", "--json")
		r := decode[run](t, out.stdout)
		if r.Status != "completed" || r.Outcomes["right"] != want || r.PlannedCount != 1319 {
			t.Errorf("%s: %s with %v of %d, want %d right", model, r.Status, r.Outcomes, r.PlannedCount, want)
		}
		s.checkExport(r, want)
		if c := e.counters(t); c.Unique != 1319 || c.Duplicates != 0 {
			t.Errorf("%s: the endpoint saw %+v", model, c)
		}
	}
	s.audit()
}

// export is the part of a full export that is checked by hand.
type export struct {
	Samples []struct {
		TaskID         string             `json:"task_id"`
		Outcome        string             `json:"outcome"`
		Scores         map[string]float64 `json:"scores"`
		Answer         *string            `json:"answer"`
		ChargeMicrousd string             `json:"charge_microusd"`
		Usage          *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	} `json:"samples"`
}

func (s *site) checkExport(r run, right int) {
	s.t.Helper()
	file := filepath.Join(s.home, r.ID+".json")
	s.ok("evalrouter", "export", r.ID, "--format", "json", "--output", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	seen, total, correct := map[string]bool{}, int64(0), 0
	for _, x := range decode[export](s.t, string(raw)).Samples {
		if seen[x.TaskID] {
			s.t.Errorf("task %s is exported twice", x.TaskID)
		}
		seen[x.TaskID] = true
		if x.Outcome == "right" {
			correct++
		}
		if x.Usage == nil || x.Answer == nil {
			s.t.Fatalf("task %s has no usage or no answer", x.TaskID)
		}
		// $0.50 and $1.50 a million tokens, rounded up once to a micro-dollar.
		want := (x.Usage.Input*500_000 + x.Usage.Output*1_500_000 + 999_999) / 1_000_000
		if got := micros(s.t, x.ChargeMicrousd); got != want {
			s.t.Errorf("task %s was charged %d, by hand %d", x.TaskID, got, want)
		}
		total += want
	}
	if len(seen) != 1319 || correct != right {
		s.t.Errorf("%d tasks exported, %d right; want 1319 and %d", len(seen), correct, right)
	}
	if got := micros(s.t, r.ExternalSpendMicrousd); got != total || r.SpendMicrousd != r.ExternalSpendMicrousd {
		s.t.Errorf("the run spent %d (%s), its tasks %d", got, r.SpendMicrousd, total)
	}
}
