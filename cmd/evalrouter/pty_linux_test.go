package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// terminal is a process behind a pseudo-terminal of 80 by 24 cells.
type terminal struct {
	t    *testing.T
	ctrl *os.File
	cmd  *exec.Cmd

	mark  int // output before it has been looked at
	mu    sync.Mutex
	out   bytes.Buffer
	fresh chan struct{}
	done  chan struct{}
}

func openPTY(t *testing.T) (ctrl, tty *os.File) {
	t.Helper()
	ctrl, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	var n, unlock int32
	ioctl := func(f *os.File, req uintptr, arg unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), req, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	ioctl(ctrl, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(ctrl, syscall.TIOCGPTN, unsafe.Pointer(&n))
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	size := [4]uint16{24, 80}
	ioctl(tty, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return ctrl, tty
}

// inTerminal starts evalrouter as it ships against the fake. typed stands in the
// terminal's queue before the process does.
func inTerminal(t *testing.T, f *apitest.Fake, home, typed string, env []string, args ...string) *terminal {
	t.Helper()
	return terminalOf(t, "evalrouter", f, home, typed, env, args...)
}

// watchedInTerminal is inTerminal for tests in which a run is followed, asked about
// or resumed while somebody types.
func watchedInTerminal(t *testing.T, f *apitest.Fake, home, typed string, env []string, args ...string) *terminal {
	t.Helper()
	return terminalOf(t, watched, f, home, typed, env, args...)
}

func terminalOf(t *testing.T, name string, f *apitest.Fake, home, typed string, env []string, args ...string) *terminal {
	t.Helper()
	env = append([]string{"TERM=xterm", "NO_COLOR=1", "EVALROUTER_API_KEY=" + f.Token}, env...)
	return programInTerminal(t, home, typed, env, program(t, name), append([]string{"--base-url", f.URL, "--allow-http"}, args...)...)
}

func programInTerminal(t *testing.T, home, typed string, env []string, path string, args ...string) *terminal {
	t.Helper()
	ctrl, tty := openPTY(t)
	if _, err := ctrl.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), noExitPause[0] + "=" + noExitPause[1]}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = tty, tty, tty, home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	x := &terminal{t: t, ctrl: ctrl, cmd: cmd, fresh: make(chan struct{}, 1), done: make(chan struct{})}
	go x.read()
	t.Cleanup(func() { ctrl.Close(); <-x.done })
	return x
}

