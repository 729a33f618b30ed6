// Package crash_test kills the service at every point where a process can die
// with something half done, starts it again on the same files, lets it run to
// the end, and holds it to its promises.
//
// The points are not listed anywhere. A wrapped database driver sees every
// statement that writes and every commit, a wrapped file every append and
// truncation of the spool, and the provider every request and answer; a first
// process, which lives, writes down what it passed. Whatever is added to the
// store is a point the next time.
//
// A death is a SIGKILL that the process sends itself at the point: no code
// runs after it. The kernel lives on, so this proves nothing about a power
// cut; that is what synchronous=FULL is asserted for.
package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// minPoints is how many different points there are at least, those of making
// the tables not counted.
const minPoints = 60

var (
	every = flag.Int("crash.every", everyNth, "die at every n-th point")
	whole = flag.Bool("crash.whole", false, "die at every point, on SQLite the first, a middle and the last time, and on PostgreSQL too")
)

func TestMain(m *testing.M) {
	text := os.Getenv(childVar)
	if text == "" {
		os.Exit(m.Run())
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = child(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bases are deaths after which a start has something to do: a call that was
// not sent, one that was, an answer that only the spool has, and a run that
// was admitted and never taken up.
var bases = []string{
	"Reserve: after the commit",
	"provider: an answer is on its way",
	"spool: an answer is kept",
	"Admit: after the commit",
}

func TestCrash_SQLite(t *testing.T) {
	t.Parallel()
	everywhere(t, func(testing.TB) string { return "" }, 3)
}

func TestCrash_PostgreSQL(t *testing.T) {
	t.Parallel()
	if !*whole {
		t.Skip("every commit is synced there, which takes minutes: scripts/prove crash runs it")
	}
	everywhere(t, storetest.Postgres, 1)
}

// everywhere takes stock of the points and dies at each.
func everywhere(t *testing.T, database func(testing.TB) string, times int) {
	s := newStory(t, database)
	s.run("", 0)
	points := s.passed()
	s.judge("")
	counted := 0
	for _, p := range points {
		if !strings.Contains(p.Name, "migrate") {
			counted++
		}
	}
	t.Logf("%d points, %d of them beside making the tables", len(points), counted)
	if counted < minPoints {
		t.Errorf("only %d points are found; at least %d are promised", counted, minPoints)
	}
	var died atomic.Int64
	t.Run("points", func(t *testing.T) {
		for i, p := range points {
			for _, hit := range hits(p, i, times) {
				t.Run(fmt.Sprintf("%s, time %d", p.Name, hit), func(t *testing.T) {
					t.Parallel()
					s := newStory(t, database)
					s.dies(p.Name, hit)
					s.run("", 0)
					s.judge(p.Name)
					died.Add(1)
				})
			}
		}
	})
	t.Run("starts", func(t *testing.T) {
		for i, base := range bases {
			if i > 0 && everyNth > 8 && !*whole {
				continue
			}
			t.Run(base, func(t *testing.T) {
				t.Parallel()
				starts(t, database, base, &died)
			})
		}
	})
	if !t.Failed() {
		t.Logf("%d deaths; every run ended, every audit was clean", died.Load())
	}
}

// hits are the times at which a process dies at the i-th point.
func hits(p passed, i, times int) []int {
	if !*whole {
		if i%*every != 0 {
			return nil
		}
		return []int{1 + i%p.Times}
	}
	out := []int{1}
	for _, h := range []int{(p.Times + 1) / 2, p.Times} {
		if len(out) < times && h > out[len(out)-1] {
			out = append(out, h)
		}
	}
	return out
}

// starts dies once at base, and a second time at each point of the start
// after it.
func starts(t *testing.T, database func(testing.TB) string, base string, died *atomic.Int64) {
	s := newStory(t, database)
	s.dies(base, 1)
	s.run("", 0)
	s.judge(base)
	again := 0
	for _, p := range s.passed() {
		if !strings.HasPrefix(p.Name, startPhase) {
			continue
		}
		if again++; again > 1 && !*whole {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, database)
			s.dies(base, 1)
			s.dies(p.Name, 1)
			s.run("", 0)
			s.judge(base)
			died.Add(1)
		})
	}
	if again == 0 {
		t.Errorf("a start after a death at %q passes no point", base)
	}
}

// story is one folder, with what happens on it.
type story struct {
	t        testing.TB
	dir      string
	postgres string
}

func newStory(t testing.TB, database func(testing.TB) string) *story {
	t.Helper()
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "crash"); err == nil { // commits to memory; it outlives the process
		t.Cleanup(func() { os.RemoveAll(shm) })
		dir = shm
	}
	return &story{t: t, dir: dir, postgres: database(t)}
}

