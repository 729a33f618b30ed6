package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
)

const groupQuestion = "Start 2 runs with caps of $1.00 together?"

var pairOfModels = []string{"run", "arithmetic", "--model", "practice.solver-80", "--model", "practice.echo", "--sample", "5", "--max-cost", "1"}

// GRP-03: one question for the whole group, with the cursor on Cancel.
func TestGroupApproval_GRP03(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, keys string
		code, runs int
	}{
		{"Enter alone starts nothing", "\r", 5, 0},
		{"up and Enter starts both", "\x1b[A|\r", 0, 2},
		{"Ctrl-C", "\x03", 5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			x := watchedInTerminal(t, f, t.TempDir(), "", nil, pairOfModels...)
			x.expect(groupQuestion)
			x.expect("  > Cancel")
			for k := range strings.SplitSeq(tt.keys, "|") {
				seen := len(x.text())
				x.send(k)
				if k != "\r" && k != "\x03" {
					x.redrawn(seen)
				}
			}
			x.exit(tt.code)
			if f.Runs() != tt.runs {
				t.Errorf("%d runs, want %d", f.Runs(), tt.runs)
			}
		})
	}
}

// groupOf starts a group and reads it.
func groupOf(t *testing.T, f *apitest.Fake, home string) api.GroupRecord {
	t.Helper()
	watchedInTerminal(t, f, home, "", nil, append(pairOfModels, "--yes")...).exit(0)
	out := inTerminal(t, f, home, "", nil, "group", "list", "--json", "--jq", ".data[0] | @json").exit(0)
	var g api.GroupRecord
	if err := json.Unmarshal([]byte(strings.TrimSpace(out)), &g); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return g
}

// GRP-08: -i lets a person choose a member and opens that one.
func TestGroupMember_GRP08(t *testing.T) {
	t.Parallel()
	f, home := fakeService(t), t.TempDir()
	g := groupOf(t, f, home)
	x := watchedInTerminal(t, f, home, "", nil, "group", "status", g.ID[:8], "-i")
	x.expect("Tab continues")
	x.press("\x1b[B")
	x.press(" ")
	x.send("\t")
	out := x.exit(0)
	contains := func(out, want string) {
		t.Helper()
		if !strings.Contains(out, want) {
			t.Errorf("not shown: %s\n%s", want, out)
		}
	}
	contains(out, "Run      "+g.Members[1].RunID+"   member 2 of group")
	contains(out, "Practice echo")
	plain := watchedInTerminal(t, f, home, "", []string{"ACCESSIBLE=1"}, "group", "status", g.ID, "-i")
	plain.expect("Member, 1 to 2: ")
	plain.send("7\n1\n")
	contains(plain.exit(0), "Run      "+g.Members[0].RunID)
}

// GRP-14: Ctrl-C while a group is watched stops watching and nothing else.
func TestGroupWatch_GRP14_LeavingStopsWatchingOnly(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Minute})
	t.Cleanup(f.Close)
	home := t.TempDir()
	x := watchedInTerminal(t, f, home, "", nil, append(pairOfModels, "--yes")...)
	x.expect("Started group")
	x.expect("0")
	x.send("\x03")
	out := x.exit(1)
	if !strings.Contains(out, "its runs go on without this terminal") || !strings.Contains(out, "evalrouter group status ") {
		t.Errorf("leaving says:\n%s", out)
	}
	for _, m := range f.Mutations() {
		if strings.HasSuffix(m.Path, "/cancel") {
			t.Errorf("leaving asked for %s", m.Path)
		}
	}
	if f.Runs() != 2 {
		t.Errorf("%d runs", f.Runs())
	}
}
