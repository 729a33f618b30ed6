package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/webtest"
)

// terminal is a person's command line with a home of its own. Its browser is a
// program that writes down the address that it was to open.
type terminal struct {
	t    *testing.T
	bin  string
	home string
	base string
}

func newTerminal(t *testing.T, l *living) *terminal {
	t.Helper()
	bin := os.Getenv("EVALROUTER_TEST_BIN")
	if bin == "" {
		t.Skip("EVALROUTER_TEST_BIN names no folder of built binaries; scripts/test sets it")
	}
	c := &terminal{t: t, bin: filepath.Join(bin, "evalrouter"), home: t.TempDir(), base: l.base}
	if err := os.Mkdir(filepath.Join(c.home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, "bin", "xdg-open"), []byte("#!/bin/sh\nprintf '%s' \"$1\" > \"$HOME/opened.new\" && mv \"$HOME/opened.new\" \"$HOME/opened\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *terminal) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	c.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.bin, append(args, "--base-url", c.base, "--allow-http")...)
	cmd.Env = []string{"HOME=" + c.home, "PATH=" + filepath.Join(c.home, "bin") + ":/usr/bin:/bin", "LANG=C.UTF-8", "DISPLAY=:0", "EVALROUTER_LOCAL=off"}
	return cmd
}

// waiting is a command that goes on; what it prints is read as it comes.
type waiting struct {
	t    *testing.T
	cmd  *exec.Cmd
	text bytes.Buffer
	out  *bufio.Scanner
}

func (c *terminal) begins(args ...string) *waiting {
	c.t.Helper()
	w := &waiting{t: c.t, cmd: c.command(args...)}
	r, err := w.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	w.cmd.Stderr = w.cmd.Stdout
	if err := w.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	w.out = bufio.NewScanner(r)
	return w
}

// says reads until a line fits, and gives what did.
func (w *waiting) says(pattern string) string {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	for w.out.Scan() {
		w.text.WriteString(w.out.Text() + "\n")
		if m := re.FindString(w.out.Text()); m != "" {
			return m
		}
	}
	w.t.Fatalf("the command never says %s:\n%s", pattern, &w.text)
	return ""
}

// ends reads the rest, and demands an exit status.
func (w *waiting) ends(status int) string {
	w.t.Helper()
	for w.out.Scan() {
		w.text.WriteString(w.out.Text() + "\n")
	}
	_ = w.cmd.Wait() // its status is in ProcessState
	if got := w.cmd.ProcessState.ExitCode(); got != status {
		w.t.Errorf("exit %d, want %d:\n%s", got, status, &w.text)
	}
	return w.text.String()
}

const userCode = `[A-Z]{4}-[A-Z]{4}`

// TestBrowser_Login signs the real command line in with a real browser, in both
// ways: a new account by a code that is mistyped first, a code that expires and the one after it, and
// the way back to the terminal without any code.
func TestBrowser_Login(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	l := startTeam(t)
	c := newTerminal(t, l)
	login := c.begins("login", "--no-browser")
	code := login.says(userCode)
	p := b.Open(l.base + "/device")
	p.Sees("Sign in").Tab("Create an account").Enter()
	p.Sees("Your name").Tab("E-mail address").Type("ada@example.org").Tab("Your name").Type("Ada").Tab("Password").Type(browserPassword).Enter()
	p.Sees("Wait to be let in")
	run(t, "accounts", "approve", "ada@example.org", "--data", l.dir).ok(t)
	p.Tab("sign in").Enter()
	p.Sees("Password").Tab("E-mail address").Type("ada@example.org").Tab("Password").Type(browserPassword).Enter()
	p.Sees("Set up your workspace").Tab("Make the workspace").Enter()
	p.Sees("Type the code").Tab("Code").Type("BCDF-GHJK").Enter()
	p.Sees("This code is not known, or it has expired").Tab("Code").Type(code).Enter()
	p.Sees("Compare this code").Sees(code).Tab("I started this on my own terminal").Enter()
	p.Sees("The terminal is signed in")
	if out := login.ends(0); !strings.Contains(out, "Signed in as ada@example.org") {
		t.Errorf("login says:\n%s", out)
	}
	if out := c.begins("whoami").ends(0); !strings.Contains(out, "ada@example.org") {
		t.Errorf("whoami says:\n%s", out)
	}

	late := c.begins("login", "--no-browser")
	expired := late.says(userCode)
	l.sql(t, `UPDATE device_requests SET expires_at = 1 WHERE state = 'pending'`)
	p.Go(l.base + "/device")
	p.Sees("Type the code").Tab("Code").Type(expired).Enter()
	p.Sees("This code is not known, or it has expired")
	late.says("expired")
	p.Tab("Code").Type(late.says(userCode)).Enter()
	p.Sees("Compare this code").Tab("I started this on my own terminal").Enter()
	p.Sees("The terminal is signed in")
	late.ends(0)

	back := c.begins("login")
	back.says(`/authorize\?`)
	var address []byte
	until(t, l, "the address for the browser", func() (ok bool) {
		var err error
		address, err = os.ReadFile(filepath.Join(c.home, "opened"))
		return err == nil
	})
	p.Go(string(address))
	p.Sees("A terminal on this computer wants to act for you").Tab("I started this on my own terminal").Enter()
	p.Sees("This window can be closed")
	if out := back.ends(0); !strings.Contains(out, "Signed in as ada@example.org") {
		t.Errorf("login says:\n%s", out)
	}
	c.begins("logout").ends(0)
	if out := c.begins("whoami").ends(2); !strings.Contains(out, "signed_out") {
		t.Errorf("whoami after logout says:\n%s", out)
	}
}
