package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// multiplexer is a program of the product in a real terminal program, which is
// asked what stands on it.
type multiplexer struct {
	t      *testing.T
	socket string
}

func (s *site) inTmux(t *testing.T, columns, rows int, line string, env ...string) *multiplexer {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	m := &multiplexer{t, filepath.Join(s.home, fmt.Sprintf("tmux-%dx%d", columns, rows))}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows)}
	for _, e := range append([]string{"HOME=" + s.home, "EVALROUTER_NO_BROWSER=1", "EVALROUTER_NO_UPDATE_CHECK=1"}, env...) {
		args = append(args, "-e", e)
	}
	t.Cleanup(func() { _, _ = m.ask("kill-server") }) // it has ended with its shell in every test that passes
	m.do(append(args, "cd "+s.home+" && exec env -u CI 'PS1=here> ' HISTFILE= /bin/bash --norc --noprofile -i")...)
	m.shows("here>")
	m.types("PATH=" + s.bin + ":/usr/bin:/bin; clear; " + line)
	m.keys("Enter")
	return m
}

func (m *multiplexer) ask(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	return string(out), err
}

func (m *multiplexer) do(args ...string) string {
	m.t.Helper()
	out, err := m.ask(args...)
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return out
}

func (m *multiplexer) screen() string { m.t.Helper(); return m.do("capture-pane", "-p") }

func (m *multiplexer) types(text string) { m.t.Helper(); m.do("send-keys", "-l", text) }

func (m *multiplexer) keys(names ...string) {
	m.t.Helper()
	m.do(append([]string{"send-keys"}, names...)...)
}

// shows waits until every text stands on the screen.
func (m *multiplexer) shows(texts ...string) {
	m.t.Helper()
	m.until(20*time.Millisecond, func(screen string) bool {
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				return false
			}
		}
		return true
	}, texts...)
}

// until looks again and again.
func (m *multiplexer) until(every time.Duration, there func(screen string) bool, what ...string) {
	m.t.Helper()
	tick := time.NewTicker(every)
	defer tick.Stop()
	late := time.After(time.Minute)
	for {
		screen := m.screen()
		if there(screen) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			m.t.Fatalf("%q does not appear:\n%s", what, screen)
		}
	}
}

// agrees gives the two Enters of the price row, as far apart as a person's.
func (m *multiplexer) agrees(row string) {
	m.t.Helper()
	m.until(400*time.Millisecond, func(screen string) bool {
		if !strings.Contains(screen, "▸ "+row) {
			return true
		}
		m.keys("Enter")
		return false
	}, "the page behind "+row)
}

// The main journey in a real terminal program against the real service: from
// Home over the quote and the live run to one answer and a saved report, and the
// same for a group, its comparison, and a run that is stopped.
func TestWorkspace_JourneyInATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	x := s.inTmux(t, 80, 24, "evalrouter")
	x.shows("Run a benchmark", "5 ready")
	x.types("run a")
	x.keys("Enter")
	x.shows("Run  1/4", "arithmetic@1")
	x.types("arithm")
	x.shows("Filter: arithm")
	x.keys("Enter")
	x.shows("Run  2/4", "practice.solver-0.8")
	x.types("solver-0.8")
	x.keys("Enter")
	x.shows("[x]")
	x.keys("Tab")
	x.shows("Run  3/4")
	x.keys("Tab")
	x.shows("Run  4/4", "NOTHING HAS STARTED", "Start run, cap")
	x.agrees("Start run, cap")
	x.shows("▸ Result")
	x.keys("Enter")
	x.shows("Results  ", "View tasks", "25 of 1,000 tasks")
	id := regexp.MustCompile(`Results  ([0-9a-f]{8})`).FindStringSubmatch(x.screen())[1]
	x.types("w")
	x.shows("Saved; the paths stand on this page")
	x.types("s")
	x.shows("Tasks", "right")
	x.keys("Enter")
	x.shows("Answer", "Taken")
	x.keys("Escape")
	x.shows("Tasks")
	x.keys("C-q")
	x.shows("Saved while you were here:", "evalrouter-"+id, "here>")
	for _, ext := range []string{".json", ".html"} {
		if found, err := filepath.Glob(filepath.Join(s.home, "evalrouter-"+id+"*"+ext)); err != nil || len(found) != 1 {
			t.Errorf("saved %v, %v", found, err)
		}
	}
	if r := s.status(id); r.Status != "completed" || r.GradedCount != 25 {
		t.Errorf("the run is %+v", r)
	}
	s.groupInTmux(t, x)
	s.audit()
	s.stopInTmux(t, x)
}

// groupInTmux starts two models under one review and compares them.
func (s *site) groupInTmux(t *testing.T, x *multiplexer) {
	t.Helper()
	x.types("clear; evalrouter-tui --at run")
	x.keys("Enter")
	x.shows("Run  1/4", "arithmetic@1")
	x.types("arithm")
	x.shows("Filter: arithm")
	x.keys("Enter")
	x.shows("Run  2/4", "practice.solver-0.8")
	x.types("solver-0.8")
	x.shows("Filter: solver-0.8")
	x.keys("Enter")
	x.shows("[x]")
	x.keys("C-u")
	x.types("echo")
	x.keys("Enter")
	x.shows("Filter: echo", "[x]")
	x.keys("Tab")
	x.shows("Run  3/4", "2 models")
	x.keys("Tab")
	x.shows("Run  4/4", "Start 2 runs, cap")
	x.agrees("Start 2 runs, cap")
	x.shows("All members have ended")
	x.types("c")
	x.shows("Compare", "S tests what differs")
	x.types("s")
	x.shows("PAIR", "VERDICT")
	x.keys("C-q")
	x.shows("here>")
}

// stopInTmux stops a run while its calls are in flight.
func (s *site) stopInTmux(t *testing.T, x *multiplexer) {
	t.Helper()
	id := s.connect(silentEndpoint(t), "silent", "0.50", "1.50")
	r := s.submit(`{"model": {"kind": "connection", "connection_id": "` + id + `"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 5}, "max_charge_microusd": "1000000"}`)
	x.types("clear; evalrouter status -i")
	x.keys("Enter")
	x.shows(r.ID[:8], "running")
	x.keys("Home", "Enter")
	x.shows("Live run", "Stop the run")
	x.keys("BTab", "Enter")
	x.shows("Stop run "+r.ID[:8], "NOTHING IS STOPPED YET")
	x.agrees("Stop the run    ")
	x.shows("Live run", "cancelling") // the calls in flight are never answered here
	if got := s.status(r.ID).Status; got != "cancelling" {
		t.Errorf("the run is %s", got)
	}
	x.keys("C-q")
	x.shows("here>")
	if _, err := os.Stat(x.socket); err != nil {
		t.Errorf("the terminal is gone: %v", err)
	}
}
