package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// continuation is what a group's record says about its chain.
type continuation struct {
	group
	SourceGroupID      string `json:"source_group_id"`
	ContinuedByGroupID string `json:"continued_by_group_id"`
}

// Eight models under one cap that stops them, one of which a person stops before;
// then two processes resume the group at the same time. One group begins. The other
// process, with a quote of its own, follows it; where it came too late for a quote,
// it is told of that group. Everything that is left is asked under the new cap: what
// was graded costs nothing again.
func TestGroupResume_GRP10_EightModelsByTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var out output
	var both sync.WaitGroup
	both.Go(func() { out = s.run("evalrouter", eight("--sample", "100", "--max-cost", "0.04")...) })
	flaky := s.flaky()
	s.ok("evalrouter", "cancel", flaky) // it waits between its tries, so it is the last
	both.Wait()
	first := decode[group](t, out.stdout)
	if first.Status != "partial" || out.code != 4 || first.Members[7].RunID != flaky || first.Members[7].TerminalReason != "cancelled_by_user" {
		t.Fatalf("exit %d, %+v", out.code, first)
	}
	s.checkMoney(first)
	frozen := s.ok("evalrouter", "results", first.Members[0].RunID, "--json").stdout

	// What the person stopped stands aside until it is asked for, and a quote says so.
	args := []string{"group", "resume", first.ID, "--max-cost", "2", "--yes", "--json", "--progress", "off"}
	contains(t, "the quote", s.ok("evalrouter", "group", "resume", first.ID, "--dry-run").stderr, "not resumed: what is left of it was stopped by a person")
	args = append(args, "--include-cancelled")
	var outs [2]output
	for i := range outs {
		other := *s
		other.env = append([]string{"EVALROUTER_STATE_DIR=" + filepath.Join(s.home, fmt.Sprint("state-", i))}, s.env...)
		both.Go(func() { outs[i] = other.run("evalrouter", args...) })
	}
	both.Wait()
	if decode[continuation](t, outs[0].stdout).ID == "" {
		outs[0], outs[1] = outs[1], outs[0]
	}
	a, b := decode[continuation](t, outs[0].stdout), decode[continuation](t, outs[1].stdout)
	// Who asked for a quote after the other had begun is told so and gets none.
	late := outs[1].code == 2 && strings.Contains(outs[1].stdout, `"code":"continuation_exists"`) && strings.Contains(outs[1].stdout, `"next":["evalrouter group status `+a.ID+`"]`)
	follows := a.ID == b.ID && strings.Count(outs[0].stderr+outs[1].stderr, "Following group "+a.ID) == 1
	if a.SourceGroupID != first.ID || strings.Count(outs[0].stderr+outs[1].stderr, "Started group "+a.ID) != 1 || !follows && !late {
		t.Errorf("one process ends with %s and one with %s\n%s%s\n%s%s", a.ID, b.ID, outs[0].stderr, outs[0].stdout, outs[1].stderr, outs[1].stdout)
	}
	s.checkMoney(a.group)
	for i, m := range a.Members[:7] { // the flaky one may leave a task without an answer
		if m.Status != "completed" || m.GradedCount != 100 {
			t.Errorf("member %d is %s with %d graded", i, m.Status, m.GradedCount)
		}
		// The tasks of both together cost what they cost once.
		before := first.Members[i]
		if spent := micros(t, m.SpendMicrousd); before.GradedCount == 0 || spent == 0 || spent > (int64(100-before.GradedCount)+1)*maxTask {
			t.Errorf("member %d: %d tasks for %d after %d tasks", i, 100-before.GradedCount, spent, before.GradedCount)
		}
	}
	if m := a.Members[7]; m.GradedCount <= first.Members[7].GradedCount {
		t.Errorf("of the flaky one %d tasks are graded, %d before", m.GradedCount, first.Members[7].GradedCount)
	}
	after := decode[continuation](t, s.ok("evalrouter", "group", "status", first.ID, "--json").stdout)
	if after.ContinuedByGroupID != a.ID || after.SpendMicrousd != first.SpendMicrousd || s.ok("evalrouter", "results", first.Members[0].RunID, "--json").stdout != frozen {
		t.Errorf("the first group is %+v", after)
	}
	contains(t, "the first results", s.ok("evalrouter", "results", first.Members[0].RunID).stdout, "Resumed  by run "+a.Members[0].RunID)
	if groups := decode[struct{ Data []group }](t, s.ok("evalrouter", "group", "list", "--json").stdout).Data; len(groups) != 2 {
		t.Errorf("%d groups", len(groups))
	}
	// A script that says it again is told of the newest group.
	contains(t, "the repeat", s.refused(2, "continuation_exists", "evalrouter", args...).stdout, a.ID)
	s.audit()
}

// maxTask is more than a task of these routes costs, in micro-dollars.
const maxTask = 200

// flaky is the flaky member's run, once it has graded something.
func (s *site) flaky() string {
	s.t.Helper()
	for {
		out := s.run("evalrouter", "group", "list", "--json")
		if out.code == 0 {
			if all := decode[struct{ Data []group }](s.t, out.stdout).Data; len(all) == 1 {
				switch m := all[0].Members[7]; {
				case m.Status == "completed" || m.Status == "partial":
					s.t.Fatalf("the flaky member has ended: %+v", m)
				case m.GradedCount > 0:
					return m.RunID
				}
			}
		}
	}
}
