package tui_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/tui"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// outside is a world in which nobody is signed in yet, and a person can.
func outside(t *testing.T, how apitest.SignIn) *world {
	w := newWorld(t, apitest.Options{})
	w.fake.SignIns(how)
	acc := &signin.Accounts{Dir: t.TempDir(), Transport: evalrouter.NewTransport(), AllowHTTP: true, UserAgent: "test", Now: w.clock.Now, Sleep: w.pause}
	w.token = func() string { return "" }
	w.in = &tui.SignIn{Accounts: acc, Machine: signin.Machine{Name: "desk", Version: "0"}, Origin: w.fake.URL, Again: func() (tui.Service, string, error) {
		token, err := acc.Token(t.Context(), w.fake.URL)
		w.token = func() string { return token }
		return w.service, "Fake", err
	}}
	return w
}

// visit goes where a browser was sent, and follows it back.
func visit(t *testing.T, x *kittest.Harness) {
	t.Helper()
	opened := x.Opened()
	if len(opened) == 0 {
		t.Fatalf("no browser was asked for anything:\n%s", x.Text())
	}
	res, err := http.Get(opened[len(opened)-1])
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the browser came back to %s: %v", res.Status, err)
	}
}

func TestSignIn_AUT16(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		how     apitest.SignIn
		journey func(*testing.T, *world, *kittest.Harness)
	}{
		{"AUT-16 by the browser of this machine", apitest.SignIn{}, func(t *testing.T, w *world, x *kittest.Harness) {
			x.Wants("You are signed out", "Sign in at "+w.fake.URL)
			x.Press(kit.Enter)
			x.Until("this page moves on by itself")
			x.Wants("In the browser of this machine:", "/authorize")
			visit(t, x)
			x.Until("Signed in as dana@example.org")
			x.Wants("Workspace", "Fake", "Kept in")
			x.Press(kit.Enter)
			x.Wants("Account and workspace", "You are", "dana@example.org", "Sign in again")
			x.Press(kit.Esc)
			x.Wants("Home", "$100.00 free")
		}},
		{"AUT-16 by a code", apitest.SignIn{Stages: []string{"approve"}}, func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Tab, kit.Enter)
			x.Until("Signed in as dana@example.org")
			if w.fake.SignedIn() != 1 || len(x.Opened()) != 0 {
				t.Errorf("signed in %d times, opened %q", w.fake.SignedIn(), x.Opened())
			}
		}},
		{"AUT-05 a new account is waited for", apitest.SignIn{Later: 2}, func(_ *testing.T, _ *world, x *kittest.Harness) {
			x.Press(kit.Tab, kit.Enter)
			x.Until("Signed in as dana@example.org")
		}},
		{"a person who says no", apitest.SignIn{Deny: true}, func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Tab, kit.Enter)
			x.Until("Nobody was signed in")
			x.Wants("sign_in_refused", "nothing was stored", "Try again")
			w.fake.SignIns(apitest.SignIn{})
			x.Press(kit.Enter)
			x.Until("Signed in as")
		}},
		{"a service whose page is somebody else's", apitest.SignIn{Foreign: true}, func(t *testing.T, _ *world, x *kittest.Harness) {
			x.Press(kit.Enter)
			x.Until("Nobody was signed in")
			if got := x.Opened(); len(got) != 0 {
				t.Errorf("opened %q", got)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := outside(t, tt.how)
			x := w.home(80, 24)
			pick(x, "account")
			tt.journey(t, w, x)
		})
	}
}

// toKey is the page on which a key is typed.
func toKey(x *kittest.Harness) {
	pick(x, "account")
	x.Press(kit.Tab, kit.Tab, kit.Enter)
}

func TestSignIn_AKeyIsTyped(t *testing.T) {
	t.Parallel()
	keep := func(t *testing.T, w *world, x *kittest.Harness) {
		t.Helper()
		x.Press(kit.Enter)
		x.Until("Signed in as")
		acc, found, err := w.in.Accounts.Find(w.fake.URL)
		if err != nil || !found || acc.Kind != signin.APIKey || acc.WorkspaceID != w.fake.WorkspaceID {
			t.Errorf("kept %+v, %v, %v", acc, found, err)
		}
		if key, err := w.in.Accounts.Token(t.Context(), w.fake.URL); key != w.fake.Token || err != nil {
			t.Errorf("another key is kept, or none: %v", err)
		}
	}
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"TUI-13 it is not on the screen, nor in what the mouse selects", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Type(w.fake.Token)
			x.Wants("API key  ****")
			hides(t, x, w.fake.Token)
			at := row(x, "API key")
			x.Send(kit.Mouse{X: 10, Y: at, Kind: kit.Click, At: w.clock.Now()})
			x.Send(kit.Mouse{X: 70, Y: at, Kind: kit.Drag, At: w.clock.Now()})
			x.Send(kit.Mouse{X: 70, Y: at, Kind: kit.Release, At: w.clock.Now()})
			x.Press(kit.CtrlC)
			if got := x.Clipboard(); got != "" {
				t.Errorf("%q was copied", got)
			}
			x.Wants("You are signed out") // nothing was selected, so that it went back
		}},
		{"TUI-13 what stands around it can be copied, without it", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Send(kit.Paste{Text: " " + w.fake.Token + "\n"})
			at := row(x, "API key")
			x.Send(kit.Mouse{X: 0, Y: at - 1, Kind: kit.Click, At: w.clock.Now()})
			x.Send(kit.Mouse{X: 79, Y: at, Kind: kit.Drag, At: w.clock.Now()})
			x.Send(kit.Mouse{X: 79, Y: at, Kind: kit.Release, At: w.clock.Now()})
			x.Press(kit.CtrlC)
			if got := x.Clipboard(); !strings.Contains(got, "API key") || strings.ContainsAny(got, "*") {
				t.Errorf("%q was copied", got)
			}
			hides(t, x, w.fake.Token)
			keep(t, w, x)
		}},
		{"a slip is taken back", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Type("no, not this")
			x.Press(kit.CtrlU)
			x.Type(w.fake.Token + "x")
			x.Press(kit.Backspace)
			keep(t, w, x)
		}},
		{"nothing is no key", func(_ *testing.T, _ *world, x *kittest.Harness) {
			x.Press(kit.Enter)
			x.Wants("Type or paste the key first")
		}},
		{"a key that the service refuses is kept nowhere", func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/auth/whoami", 1, 401, api.KeyRevoked)
			x.Type(w.fake.Token)
			x.Press(kit.Enter)
			x.Until("Nobody was signed in")
			hides(t, x, w.fake.Token)
			if all, err := w.in.Accounts.List(); len(all) != 0 || err != nil {
				t.Errorf("kept %v, %v", all, err)
			}
			x.Press(kit.Enter)
			x.Type(w.fake.Token)
			keep(t, w, x)
		}},
		{"what cannot be a key is not sent", func(t *testing.T, w *world, x *kittest.Harness) {
			n := w.fake.Count("GET /v1/auth/whoami")
			x.Type("two words")
			x.Press(kit.Enter)
			x.Until("nothing was sent or stored")
			if got := w.fake.Count("GET /v1/auth/whoami"); got != n {
				t.Errorf("asked %d times more", got-n)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := outside(t, apitest.SignIn{})
			x := w.home(80, 24)
			toKey(x)
			tt.steps(t, w, x)
		})
	}
}

