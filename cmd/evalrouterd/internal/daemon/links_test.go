package daemon_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// lookers are what browsers without an account were given: one that was opened and
// one that is still to be.
type lookers struct {
	run, link string
	opened    *surfer
}

// links makes a link to a run and opens it.
func (l *living) links(t *testing.T, run, token string) lookers {
	t.Helper()
	var link api.Link
	if status := l.decoded(t, "POST", "/v1/runs/"+run+"/links", fields{"purpose": "report"}, &link, append(bearer(token), "X-Workspace-Id", "main")...); status != 200 {
		t.Fatalf("the link is answered %d", status)
	}
	v := lookers{run, strings.TrimPrefix(link.URL, l.base), newSurfer(t, l.base)}
	v.opened.sees(v.link, "Provenance")
	return v
}

// see demands that both see the run, or neither does: a browser whose stay has
// ended is led to the sign-in.
func (v lookers) see(t *testing.T, l *living, want bool) {
	t.Helper()
	v.opened.base = l.base
	for path, s := range map[string]*surfer{"/runs/" + v.run: v.opened, v.link: newSurfer(t, l.base)} {
		status, text, _ := s.page(path)
		if saw := strings.Contains(text, "Provenance"); saw != want || !want && !strings.Contains(text, "This link is over") && !strings.Contains(text, "Password") {
			t.Errorf("%s is answered %d, and the run is seen: %v\n%s", path, status, saw, text)
		}
	}
}

// TestLinks_EndWithTheirMaker: a link and what it opened are good for as long as
// whoever made them may look, and is signed in as then; another's go on.
func TestLinks_EndWithTheirMaker(t *testing.T) {
	t.Parallel()
	l := startTeam(t)
	run(t, "credits", "grant", "main", "1", "--data", l.dir).ok(t)
	made := func(name string) string {
		return strings.TrimSpace(run(t, "keys", "create", "--workspace", "main", "--name", name, "--scopes", "eval:read,eval:write", "--data", l.dir).ok(t).stdout)
	}
	key := made("stays")
	shown := l.begun(t, key, "practice.echo", 3)
	l.finishedRun(t, key, shown)
	other := l.links(t, shown, key)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("another password for ada"), 0o600); err != nil {
		t.Fatal(err)
	}
	const members = "/settings/members?workspace=main"
	for i, tt := range []struct {
		name string
		end  func(g *guest, email, refresh string)
	}{
		{"the terminal signs out", func(_ *guest, _, refresh string) {
			res, err := http.PostForm(l.base+"/v1/auth/revoke", url.Values{"client_id": {"evalrouter-cli"}, "token": {refresh}})
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}},
		{"its sign-in is ended in the settings", func(g *guest, _, _ string) { g.open("/settings/sign-ins").fill("/settings/sign-ins") }},
		{"the password is changed", func(g *guest, _, _ string) {
			g.open("/settings").fill("/settings/password", "old", guestPassword, "new", "another password for ada")
		}},
		{"the operator sets another password", func(_ *guest, email, _ string) {
			run(t, "accounts", "password", email, "--file", secret, "--data", l.dir).ok(t)
		}},
		{"the account is kept out", func(_ *guest, email, _ string) { run(t, "accounts", "disable", email, "--data", l.dir).ok(t) }},
		{"the person leaves the workspace", func(g *guest, _, _ string) { g.open(members).fill(members, "do", "remove") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, email := l.guest(t), string(rune('a'+i))+"da@example.org"
			g.joins(email, "--workspace", "main", "--role", "member")
			_, access, refresh := g.authorized()
			v := l.links(t, shown, access)
			v.see(t, l, true)
			tt.end(g, email, refresh)
			v.see(t, l, false)
			other.see(t, l, true)
		})
	}
	t.Run("the key is revoked", func(t *testing.T) {
		gone := made("goes")
		v := l.links(t, shown, gone)
		run(t, "keys", "revoke", gone[:12], "--data", l.dir).ok(t)
		v.see(t, l, false)
		other.see(t, l, true)
	})
	t.Run("a backup is restored", func(t *testing.T) {
		g := l.guest(t)
		g.joins("zoe@example.org", "--workspace", "main", "--role", "member")
		_, access, _ := g.authorized()
		v, dir, file := l.links(t, shown, access), t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
		run(t, "backup", "--data", l.dir, file).ok(t)
		carry(t, l.dir, dir)
		run(t, "restore", "--data", dir, "--from", file).ok(t)
		run(t, "recover", "--ack", "--keep-keys", "--data", dir).ok(t)
		there := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0")
		there.awaitBase(t)
		v.see(t, there, false)
		other.see(t, there, true) // keys were kept
		v.see(t, l, true)
	})
}
