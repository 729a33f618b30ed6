package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// silentEndpoint takes questions and answers none until the test is over.
func silentEndpoint(t *testing.T) *endpoint {
	t.Helper()
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(over); srv.Close() })
	return &endpoint{Server: srv}
}

// shell is a person's bash in a terminal, with the workspace at a run that goes
// on.
type shell struct {
	*terminal
	site *site
	run  string
}

func (s *site) shell(t *testing.T, run string, env ...string) *shell {
	t.Helper()
	x := &shell{s.inTerminal(t, append(env, "PS1=here> ", "INPUTRC=/dev/null", "HISTFILE="), "/bin/bash", "--norc", "--noprofile", "-i"), s, run}
	x.shows("here>")
	x.types("bind 'set enable-bracketed-paste off'; stty -g > before; echo read''y\r")
	x.shows("ready")
	x.types("clear; sh -c 'echo $$ > pid; exec evalrouter-tui --at runs'\r")
	x.shows("Run history", run[:8], "running")
	x.types("\r")
	x.shows("Live run", "0 of 5", "Leaving this page does not stop the run")
	return x
}

func (x *shell) pid() int {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.site.home, "pid"))
	if err != nil {
		x.t.Fatal(err)
	}
	return decode[int](x.t, string(b))
}

func (x *shell) kill(s syscall.Signal) {
	x.t.Helper()
	if err := syscall.Kill(x.pid(), s); err != nil {
		x.t.Fatal(err)
	}
}

// private are changes of the modes that the workspace uses.
var private = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)

// sane holds the terminal to what it was before the workspace: how it reads, and
// every mode. A command that is typed works.
func (x *shell) sane() {
	x.t.Helper()
	x.types("\rstty -g > after; echo us''able\r")
	x.shows("usable")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(x.site.home, name))
		if err != nil {
			x.t.Fatal(err)
		}
		return string(b)
	}
	if before, after := read("before"), read("after"); before != after {
		x.t.Errorf("the terminal reads in another way: stty -g gave %s before, and now %s", before, after)
	}
	if left := x.left(); len(left) > 0 {
		x.t.Errorf("modes are left: %q", left)
	}
}

// left are the modes that are not as a shell expects them.
func (x *shell) left() (left []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	on := map[string]bool{}
	for _, m := range private.FindAllSubmatch(x.sent, -1) {
		for _, mode := range strings.Split(string(m[1]), ";") {
			on[mode] = m[2][0] == 'h'
		}
	}
	if !on["7"] || !on["25"] {
		left = append(left, "no line wrap, or no cursor")
	}
	for mode, is := range on {
		if is && mode != "7" && mode != "25" {
			left = append(left, mode)
		}
	}
	sent := string(x.sent)
	if strings.Count(sent, "\x1b[>1u") > strings.Count(sent, "\x1b[<u") || strings.LastIndex(sent, "\x1b[>4;2m") > strings.LastIndex(sent, "\x1b[>4;0m") {
		left = append(left, "extended keys")
	}
	return left
}

// goesOn: nothing was cancelled at the service.
func (x *shell) goesOn() {
	x.t.Helper()
	if r := x.site.status(x.run); r.Status != "running" {
		x.t.Errorf("the run is %s (%s)", r.Status, r.TerminalReason)
	}
}