func (x *terminal) read() {
	defer close(x.done)
	buf := make([]byte, 4096)
	for {
		n, err := x.ctrl.Read(buf)
		x.mu.Lock()
		x.out.Write(buf[:n])
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

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

// expect waits until the output holds the text, and answers all output so far.
func (x *terminal) expect(text string) string {
	x.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		if s := x.text(); strings.Contains(s, text) {
			return s
		}
		select {
		case <-x.fresh:
		case <-x.done:
			if s := x.text(); strings.Contains(s, text) {
				return s
			}
			x.t.Fatalf("the process ended without %q:\n%s", text, x.text())
		case <-deadline:
			x.t.Fatalf("no %q in:\n%s", text, x.text())
		}
	}
}

// expectTimes waits until the output holds the text so many times.
func (x *terminal) expectTimes(text string, times int) {
	x.t.Helper()
	deadline := time.After(30 * time.Second)
	for strings.Count(x.text(), text) < times {
		select {
		case <-x.fresh:
		case <-deadline:
			x.t.Fatalf("%q is not there %d times in:\n%s", text, times, x.text())
		}
	}
}

func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := x.ctrl.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// waits is the line that comes and goes where an answer takes its time, as any
// may on a busy machine.
func waits() *regexp.Regexp {
	return regexp.MustCompile(`(\rwaiting for [^\r\x1b]*\x1b\[K)+(\r\x1b\[K)?`)
}

// exit waits for the end, checks the exit code, and gives what then stands on
// the terminal: a line that told of waiting is gone.
func (x *terminal) exit(want int) string {
	x.t.Helper()
	err := x.cmd.Wait()
	<-x.done
	got := 0
	var e *exec.ExitError
	if errors.As(err, &e) {
		got = e.ExitCode()
	} else if err != nil {
		x.t.Fatal(err)
	}
	if got != want {
		x.t.Errorf("exit code %d, want %d:\n%s", got, want, x.text())
	}
	return waits().ReplaceAllString(x.text(), "")
}

const question = "Start run with a $1.00 cap?"

// The question that spends: only Enter on "Start run" starts.
func TestApproval_M2_M3_M4_M5(t *testing.T) {
	t.Parallel()
	const (
		up   = "\x1b[A"
		down = "\x1b[B"
	)
	tests := []struct {
		name, typed, keys string
		code, runs        int
	}{
		{"RUN-13 RUN-14 up and Enter starts", "", up + "|\r", 0, 1},
		{"Tab and Enter starts", "", "\t|\r", 0, 1},
		{"RUN-14 Enter alone does not: the cursor is on Cancel", "", "\r", 5, 0},
		{"EXT-09 Escape", "", "\x1b", 5, 0},
		{"RUN-14 Ctrl-C", "", "\x03", 5, 0},
		{"RUN-14 end of input", "", "\x04", 5, 0},
		{"up and down again", "", up + "|" + down + "|\r", 5, 0},
		{"other keys do nothing", "", "y|Y|s|start|leave", 5, 0},
		{"a paste does not walk to yes", "", up + "\r|leave", 5, 0},
		{"RUN-14 what was typed before the question does not count", up + "\r" + up + "\r", "\x1b", 5, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			x := watchedInTerminal(t, f, t.TempDir(), tt.typed, nil, "run", "arithmetic", "--model", "practice.solver-80", "--sample", "5", "--max-cost", "1")
			x.expect(question)
			x.expect("  > Cancel")
			for k := range strings.SplitSeq(tt.keys, "|") {
				if k == "leave" {
					x.leave()
					break
				}
				seen := len(x.text())
				x.send(k)
				if strings.Contains(up+down+"\t", k) {
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

// leave presses Escape until the process ends. One press may arrive together
// with the keys before it, which makes it part of a paste that is ignored.
func (x *terminal) leave() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-x.done:
			return
		case <-tick.C:
			if _, err := x.ctrl.WriteString("\x1b"); err != nil {
				return
			}
		}
	}
}

// redrawn waits until something was drawn after the given length of output, so
// that the next key is a key of its own and no paste.
func (x *terminal) redrawn(after int) {
	x.t.Helper()
	deadline := time.After(30 * time.Second)
	for len(x.text()) == after {
		select {
		case <-x.fresh:
		case <-deadline:
			x.t.Fatalf("nothing was drawn after a key:\n%s", x.text())
		}
	}
}

func TestApprovalPlain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys string
		code, runs int
	}{
		{"start starts", "start\n", 0, 1},
		{"yes does not", "yes\n", 5, 0},
		{"an empty line does not", "\n", 5, 0},
		{"end of input does not", "\x04", 5, 0},
		{"Ctrl-C does not", "\x03", 5, 0},
	}
	for _, tt := range tests {
		t.Run("RUN-14 "+tt.name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			x := inTerminal(t, f, t.TempDir(), "", []string{"TERM=dumb"}, "run", "arithmetic", "--model", "practice.solver-80", "--sample", "5", "--max-cost", "1")
			x.expect("Type start to say yes: ")
			x.send(tt.keys)
			if out := x.exit(tt.code); strings.Contains(out, "\x1b") {
				t.Errorf("a simple terminal got an escape sequence: %q", out)
			}
			if f.Runs() != tt.runs {
				t.Errorf("%d runs, want %d", f.Runs(), tt.runs)
			}
		})
	}
}

// RUN-21 RUN-39: what is missing is asked for, the quote stands before the cap,
// and $5 is suggested. RUN-22: run alone asks for everything.
func TestGuided_RUN21_RUN22_RUN39(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	x := inTerminal(t, f, t.TempDir(), "", []string{"TERM=dumb"}, "run")
	x.expect("Benchmark: ")
	x.send("arithmetics\n") // an unknown name is asked for again
	x.expect("closest: arithmetic")
	x.send("arithmetic\n")
	x.expect("Practice solver 80 %") // the name stands beside what to type
	x.expect("Model: ")
	x.send("nosuch\n")
	x.expect("That is not known")
	x.send("practice.solver-80\n")
	x.expect("How many tasks of 40, or all [25]: ")
	x.send("41\n")
	x.expect("That is not a number from 1 to 40")
	x.send("\n")
	if out := x.expect("25 of 40 tasks"); !strings.Contains(out, "Preview") || strings.Contains(out, "expires") {
		t.Errorf("the preview is not one, or expires:\n%s", out)
	}
	out := x.expect("Spending cap in USD, hard [5.00]: ")
	if strings.Index(out, "Rates") < 0 || strings.Index(out, "Rates") > strings.Index(out, "Spending cap") {
		t.Errorf("the rates do not stand before the question for the cap:\n%s", out)
	}
	x.send("\n")
	x.expect("Start run with a $5.00 cap?")
	x.send("start\n")
	out = x.exit(0)
	if !strings.Contains(out, "95 % interval") || f.Runs() != 1 {
		t.Errorf("%d runs, and no score with an interval in:\n%s", f.Runs(), out)
	}
}

