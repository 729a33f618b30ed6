package e2e_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hinshun/vt10x"

	"github.com/evalrouter/evalrouter/scripts/internal/pty"
)

// terminal is a program of the product behind a terminal of 100 by 30 cells, as
// a person sees it.
type terminal struct {
	t    *testing.T
	ctrl *os.File
	cmd  *exec.Cmd
	done chan struct{}

	mu    sync.Mutex
	vt    vt10x.Terminal
	sent  []byte // all that came to the terminal
	fresh chan struct{}
}

const terminalColumns, terminalRows = 100, 30

func (s *site) inTerminal(t *testing.T, env []string, name string, args ...string) *terminal {
	t.Helper()
	ctrl, tty, err := pty.Open(terminalColumns, terminalRows)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	x := &terminal{t: t, ctrl: ctrl, vt: vt10x.New(vt10x.WithSize(terminalColumns, terminalRows)), fresh: make(chan struct{}, 1), done: make(chan struct{})}
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.bin, name)
	}
	x.cmd = exec.Command(name, args...)
	x.cmd.Dir = s.home
	x.cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + s.bin + ":/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "EVALROUTER_NO_BROWSER=1"}, env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.cmd.SysProcAttr = pty.Own()
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	go x.read()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it has ended in every test that passes
		<-x.done
		_ = x.cmd.Wait()
		_ = ctrl.Close()
	})
	return x
}

func (x *terminal) read() {
	defer close(x.done)
	buf := make([]byte, 4096)
	for {
		n, err := x.ctrl.Read(buf)
		x.mu.Lock()
		_, _ = x.vt.Write(buf[:n])
		x.sent = append(x.sent, buf[:n]...)
		x.mu.Unlock()
		select {
		case x.fresh <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.vt.String()
}

// shows waits until every text stands on the screen.
func (x *terminal) shows(texts ...string) {
	x.t.Helper()
	x.until(func(screen string) (missing string) {
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				missing = s
			}
		}
		return missing
	})
}

// again waits until a text stands on the screen a second time.
func (x *terminal) again(text string) {
	x.t.Helper()
	x.until(func(screen string) string {
		if strings.Count(screen, text) < 2 {
			return text
		}
		return ""
	})
}

func (x *terminal) until(missing func(screen string) string) {
	x.t.Helper()
	late := time.After(30 * time.Second)
	for {
		what := missing(x.screen())
		if what == "" {
			return
		}
		select {
		case <-x.fresh:
		case <-late:
			x.t.Fatalf("%q does not appear:\n%s", what, x.screen())
		}
	}
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.ctrl, keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the program and checks how it ended.
func (x *terminal) ends(code int) {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(30 * time.Second):
		x.t.Fatalf("%v does not end:\n%s", x.cmd.Args, x.screen())
	}
	_ = x.cmd.Wait()
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("%v ended with %d, want %d:\n%s", x.cmd.Args, got, code, x.screen())
	}
}

const (
	ctrlQ = "\x11"
	home  = "\x1b[H"
)

// The workspace opens from the command line, at the place that was asked for.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := decode[run](t, s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--sample", "5", "--max-cost", "1", "--yes", "--json").stdout)
	t.Run("TUI-01 evalrouter without a command opens it", func(t *testing.T) {
		x := s.inTerminal(t, nil, "evalrouter")
		x.shows("Run a benchmark", "Billing", "Ctrl+Q exit", "1 run")
		x.types(ctrlQ)
		x.ends(0)
	})
	t.Run("TUI-03 EVALROUTER_TUI=off is the line-based shell instead", func(t *testing.T) {
		x := s.inTerminal(t, []string{"EVALROUTER_TUI=off"}, "evalrouter")
		x.shows("Number, or a command")
		x.types("status\r")
		x.shows("arithmetic@1", "Enter, Escape or Left goes back")
		x.types("\r")
		x.again("0  Exit")
		x.types("0\r")
		x.ends(0)
	})
	t.Run("TBM-02 catalog --models -i is the list of models", func(t *testing.T) {
		x := s.inTerminal(t, nil, "evalrouter", "catalog", "--models", "-i")
		x.shows("practice.solver-0.8", "Type to filter")
		x.types("echo")
		x.shows("practice.echo", "Filter: echo")
		x.types("\r")
		x.shows("Published prices")
		x.types(ctrlQ)
		x.ends(0)
	})
	t.Run("TBM-07 catalog -i is the list of benchmarks", func(t *testing.T) {
		x := s.inTerminal(t, nil, "evalrouter", "catalog", "-i")
		x.shows("Benchmarks", "arithmetic", "Type to filter")
		x.types(ctrlQ)
		x.ends(0)
	})
	t.Run("TBM-08 TBM-09 status -i keeps the list of runs live, and Enter opens one", func(t *testing.T) {
		x := s.inTerminal(t, nil, "evalrouter", "status", "-i")
		x.shows("Run history", r.ID[:8])
		second := decode[run](t, s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.5", "--sample", "7", "--max-cost", "1", "--yes", "--json").stdout)
		x.shows(second.ID[:8]) // without a key
		x.types(home + "\r")
		x.shows("Result", second.ID[:8])
		x.types(ctrlQ)
		x.ends(0)
	})
	t.Run("group status -i is the group, a member of it and back", func(t *testing.T) {
		s.ok("evalrouter", "run", "arithmetic", "--model", "practice.solver-0.8", "--model", "practice.echo", "--sample", "5", "--max-cost", "1", "--yes")
		id := strings.TrimSpace(s.ok("evalrouter", "group", "list", "--json", "--jq", ".data[0].id").stdout)
		x := s.inTerminal(t, nil, "evalrouter", "group", "status", id[:8], "-i")
		x.shows("Group "+id[:8], "completed", "Compare the members")
		x.types("\r")
		x.shows("View tasks")
		x.types("\x1b[D") // Left
		x.shows("Group " + id[:8])
		x.types("cs")
		x.shows("PAIR", "VERDICT")
		x.types(ctrlQ)
		x.ends(0)
	})
	t.Run("-i is refused where the workspace is forbidden", func(t *testing.T) {
		x := s.inTerminal(t, []string{"EVALROUTER_TUI=off"}, "evalrouter", "status", "-i")
		x.shows("EVALROUTER_TUI=off forbids", "evalrouter status")
		x.ends(2)
	})
}