// However the workspace ends, the shell is usable afterwards and the run that was
// watched goes on.
func TestWorkspace_TheTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run("evalrouter", "local", "start")
	id := s.connect(silentEndpoint(t), "silent", "0.50", "1.50")
	run := s.submit(`{"model": {"kind": "connection", "connection_id": "` + id + `"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 5}, "max_charge_microusd": "1000000"}`).ID
	const killed = "The workspace was killed; the terminal is as it was before. Runs go on."
	for _, tt := range []struct {
		name string
		env  []string
		end  func(*testing.T, *shell)
	}{
		{"kill -9", nil, func(_ *testing.T, x *shell) { x.kill(syscall.SIGKILL); x.shows(killed) }},
		{"the runtime gives up", nil, func(_ *testing.T, x *shell) { x.kill(syscall.SIGQUIT); x.shows(killed) }},
		{"SIGTERM", nil, func(_ *testing.T, x *shell) { x.kill(syscall.SIGTERM); x.shows("evalrouter wait " + run[:8]) }},
		{"SIGHUP", nil, func(_ *testing.T, x *shell) { x.kill(syscall.SIGHUP); x.shows("evalrouter wait " + run[:8]) }},
		{"Ctrl+Q", nil, func(_ *testing.T, x *shell) { x.types(ctrlQ); x.shows("evalrouter wait " + run[:8]) }},
		{"SIGTSTP, and SIGCONT by fg", nil, func(_ *testing.T, x *shell) {
			x.kill(syscall.SIGTSTP)
			x.stopped()
			x.back()
		}},
		{"Ctrl+Z and fg", nil, func(_ *testing.T, x *shell) {
			x.types("\x1a")
			x.stopped()
			x.back()
		}},
		{"SIGSTOP, which gives no time, and fg", nil, func(_ *testing.T, x *shell) {
			x.kill(syscall.SIGSTOP)
			x.shows("Stopped")
			x.types("clear; echo clea''n\r")
			x.shows("clean")
			x.back()
		}},
		{"kill -9 while it is suspended", nil, func(t *testing.T, x *shell) {
			x.types("\x1a")
			x.stopped()
			x.kill(syscall.SIGKILL)
			x.types("fg\r")
			x.shows("Killed")
			if strings.Contains(x.screen(), killed) {
				t.Errorf("a terminal that was given back was given back again:\n%s", x.screen())
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := s.shell(t, run, tt.env...)
			tt.end(t, x)
			x.sane()
			x.goesOn()
			x.types("exit\r")
			x.ends(0)
		})
	}
	t.Run("the terminal is closed", func(t *testing.T) {
		x := s.shell(t, run)
		pid := x.pid()
		if err := x.ctrl.Close(); err != nil {
			t.Fatal(err)
		}
		<-x.done
		gone(t, pid)
		x.goesOn()
	})
	t.Run("without the second process kill -9 leaves the terminal as it is", func(t *testing.T) {
		x := s.shell(t, run, "EVALROUTER_TUI_GUARD=off")
		x.kill(syscall.SIGKILL)
		x.shows("Killed")
		if left := x.left(); len(left) == 0 {
			t.Error("no mode is left, so that the other tests prove nothing")
		}
		x.goesOn()
	})
	s.ok("evalrouter", "cancel", run)
}

// stopped is a suspended workspace: the shell is back, and usable.
func (x *shell) stopped() {
	x.t.Helper()
	x.shows("Stopped")
	x.sane()
	x.types("clear; echo clea''n\r")
	x.shows("clean")
}

// back brings the workspace back, which hears keys, and leaves it.
func (x *shell) back() {
	x.t.Helper()
	x.types("fg\r")
	x.shows("Live run", "0 of 5", "Leaving this page does not stop the run")
	x.types("\x1b[D") // Left
	x.shows("Run history", "Type to filter")
	x.types(ctrlQ)
	x.shows("evalrouter wait " + x.run[:8])
}

// sysPidfdOpen is the same on every architecture.
const sysPidfdOpen = 434

// gone waits for a process to end that is no child of this one.
func gone(t *testing.T, pid int) {
	t.Helper()
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0)
	if errno == syscall.ESRCH {
		return
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	f := os.NewFile(fd, "process")
	defer f.Close()
	wait := syscall.FdSet{}
	wait.Bits[fd/64] |= 1 << (fd % 64)
	limit := syscall.Timeval{Sec: 30}
	n, err := syscall.Select(int(fd)+1, &wait, nil, nil, &limit)
	for err == syscall.EINTR { // the limit has what is left of it
		n, err = syscall.Select(int(fd)+1, &wait, nil, nil, &limit)
	}
	if n != 1 || err != nil {
		t.Errorf("process %d goes on: %v", pid, err)
	}
}