// start runs a process of the story until it ends or dies.
func (s *story) start(die string, hit int) (string, error) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := json.Marshal(orders{Dir: s.dir, Postgres: s.postgres, Die: die, Hit: hit})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVar+"="+string(o))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *story) run(die string, hit int) {
	s.t.Helper()
	if out, err := s.start(die, hit); err != nil {
		s.t.Fatalf("the process did not end well: %v\n%s", err, out)
	}
}

// dies runs a process that must die at a point.
func (s *story) dies(point string, hit int) {
	s.t.Helper()
	out, err := s.start(point, hit)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		s.t.Fatalf("the process was to die at %q, time %d: %v\n%s", point, hit, err, out)
	}
}

func (s *story) passed() (all []passed) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, pointsFile))
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *story) lines(file string) (all []string) {
	s.t.Helper()
	f, err := os.Open(filepath.Join(s.dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		all = append(all, in.Text())
	}
	return all
}

// judge holds what must be true at the end, after a death at point or none.
func (s *story) judge(point string) {
	s.t.Helper()
	o := store.Options{Path: filepath.Join(s.dir, databaseFile), Now: time.Now}
	if s.postgres != "" {
		o.Path, o.Postgres = "", s.postgres
	}
	st, err := store.Open(context.Background(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	found, err := st.Audit(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range found {
		s.t.Errorf("audit: %s %s: %s", f.Rule, f.Subject, f.Detail)
	}
	s.askedOnce()
	s.keptIsRecorded(st)
	s.runsEnded(st, point)
}

// askedOnce: the provider worked on no question twice.
func (s *story) askedOnce() {
	s.t.Helper()
	worked := map[string]bool{}
	for _, q := range s.lines(workedFile) {
		if worked[q] {
			s.t.Errorf("the provider worked twice on %q", q)
		}
		worked[q] = true
	}
}

// keptIsRecorded: an answer that was kept is in the database at the end.
func (s *story) keptIsRecorded(st *store.Store) {
	s.t.Helper()
	for _, line := range s.lines(keptFile) {
		var run, call string
		var idx int
		if _, err := fmt.Sscan(line, &run, &idx, &call); err != nil {
			s.t.Fatalf("%q: %v", line, err)
		}
		e, ok, err := st.Evidence(context.Background(), core.RunID(run), idx)
		if err != nil || !ok || string(e.Call) != call {
			s.t.Errorf("the answer of call %s was kept and is not recorded: %v, %v", call, ok, err)
		}
	}
}

// runsEnded: every run was started once and has ended with nothing held, and
// no more is lost than the provider lost and the death can have cost.
func (s *story) runsEnded(st *store.Store, point string) {
	s.t.Helper()
	runs, err := st.Runs(context.Background(), scope, store.RunFilter{Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	byName := map[string]core.Run{}
	for _, r := range runs {
		name := r.Name
		if r.GroupID != "" { // members share a name, and each has a route of its own
			q, err := st.Quote(context.Background(), scope, r.QuoteID)
			if err != nil {
				s.t.Fatal(err)
			}
			if name = chapterOf(q.Target.RouteID).name; r.SourceRun != "" {
				name = resumedBy(name)
			}
		}
		if _, again := byName[name]; again {
			s.t.Errorf("the run %q was started twice", name)
		}
		byName[name] = r
	}
	lost, scripted := 0, 0
	for _, c := range chapters {
		r, ok := byName[c.name]
		if !ok || !c.ends[r.State] || !r.HoldReleased || r.Reserved != 0 || r.Tallies.Total() != c.tasks {
			s.t.Errorf("the run %q is %s (%s), reserved %s, hold released %v, outcomes %v", c.name, r.State, r.Reason, r.Reserved, r.HoldReleased, r.Tallies)
			continue
		}
		scripted += c.lost
		for row, err := range st.Samples(context.Background(), scope, r.ID, 0) {
			if err != nil {
				s.t.Fatal(err)
			}
			if row.State == core.SampleUnresolved {
				lost++
			}
		}
	}
	if cost := lost - scripted; cost > mayCost(point) {
		s.t.Errorf("%d tasks are unresolved beside the %d that the provider lost; a death here may cost %d", cost, scripted, mayCost(point))
	}
}

// costly begin the points between the mark that a request may leave and the
// first record of what came back.
var costly = []string{
	"MarkSent: after the commit", "provider: ", "spool: before an answer", "spool: half of an answer",
	// A rejection is not spooled: it costs nothing but the task.
	"Replan: before", "Retry: before", "GiveUp: before",
	"RequestCancel: ", // in this story it comes while an answer is on its way
}

// mayCost is how many tasks a death at a point can leave unresolved.
func mayCost(point string) int {
	if slices.ContainsFunc(costly, func(p string) bool { return strings.HasPrefix(point, p) }) {
		return 1
	}
	return 0
}