// hides fails if a secret stands on the screen, or half of it.
func hides(t *testing.T, x *kittest.Harness, secret string) {
	t.Helper()
	for _, shown := range []string{x.Text(), x.Frame(), string(x.Bytes())} {
		if strings.Contains(shown, secret[:len(secret)/2]) || strings.Contains(shown, secret[len(secret)/2:]) {
			t.Fatalf("the key is shown:\n%s", x.Text())
		}
	}
}

func TestSignIn_SeveralWorkspaces(t *testing.T) {
	t.Parallel()
	w := outside(t, apitest.SignIn{})
	w.fake.AddWorkspace("5b6c7d8e-0000-4000-8000-0000000000aa", "Second")
	x := w.home(80, 24)
	pick(x, "account")
	x.Press(kit.Tab, kit.Enter)
	x.Until("You have 2 workspaces. Which one?")
	x.Type("second")
	x.Press(kit.Enter)
	x.Until("Signed in as")
	acc, found, err := w.in.Accounts.Find(w.fake.URL)
	if err != nil || !found || acc.Workspace != "Second" || !acc.AllowHTTP {
		t.Errorf("kept %+v, %v, %v", acc, found, err)
	}
}

func TestSignIn_LeftBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w := outside(t, apitest.SignIn{})
	w.fake.AddWorkspace("5b6c7d8e-0000-4000-8000-0000000000aa", "Second")
	x := w.home(80, 24)
	pick(x, "account")
	x.Press(kit.Tab, kit.Enter)
	x.Until("Which one?")
	x.Press(kit.Esc)
	x.Rest()
	if all, err := w.in.Accounts.List(); len(all) != 0 || err != nil {
		t.Errorf("kept %v, %v", all, err)
	}
	if n := w.fake.SignedIn(); n != 0 {
		t.Errorf("%d sign-ins are left at the service", n)
	}
}

func TestSignIn_NoBrowserHere(t *testing.T) {
	t.Parallel()
	w := outside(t, apitest.SignIn{Interval: 3600})
	x := w.open(80, 24, route.SignIn{})
	x.Until("/authorize")
	x.Send(kit.Paste{Text: "nothing happens"})
	x.Loop().Send(x.Loop().Stack.Top(), kit.Browsed{URL: "x", Why: "there is no display"})
	x.Until("Check that it shows")
	x.Wants("No browser is opened here (there is no display)", "Only approve a code you asked for")
}

// What was read before a sign-in ended stays on the page, and the account page
// says what happened.
func TestSignIn_EndedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, code := range []api.Code{api.SessionExpired, api.KeyRevoked} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			w := outside(t, apitest.SignIn{})
			x := w.home(80, 24)
			w.fake.Fail("GET /v1/auth/whoami", 9, 401, code)
			w.fake.Fail("GET /v1/credits", 9, 401, code)
			pick(x, "billing")
			x.Wants(string(code), "Sign in: Account and workspace, on Home")
			x.Press(kit.Esc, kit.CtrlU)
			pick(x, "account")
			x.Wants("Your sign-in has ended", string(code), "Sign in", "on another device")
		})
	}
}

// signing are the frames of one who is not signed in.
func signing() []shot {
	return []shot{
		{"signed-out", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "account") }},
		{"sign-in-browser", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			pick(x, "account")
			x.Press(kit.Enter)
			x.Until("this page moves on by itself")
		}},
		{"sign-in-code", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			pick(x, "account")
			x.Press(kit.Tab, kit.Enter)
			x.Until("Check that it shows")
		}},
		{"sign-in-key", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			pick(x, "account")
			x.Press(kit.Tab, kit.Tab, kit.Enter)
			x.Type("what nobody sees")
		}},
	}
}