// RUN-27 RUN-31 RUN-32: the checklist holds the models that can run the
// benchmark; Space and Enter select, and Tab goes on from any row, but only once
// something is selected. RUN-28 RUN-29 RUN-30: then the reasoning of the picked
// route is asked for, as far as there is something to choose.
func TestModelPicker_RUN27_RUN31_RUN32(t *testing.T) {
	t.Parallel()
	const down = "\x1b[B"
	tests := []struct {
		name string
		keys []string // before Tab
		ask  string   // what is asked or said next
		say  string   // what is answered, "" for nothing
		want string   // the reasoning of the quote
	}{
		{"RUN-28 efforts", []string{down, " "}, "Reasoning, low, medium, high or default [medium]: ", "high\n", `"reasoning":{"mode":"effort","effort":"high"}`},
		{"RUN-28 the usual effort, selected by Enter", []string{down, "\r"}, "Reasoning, low, medium, high or default [medium]: ", "\n", `"reasoning":{"mode":"effort","effort":"medium"}`},
		{"RUN-29 a budget", []string{" "}, "Thinking tokens, 1,024 to 32,000, or off [default]: ", "1\n4,096\n", `"reasoning":{"mode":"budget","budget_tokens":4096}`},
		{"RUN-29 no budget", []string{" "}, "Thinking tokens", "off\n", `"reasoning":{"mode":"off"}`},
		{"RUN-30 a connection has its provider's default", []string{down, down, " "}, "Reasoning: the provider's default", "", `"connection_id":"`},
		{"another row takes its place", []string{" ", down, " "}, "Reasoning, low", "low\n", `"effort":"low"`},
		{"taken back and selected again", []string{" ", "\r", "\r"}, "Thinking tokens", "default\n", `"mode":"provider_default"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			medium := "medium"
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`)
			}))
			t.Cleanup(endpoint.Close)
			f := apitest.NewFake(apitest.Options{TaskTime: time.Millisecond, Unfit: "practice.echo", Reasoning: map[string]api.ReasoningControls{
				"practice.solver-80": {Mode: "budget", Budget: &api.ReasoningBudget{MinTokens: 1024, MaxTokens: 32000, CanDisable: true}},
				"acme.model-x":       {Mode: "efforts", Efforts: []string{"low", "medium", "high"}, DefaultEffort: &medium},
			}})
			t.Cleanup(f.Close)
			home := t.TempDir()
			inTerminal(t, f, home, "", nil, "connections", "create", "--name", "mine", "--endpoint", endpoint.URL+"/v1", "--model", "m", "--no-key").exit(0)
			inTerminal(t, f, home, "", nil, "connections", "check", "mine").exit(0)
			x := inTerminal(t, f, home, "", nil, "run", "arithmetic", "--sample", "5", "--max-cost", "1")
			if out := x.expect("Tab continues"); strings.Contains(out, "practice.echo") || !strings.Contains(out, "reasoning: low, medium, high") {
				t.Errorf("the list of models:\n%s", out)
			}
			x.press("\t")
			x.expect("select at least 1 first")
			for _, k := range tt.keys {
				x.press(k)
			}
			x.send("\t")
			x.expect(tt.ask)
			x.send(tt.say)
			x.expect(question)
			x.leave()
			x.exit(5)
			for _, m := range f.Mutations() {
				if m.Path == "/v1/quotes" && !strings.Contains(m.Body, tt.want) {
					t.Errorf("no %s in the quote %s", tt.want, m.Body)
				}
			}
			if f.Count("POST /v1/quotes") != 1 {
				t.Errorf("%d quotes", f.Count("POST /v1/quotes"))
			}
		})
	}
}

