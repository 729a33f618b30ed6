package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// C5: who waits for a slow catalog is told so after two seconds, on a line that
// goes away with the answer. That a fast answer shows nothing of it, TestPatience
// holds, where the clock is the test's.
func TestConventionC5_slowCatalog(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"data":[],"next_cursor":null}`)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(slow.Close)
	x := programInTerminal(t, t.TempDir(), "", []string{"TERM=xterm", "NO_COLOR=1", "EVALROUTER_LOCAL=off"}, program(t, watched), "--base-url", slow.URL, "--allow-http", "catalog")
	x.expect("waiting for 127.0.0.1:")
	close(release)
	x.exit(0)
	if shown := screen(t, x.text()); strings.Contains(shown, "waiting") || !strings.Contains(shown, "No benchmark fits.") {
		t.Errorf("the screen shows\n%s", shown)
	}
}

// S10: no command hands its output to a pager, however long it is.
func TestConventionS10(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	pager := filepath.Join(home, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\ntouch "+home+"/started\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"help run", "help errors", "catalog", "status", "run --help --all"} {
		inTerminal(t, f, home, "", []string{"PAGER=" + pager, "EVALROUTER_PAGER=" + pager}, strings.Fields(line)...).exit(0)
	}
	if _, err := os.Stat(filepath.Join(home, "started")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pager was started: %v", err)
	}
}

// C4: the line of progress is one line of the terminal, narrower when the terminal
// becomes so, and gone when something else is said.
func TestConventionC4_resize(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Hour, Credits: 100 * usd.Dollar})
	t.Cleanup(f.Close)
	x := watchedInTerminal(t, f, t.TempDir(), "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes")
	lines := func(shown string) (n, width int) {
		for l := range strings.Lines(shown) {
			if strings.Contains(l, "0/25") {
				n, width = n+1, len(strings.TrimSpace(l))
			}
		}
		return n, width
	}
	x.expect("0/25  0 %")
	if n, width := lines(screen(t, x.text())); n != 1 || width > 79 {
		t.Errorf("%d lines, %d cells:\n%s", n, width, screen(t, x.text()))
	}
	size := [4]uint16{24, 30}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, x.ctrl.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		t.Fatal(errno)
	}
	x.expectTimes("0/25", strings.Count(x.text(), "0/25")+3) // one may have been on its way
	narrow := x.text()
	if last := narrow[strings.LastIndex(narrow, "\r")+1:]; utf8.RuneCountInString(strings.SplitN(last, "\x1b", 2)[0]) > 29 {
		t.Errorf("a line of a terminal of 30 columns: %q", last)
	}
	x.send("\x03")
	if n, _ := lines(screen(t, x.exit(1))); n != 0 {
		t.Errorf("progress is left on the screen:\n%s", screen(t, x.text()))
	}
}
