package main

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// C5: who waits for a slow catalog is told so after two seconds, on a line that
// goes away with the answer; a fast answer shows nothing of it.
func TestConventionC5_slowCatalog(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"data":[],"next_cursor":null}`)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(slow.Close)
	x := programInTerminal(t, t.TempDir(), "", []string{"TERM=xterm", "NO_COLOR=1", "EVALROUTER_LOCAL=off"}, program(t), "--base-url", slow.URL, "--allow-http", "catalog")
	x.expect("waiting for 127.0.0.1:")
	close(release)
	out := x.exit(0)
	if shown := screen(t, out); strings.Contains(shown, "waiting") || !strings.Contains(shown, "No benchmark fits.") {
		t.Errorf("the screen shows\n%s", shown)
	}
	if out := inTerminal(t, f, t.TempDir(), "", nil, "catalog").exit(0); strings.Contains(out, "waiting") {
		t.Errorf("a fast answer was waited for:\n%q", out)
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