// RUN-30: what cannot be chosen is said to be so, and nothing is asked.
func TestFixedReasoning_RUN30(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Millisecond, Reasoning: map[string]api.ReasoningControls{"practice.solver-80": {Mode: "fixed"}}})
	t.Cleanup(f.Close)
	x := watchedInTerminal(t, f, t.TempDir(), "", []string{"ACCESSIBLE=1"}, "run", "arithmetic", "--sample", "5", "--max-cost", "1")
	x.expect("reasoning: fixed")
	x.expect("Model: ")
	x.send("practice.solver-80\n")
	x.expect("Reasoning: fixed by the route; there is nothing to choose.")
	x.expect("Type start to say yes: ")
	x.send("no\n")
	x.exit(5)
}

// press sends a key and waits until something was drawn for it.
func (x *terminal) press(k string) {
	x.t.Helper()
	seen := len(x.text())
	x.send(k)
	x.redrawn(seen)
}

// OUT-10 REC-16: Ctrl-C while watching leaves the run alone and says so.
func TestInterruptedWatch_OUT10(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Hour, Credits: 100 * usd.Dollar})
	t.Cleanup(f.Close)
	x := watchedInTerminal(t, f, t.TempDir(), "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes")
	x.expect("0/25  0 %")
	x.send("\x03")
	out := x.exit(1)
	for _, want := range []string{"stopped watching run", "the run goes on", "next: evalrouter wait ", "or: evalrouter cancel "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	for _, m := range f.Mutations() {
		if strings.HasSuffix(m.Path, "/cancel") {
			t.Error("the run was cancelled")
		}
	}
	// PRG-03: elapsed time and status stand on one line of at most 79 cells.
	for _, line := range regexp.MustCompile(`\r([^\r\x1b]*)\x1b\[K`).FindAllStringSubmatch(out, -1) {
		if len(line[1]) > 79 {
			t.Errorf("a progress line of %d cells: %q", len(line[1]), line[1])
		}
	}
}

// CON-02: the key is asked for and not shown.
func TestHiddenKey_CON02_M6(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	x := inTerminal(t, f, t.TempDir(), "", nil, "connections", "create", "--name", "mine", "--endpoint", "https://models.example/v1", "--model", "m")
	x.expect("Provider key (not shown): ")
	x.send("a-secret-key\r")
	if out := x.exit(0); strings.Contains(out, "a-secret") || !strings.Contains(out, "Created connection mine") {
		t.Errorf("output:\n%s", out)
	}
	sent := f.Mutations()
	if len(sent) != 1 || !strings.Contains(sent[0].Body, `"api_key":"a-secret-key"`) {
		t.Errorf("sent %+v", sent)
	}
}

// A terminal gets tables that fit, each with a next step.
func TestTables_OUT05_LST01_LST02(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	inTerminal(t, f, home, "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes").exit(0)
	for _, args := range []string{"catalog", "catalog --models", "status", "connections list", "workspace list"} {
		out := inTerminal(t, f, home, "", nil, strings.Fields(args)...).exit(0)
		lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(out, "\r", "")), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "Next: evalrouter ") {
			t.Errorf("%s ends with %q", args, last)
		}
		for _, l := range lines {
			if len([]rune(l)) > 80 && !strings.HasPrefix(l, "Next:") {
				t.Errorf("%s: a line of %d cells: %q", args, len([]rune(l)), l)
			}
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s: escape sequences in %q", args, out)
		}
	}
}

// OUT-09: --no-input asks nothing, even in a terminal.
func TestNoInput_OUT09(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	for _, args := range []string{
		"run --no-input", "run arithmetic --model practice.solver-80 --max-cost 1 --no-input",
		"run arithmetic --model practice.solver-80 --yes --no-input",
		"connections create --name a --endpoint https://models.example/v1 --model m --no-input",
	} {
		out := inTerminal(t, f, t.TempDir(), "", nil, strings.Fields(args)...).exit(2)
		if !strings.Contains(out, "error: n") { // "nobody can be asked", "no terminal to ask"
			t.Errorf("%s: %s", args, out)
		}
	}
	if f.Runs() != 0 || len(f.Mutations()) != 0 {
		t.Errorf("%d runs, changes %v", f.Runs(), f.Mutations())
	}
}

