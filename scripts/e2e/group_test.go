package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// group is what a group's record says.
type group struct {
	ID, Status       string
	CapMicrousd      string `json:"cap_microusd"`
	SpendMicrousd    string `json:"spend_microusd"`
	ReservedMicrousd string `json:"reserved_microusd"`
	Members          []struct {
		RunID          string `json:"run_id"`
		Status         string
		TerminalReason string `json:"terminal_reason"`
		CapMicrousd    string `json:"cap_microusd"`
		SpendMicrousd  string `json:"spend_microusd"`
		GradedCount    int    `json:"graded_count"`
		PlannedCount   int    `json:"planned_count"`
	}
}

// eight is a command line with every practice route that can be evaluated.
func eight(more ...string) []string {
	args := []string{"run", "arithmetic"}
	for _, m := range []string{"solver-0.5", "solver-0.6", "solver-0.7", "solver-0.8", "solver-0.9", "solver-0.95", "echo", "flaky"} {
		args = append(args, "--model", "practice."+m)
	}
	return append(args, append(more, "--yes", "--json", "--progress", "off")...)
}

// checkMoney: the members' caps are the group's, no member spent more than its
// own, and all together not more than the group's.
func (s *site) checkMoney(g group) {
	s.t.Helper()
	var caps, spent int64
	for _, m := range g.Members {
		c, sp := micros(s.t, m.CapMicrousd), micros(s.t, m.SpendMicrousd)
		if sp > c {
			s.t.Errorf("member %s spent %d under a cap of %d", m.RunID, sp, c)
		}
		caps, spent = caps+c, spent+sp
	}
	if total := micros(s.t, g.CapMicrousd); caps != total || spent > total || spent != micros(s.t, g.SpendMicrousd) || g.ReservedMicrousd != "0" {
		s.t.Errorf("caps of %d and charges of %d in a group of %s with %s spent and %s reserved", caps, spent, g.CapMicrousd, g.SpendMicrousd, g.ReservedMicrousd)
	}
}

// Eight models under one cap: once with room for all tasks, and once with so
// little that the cap ends every member.
func TestGroup_GRP16_EightModelsUnderOneCap(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out := s.run("evalrouter", eight("--sample", "30", "--max-cost", "2")...)
	g := decode[group](t, out.stdout)
	if len(g.Members) != 8 || g.Status != "partial" && g.Status != "completed" {
		t.Fatalf("exit %d, %s, %d members", out.code, g.Status, len(g.Members))
	}
	if want := map[string]int{"completed": 0, "partial": 4}[g.Status]; out.code != want {
		t.Errorf("exit %d of a group that is %s", out.code, g.Status)
	}
	s.checkMoney(g)
	for _, m := range g.Members[:7] { // the last one is flaky
		if m.Status != "completed" || m.GradedCount != 30 {
			t.Errorf("member %s is %s with %d graded", m.RunID, m.Status, m.GradedCount)
		}
	}
	small := decode[group](t, s.run("evalrouter", eight("--sample", "100", "--max-cost", "0.02")...).stdout)
	s.checkMoney(small)
	for _, m := range small.Members {
		if m.Status != "partial" || m.TerminalReason != "spending_cap" {
			t.Errorf("member %s is %s (%s) under a cap of %s", m.RunID, m.Status, m.TerminalReason, m.CapMicrousd)
		}
	}
	again := s.refused(2, "repeat_needs_new", "evalrouter", eight("--sample", "100", "--max-cost", "0.02")...)
	contains(t, "the repeat", again.stdout+again.stderr, small.ID, "--new")
	s.audit()
}

// One member of a group is cancelled: the others go on to their end, and what
// they cost is theirs.
func TestGroup_CancelOneMember(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.addGSM8K()
	e := serveRecorded(t, "6b_finetuning", 40*time.Millisecond)
	id := s.connect(e, "6b_finetuning", "5", "15")
	args := []string{"run", "gsm8k", "--model", "practice.solver-0.8", "--model", "connection:" + id, "--sample", "400", "--max-cost", "8", "--concurrency", "4", "--yes", "--json", "--progress", "off"}
	var out output
	var both sync.WaitGroup
	both.Go(func() { out = s.run("evalrouter", args...) })
	s.waitAsked(e, 5)
	gid := strings.TrimSpace(s.ok("evalrouter", "group", "list", "--jq", ".data[0].id").stdout)
	slow := decode[group](t, s.ok("evalrouter", "group", "status", gid, "--json").stdout).Members[1]
	s.ok("evalrouter", "cancel", slow.RunID)
	both.Wait()
	g := decode[group](t, out.stdout)
	if out.code != 4 || g.Status != "partial" || g.Members[0].Status != "completed" || g.Members[0].GradedCount != 400 || g.Members[1].Status != "cancelled" {
		t.Errorf("exit %d, group %+v", out.code, g)
	}
	if n := g.Members[1].GradedCount; n == 0 || n == 400 {
		t.Errorf("the cancelled member graded %d of 400 tasks", n)
	}
	s.checkMoney(g)
	if c := e.counters(t); c.Duplicates != 0 {
		t.Errorf("the endpoint saw %d questions twice", c.Duplicates)
	}
	s.audit()
}

// A group's archive is made again on a machine without the service, and one
// changed byte in it is found.
func TestGroup_ArchiveIsReadElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := decode[group](t, s.run("evalrouter", eight("--sample", "30", "--max-cost", "2")...).stdout)
	made := s.ok("evalrouter", "group", "compare", g.ID, "--stats", "--format", "html,json", "--output", "report").stdout
	s.ok("evalrouter", "local", "stop")

	other := newSite(t)
	other.env = append(other.env, "EVALROUTER_LOCAL=off")
	folder := filepath.Join(other.home, "moved")
	if err := os.Rename(filepath.Join(s.home, "report"), folder); err != nil {
		t.Fatal(err)
	}
	again := other.ok("evalrouter", "compare", "--archive", "moved", "--output", "again.html").stdout
	table := func(text string) string {
		before, _, _ := strings.Cut(text, "\nSaved ")
		before, _, _ = strings.Cut(before, "\nChecked ")
		return before
	}
	if table(made) != table(again) {
		t.Errorf("made:\n%s\nagain:\n%s", made, again)
	}
	page, err := os.ReadFile(filepath.Join(folder, "comparison.html"))
	if err != nil {
		t.Fatal(err)
	}
	if anew, err := os.ReadFile(filepath.Join(other.home, "again.html")); err != nil || string(anew) != string(page) {
		t.Errorf("the page made again is another: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "sources", "*"))
	if err != nil || len(files) != 16 {
		t.Fatalf("%d sources: %v", len(files), err)
	}
	for i, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := append([]byte{}, whole...)
		bad[(i*997)%len(bad)] ^= 1
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got := other.refused(2, "archive_changed", "evalrouter", "compare", "--archive", "moved", "--json")
		contains(t, fmt.Sprint("the refusal of ", filepath.Base(name)), got.stdout, filepath.Base(name))
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
