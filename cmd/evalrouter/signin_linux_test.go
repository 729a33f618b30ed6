package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// AUT-07: of several workspaces one is chosen, by its number or its name.
func TestChoosesWorkspace_AUT07(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	f.AddWorkspace("00000000-0000-4000-8000-000000000002", "Research")
	home := t.TempDir()
	login := func(answer string) string {
		x := programInTerminal(t, home, "", []string{"TERM=xterm", "NO_COLOR=1"}, program(t, watched), "--base-url", f.URL, "--allow-http", "login", "--no-browser")
		x.expect("Workspace, 1 to 2: ")
		x.send("7\n")
		x.expect("That is none of them.")
		x.send(answer + "\n")
		return screen(t, x.exit(0))
	}
	if out := login("2"); !strings.Contains(out, "Workspace: Research.") || !strings.Contains(out, "  1  Fake   owner\n  2  Research   owner\n") {
		t.Errorf("the screen shows\n%s", out)
	}
	if out := login("fake"); !strings.Contains(out, "Workspace: Fake.") || !strings.Contains(out, "You are signed in there as dana@example.org") {
		t.Errorf("the screen shows\n%s", out)
	}
	// Leaving the question keeps nothing, at the service neither.
	before := f.SignedIn()
	x := programInTerminal(t, t.TempDir(), "", []string{"TERM=xterm", "NO_COLOR=1"}, program(t, watched), "--base-url", f.URL, "--allow-http", "login", "--no-browser")
	x.expect("Workspace, 1 to 2: ")
	x.send("\x03")
	x.exit(5)
	if f.SignedIn() != before {
		t.Errorf("%d are signed in, want %d", f.SignedIn(), before)
	}
}

// Ctrl-C while a browser is waited for keeps nothing, and leaves no port open.
func TestStopsWaiting_AUT01(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "xdg-open"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := programInTerminal(t, home, "", []string{"TERM=xterm", "NO_COLOR=1", "DISPLAY=:0", "PATH=" + home + ":" + os.Getenv("PATH")}, program(t, watched), "--base-url", f.URL, "--allow-http", "login")
	x.expect("Waiting...")
	x.send("\x03")
	if out := screen(t, x.exit(1)); !strings.Contains(out, "stopped waiting for the sign-in (wait_cancelled)") || !strings.Contains(out, "next: evalrouter login") {
		t.Errorf("the screen shows\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(home, ".config", "evalrouter", "credentials.json")); err == nil || f.SignedIn() != 0 {
		t.Errorf("something was kept: %v, %d signed in", err, f.SignedIn())
	}
}

// AUT-05: an account without a workspace is waited for, and the sign-in goes on
// by itself.
func TestWaitsForSetup_AUT05(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	f.SignIns(apitest.SignIn{Later: 2})
	a, out, errs := attendedApp(t.TempDir(), f.URL, "", nil)
	if code := execute(t.Context(), a, "--allow-http", "login", "--no-browser"); code != 0 || !strings.Contains(out.String(), "Workspace: Fake (your only one).") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if !strings.Contains(errs.String(), "has no workspace yet") || !strings.Contains(errs.String(), f.URL+"/setup") {
		t.Errorf("nothing says what is waited for:\n%s", errs)
	}
}

// AUT-10: without any configuration sign-in, and a key from the environment, are
// for the hosted service. The proxy that leads nowhere keeps the test at home.
func TestProduction_AUT10(t *testing.T) {
	t.Parallel()
	for line, env := range map[string]string{"login --no-browser --timeout 5": "X=", "status --timeout 5": "EVALROUTER_API_KEY=erk_k"} {
		cmd := ownProcess(t, t.TempDir(), "https://unused.example", "", []string{"HTTPS_PROXY=http://127.0.0.1:1", env}, strings.Fields(line)...)
		cmd.Args = append(cmd.Args[:1], cmd.Args[4:]...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if cmd.Run() == nil || !strings.Contains(errs.String(), strings.TrimPrefix(profile.Production, "https://")) {
			t.Errorf("%s: %s", line, errs.String())
		}
	}
}

// AUT-22: no flag takes a credential, and the words that speak of one say where
// it is read from.
func TestNoCredentialFlag_AUT22(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	root := tree(a)
	walk([]*argv.Command{root}, func(path []*argv.Command) {
		sets := []*argv.Flags{path[len(path)-1].Flags, root.Shared}
		for _, fs := range sets {
			if fs == nil {
				continue
			}
			for _, f := range fs.List() {
				speaks := false
				for _, w := range []string{"key", "token", "secret", "password", "credential"} {
					speaks = speaks || strings.Contains(f.Long, w)
				}
				if speaks && f.Value != "" && !slices.Contains([]string{"key-env", "idempotency-key", "max-output-tokens"}, f.Long) {
					t.Errorf("%s: --%s %s", strings.Join(words(path), " "), f.Long, f.Value)
				}
			}
		}
	})
}

// AUT-24: the guide tells CI to take both variables from a secret manager.
func TestSignInGuide_AUT24(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(docs(t), "sign-in.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"EVALROUTER_API_KEY", "EVALROUTER_WORKSPACE_ID", "secret manager", "evalrouter login --no-browser"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the guide does not say %q", want)
		}
	}
}

// AUT-11: options has a line for every flag that all commands take and that is a
// setting; --json and --jq say how one answer is printed.
func TestOptions_AUT11(t *testing.T) {
	t.Parallel()
	a, out, _ := attendedApp(t.TempDir(), "https://eval.example", "erk_k", nil)
	if code := execute(t.Context(), a, "options"); code != 0 {
		t.Fatal(out)
	}
	rows := map[string]string{"base-url": "base-url", "workspace-id": "workspace-id", "timeout": "timeout", "allow-http": "plain http", "no-input": "questions", "color": "color"}
	b, _, _ := quietApp()
	for _, f := range tree(b).Shared.List() {
		if f.Long == "json" || f.Long == "jq" {
			continue
		}
		if row := rows[f.Long]; row == "" || !strings.Contains(out.String(), "\n"+row+" ") {
			t.Errorf("nothing in options is --%s:\n%s", f.Long, out)
		}
	}
}