// In a table too, a score stands with n and its interval, and a simulated one is
// called that.
func TestStatusTable(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	inTerminal(t, f, home, "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes").exit(0)
	out := inTerminal(t, f, home, "", nil, "status").exit(0)
	if !regexp.MustCompile(`\d+\.\d % \[\d+\.\d, \d+\.\d\] +25  simulated`).MatchString(out) {
		t.Errorf("no whole score in:\n%s", out)
	}
}

// EVALROUTER_TUI=off, or no full-screen workspace beside it: the line-based
// shell. TUI-20: its pages stay until Enter, Escape or Left.
func TestShell_TUI20(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]string{"Enter": "\r", "Escape": "\x1b", "Left": "\x1b[D"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			x := inTerminal(t, f, t.TempDir(), "", []string{"EVALROUTER_TUI=off"})
			x.expect("1  Run a benchmark")
			x.expect("Number, or a command such as catalog: ")
			for _, page := range []struct{ typed, line, shows string }{
				{"7", "$ evalrouter credits", "Available  $100.00"},
				{"help exit", "$ evalrouter help exit", "the service stayed out of reach"},
				{"catalog --slug dates", "$ evalrouter catalog --slug dates", "dates@1"},
				{"8", "$ evalrouter options", "SETTING"},
				{"nosuch", "$ evalrouter nosuch", "there is no command"},
			} {
				seen := len(x.text())
				x.send(page.typed + "\n")
				x.expectAfter(seen, "goes back. ")
				if out := x.text()[seen:]; !strings.Contains(out, page.line) || !strings.Contains(out, page.shows) || strings.Contains(out, "Number, or") {
					t.Errorf("%s: the page does not stay, or is another:\n%s", page.typed, out)
				}
				seen = len(x.text())
				x.send(back)
				x.expectAfter(seen, "Number, or a command")
			}
			x.send("exit\n")
			if out := x.exit(0); !strings.Contains(out, "Come back: evalrouter status") {
				t.Errorf("the end:\n%s", out)
			}
			if len(f.Mutations()) != 0 {
				t.Errorf("looking around changed something: %v", f.Mutations())
			}
		})
	}
}

// The journeys of the shell in plain lines, as ACCESSIBLE=1 and a dumb terminal
// get them: a run, its page, its results, the benchmarks and the models.
func TestShellJourney(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	x := inTerminal(t, f, t.TempDir(), "", []string{"ACCESSIBLE=1", "EVALROUTER_TUI=off"})
	say := func(prompt, typed string) {
		t.Helper()
		x.expectAfter(x.mark, prompt)
		x.mark = len(x.text())
		x.send(typed + "\n")
	}
	say("Number, or", "1")
	say("Benchmark: ", "dates")
	say("Model: ", "practice.solver-80")
	say("How many tasks", "5")
	say("Spending cap in USD, hard [5.00]: ", "1")
	say("Type start to say yes: ", "start")
	say("goes back. ", "")
	say("Number, or", "2")
	x.expectAfter(x.mark, "dates@1")
	say("Run to open", "")
	say("Number, or", "4")
	say("Benchmark to read about", "logic@1")
	x.expectAfter(x.mark, "Five-option logic")
	say("goes back. ", "")
	say("Benchmark to read about", "")
	say("Number, or", "5")
	say("Model to read about", "practice.echo")
	x.expectAfter(x.mark, "reasoning: ")
	say("goes back. ", "")
	say("Model to read about", "")
	say("Number, or", "catalog | head")
	x.expectAfter(x.mark, "one command at a time")
	say("Number, or", "0")
	if out := x.exit(0); strings.Contains(out, "\x1b") {
		t.Errorf("a simple terminal got an escape sequence: %q", out)
	}
	if f.Runs() != 1 {
		t.Errorf("%d runs", f.Runs())
	}
}

// expectAfter is expect for what comes behind a length of output.
func (x *terminal) expectAfter(from int, text string) {
	x.t.Helper()
	deadline := time.After(30 * time.Second)
	for !strings.Contains(x.text()[from:], text) {
		select {
		case <-x.fresh:
		case <-x.done:
			if strings.Contains(x.text()[from:], text) {
				return
			}
			x.t.Fatalf("the process ended without %q:\n%s", text, x.text()[from:])
		case <-deadline:
			x.t.Fatalf("no %q in:\n%s", text, x.text()[from:])
		}
	}
}

// telling is a stream that says once when something came.
type telling struct {
	all  bytes.Buffer
	once sync.Once
	came func()
}

func (w *telling) Write(b []byte) (int, error) {
	n, err := w.all.Write(b)
	if strings.Contains(w.all.String(), "Come back: evalrouter wait") {
		w.once.Do(w.came)
	}
	return n, err
}

// Twenty processes with one command submit once. The run ends when all of them
// have found it: one that begins after its end is no longer in the race.
func TestRacingProcesses(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	f := apitest.NewFake(apitest.Options{TaskTime: time.Minute, Credits: 100 * usd.Dollar, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	t.Cleanup(f.Close)
	path, home := program(t, "evalrouter"), t.TempDir()
	ids := make([]string, 20)
	var wg, found sync.WaitGroup
	found.Add(len(ids))
	go func() {
		found.Wait()
		later.Store(int64(24 * time.Hour))
	}()
	for i := range ids {
		wg.Go(func() {
			cmd := exec.Command(path, "--base-url", f.URL, "--allow-http", "run", "arithmetic", "--model", "practice.solver-80", "--full", "--max-cost", "1", "--yes", "--jq", ".id")
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "EVALROUTER_API_KEY=" + f.Token, noExitPause[0] + "=" + noExitPause[1]}
			cmd.Dir = filepath.Clean(home)
			stderr := &telling{came: found.Done}
			cmd.Stderr = stderr
			out, err := cmd.Output()
			stderr.once.Do(found.Done)
			if err != nil {
				t.Errorf("process %d: %v\n%s%s", i, err, out, stderr.all.String())
			}
			ids[i] = string(out)
		})
	}
	wg.Wait()
	if f.Runs() != 1 || f.Count("POST /v1/runs") != 1 {
		t.Errorf("%d runs from %d submissions, want 1 from 1", f.Runs(), f.Count("POST /v1/runs"))
	}
	for i := range ids {
		if ids[i] != ids[0] {
			t.Errorf("processes 0 and %d got %q and %q", i, ids[0], ids[i])
		}
	}
}

// CPL-03: in bash, "ru" and Tab is "run".
func TestTab_CPL03(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	f := fakeService(t)
	home := t.TempDir()
	x := programInTerminal(t, home, "", []string{"TERM=xterm"}, bash, "--norc", "--noprofile", "-i")
	x.send("PS1='ready> '; eval \"$(evalrouter completion bash)\"; echo loaded\n")
	x.expect("loaded\r\n\x1b[?2004h")
	seen := len(x.text())
	x.send("evalrouter ru\t--versio")
	x.expect("evalrouter run --versio")
	if got := x.text()[seen:]; strings.Contains(got, "error") {
		t.Errorf("completing says %q", got)
	}
	x.send("\x15exit\n")
	x.exit(0)
	if f.Count("GET /v1/catalog/benchmarks") != 0 || f.Runs() != 0 {
		t.Error("completing asked the service")
	}
}

// OUT-07: a terminal gets colour, and none with NO_COLOR, in CI or when it is
// dumb. The words stay the same.
func TestColourInTerminal_OUT07(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	plain := inTerminal(t, f, home, "", nil, "catalog", "--refresh").exit(0)
	styles := regexp.MustCompile(`\x1b\[[0-9]+m`)
	coloured := inTerminal(t, f, home, "", []string{"NO_COLOR="}, "catalog", "--refresh").exit(0)
	if !styles.MatchString(coloured) || styles.ReplaceAllString(coloured, "") != plain {
		t.Errorf("coloured:\n%q\nplain:\n%q", coloured, plain)
	}
	for _, kv := range []string{"NO_COLOR=1", "CI=true", "TERM=dumb"} {
		if out := inTerminal(t, f, home, "", []string{"NO_COLOR=", kv}, "catalog", "--refresh").exit(0); strings.Contains(out, "\x1b") {
			t.Errorf("%s: %q", kv, out)
		}
	}
	if out := inTerminal(t, f, home, "", nil, "catalog", "--refresh", "--color", "always").exit(0); !styles.MatchString(out) {
		t.Errorf("--color always: %q", out)
	}
}
