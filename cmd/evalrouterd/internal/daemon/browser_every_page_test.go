package daemon_test

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/bring"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/evals"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/webtest"
	"github.com/evalrouter/evalrouter/lib/api"
)

// pictures is a folder for screenshots of every page, narrow and wide.
var pictures = flag.String("pictures", "", "write screenshots of the pages to this folder")

// unbroken is a name without a place to break it.
const unbroken = "acme-with-a-name-that-goes-on-and-on-and-has-no-place-to-break-it-anywhere"

// stop is a page to look at: where it is, and what it says when it is there.
type stop struct{ name, path, says string }

// walk goes through pages with one browser.
type walk struct {
	l    *living
	s    *surfer // the same person without a window
	p    *webtest.Page
	mux  *http.ServeMux
	seen map[string]bool // routes
	ws   string
	key  string
}

// TestBrowser_EveryPage looks at every page of the service at four widths, light
// and dark, filled, empty and refused: nothing lies beyond the edge, everything can
// be reached and seen with the Tab key, text stands out, and fields have labels. A
// page that is new fails it until it is walked through.
func TestBrowser_EveryPage(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	model, let := heldModel(t)
	defer close(let)
	l := startPosted(t, "--allow-private", strings.TrimPrefix(model, "http://"))
	w := &walk{l: l, s: newSurfer(t, l.base), p: b.Open(l.base + "/login"), mux: http.NewServeMux(), seen: map[string]bool{}}
	routes := pageRoutes(t)
	for _, r := range routes {
		w.mux.HandleFunc("GET "+r, http.NotFound)
	}
	w.enters(t)
	w.empty(t)
	w.settings(t)
	w.runs(t, model, let)
	w.agents(t)
	w.refused(t, b)
	for _, r := range routes {
		if !w.seen[r] {
			t.Errorf("no page of %s was looked at", r)
		}
	}
}

// startPosted is a service for many with a mail server that takes every mail.
func startPosted(t *testing.T, more ...string) *living {
	t.Helper()
	address, _ := postbox(t)
	dir := t.TempDir()
	furnish(t, dir)
	settings := filepath.Join(t.TempDir(), "mail.json")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `{"address":%q,"from":"EvalRouter <no-reply@example.org>"}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	l := begin(t, programWithin(t, 10*time.Minute, append([]string{"serve", "--data", dir, "--addr", "127.0.0.1:0", "--mail-file", settings}, more...)...), dir)
	l.awaitBase(t)
	return l
}

// pageRoutes are the pages that a person looks at: every line of the table that is
// read, but files, streams and addresses that only lead on.
func pageRoutes(t *testing.T) (out []string) {
	t.Helper()
	agents, err := traces.New(traces.Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := web.New(web.Options{People: &identity.Service{}, Origin: "https://eval.example.org", Subjects: []web.Subject{&evals.Handlers{People: true}, &bring.Handlers{Service: &byob.Service{}}, agents}})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := regexp.MustCompile(`\.(css|js)$|/stream$|/export$|^/\{\$\}$`)
	for _, r := range s.Table() {
		if r.Method == http.MethodGet && !elsewhere.MatchString(r.Path) {
			out = append(out, r.Path)
		}
	}
	return out
}

// looks goes to pages and holds each to everything.
func (w *walk) looks(t *testing.T, stops ...stop) {
	t.Helper()
	for _, at := range stops {
		w.p.Go(w.l.base + at.path)
		w.p.Sees(at.says)
		w.look(t, at.name)
	}
}

// look holds the page that is open.
func (w *walk) look(t *testing.T, name string) {
	t.Helper()
	var path string
	w.p.Eval(`location.pathname`, &path)
	_, pattern := w.mux.Handler(&http.Request{Method: "GET", URL: &url.URL{Path: path}})
	w.seen[strings.TrimPrefix(pattern, "GET ")] = true
	w.l.held(t, w.p, "page-"+name, w.p.Tabbed)
}

// picture holds a page that may change under the Tab key.
func (l *living) picture(t *testing.T, p *webtest.Page, name string) {
	t.Helper()
	l.held(t, p, name, func() []string { return nil })
}

// held holds a page at every width, light and dark; more is asked once at each
// width, in turn.
func (l *living) held(t *testing.T, p *webtest.Page, name string, more func() []string) {
	t.Helper()
	for i, width := range []int{360, 768, 1024, 1440} {
		for _, dark := range []bool{false, true} {
			faults := p.Look(width, dark)
			if dark == (i%2 == 1) {
				faults = append(faults, more()...)
			}
			for _, fault := range faults {
				t.Errorf("%s at %d%s: %s", name, width, map[bool]string{true: ", dark"}[dark], fault)
			}
			if *pictures == "" || width == 768 || dark && width != 1440 {
				continue
			}
			file := fmt.Sprintf("%s-%d%s.png", name, width, map[bool]string{true: "-dark"}[dark])
			if err := os.WriteFile(filepath.Join(*pictures, file), p.Picture(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fills types into fields of the page, in pairs of label and text, and presses a
// button, with the keyboard alone.
func (w *walk) fills(button string, pairs ...string) *webtest.Page {
	for i := 0; i+1 < len(pairs); i += 2 {
		w.p.Tab(pairs[i]).Type(pairs[i+1])
	}
	return w.p.Tab(button).Enter()
}

// enters goes from no account to a workspace, by way of every page on it.
func (w *walk) enters(t *testing.T) {
	t.Helper()
	const mail = "ada@example.org"
	w.looks(t, stop{"login", "/login", "Password"}, stop{"register", "/register", "Your name"}, stop{"forgotten", "/forgotten", "E-mail address"}, stop{"benchmarks-stranger", "/benchmarks", "arithmetic"})
	w.p.Go(w.l.base + "/register")
	w.p.Sees("Your name")
	w.fills("Create account", "E-mail address", mail, "Your name", "Ada Lovelace, Countess of "+unbroken[:50], "Password", browserPassword).Sees("Code from the mail")
	w.look(t, "verify")
	w.fills("Verify", "Code from the mail", "BCDF-GHJK").Sees("This is not the code")
	w.look(t, "verify-wrong")
	run(t, "accounts", "approve", mail, "--data", w.l.dir).ok(t)
	w.p.Go(w.l.base + "/forgotten")
	w.p.Sees("E-mail address")
	w.fills("Send the code", "E-mail address", "nobody@example.org").Sees("New password")
	w.look(t, "reset")
	w.p.Go(w.l.base + "/login")
	w.p.Sees("Password")
	w.fills("Sign in", "E-mail address", mail, "Password", "not the password").Sees("do not")
	w.look(t, "login-wrong")
	w.fills("Sign in", "E-mail address", mail, "Password", browserPassword).Sees("Set up your workspace")
	w.look(t, "setup")
	w.fills("Make the workspace").Sees("No run was begun yet")
	if status, text := w.s.sends("/login", "/login", url.Values{"email": {mail}, "password": {browserPassword}}); status != 200 {
		t.Fatalf("the sign-in is answered %d\n%s", status, text)
	}
	w.ws = regexp.MustCompile(`workspace=([0-9a-f-]+)"`).FindStringSubmatch(w.s.sees("/traces"))[1]
}

// empty looks at lists before there is anything in them.
func (w *walk) empty(t *testing.T) {
	t.Helper()
	w.looks(t, stop{"runs-empty", "/runs", "No run was begun"}, stop{"groups-empty", "/groups", "No group was begun"}, stop{"traces-empty", "/traces", "No trace has come"}, stop{"datasets-empty", "/datasets", "There is no dataset"},
		stop{"findings-empty", "/traces/findings", "Nothing was found"}, stop{"keys-empty", "/settings/api-keys", "There is no key yet"}, stop{"sign-ins-empty", "/settings/sign-ins", "No terminal is signed in"})
}

// settings looks at what belongs to accounts, with everything in it.
func (w *walk) settings(t *testing.T) {
	t.Helper()
	run(t, "credits", "grant", w.ws, "100", "--note", "the first budget of the year, "+unbroken, "--data", w.l.dir).ok(t)
	w.key = strings.TrimSpace(run(t, "keys", "create", "--workspace", w.ws, "--name", unbroken[:40], "--scopes", "eval:read,eval:write,connections:read,connections:write,billing:read", "--data", w.l.dir).ok(t).stdout)
	for _, other := range []string{"grace.hopper." + unbroken + "@example.org", "bob@example.org"} {
		s := newSurfer(t, w.l.base)
		w.l.enters(t, s, other)
	}
	run(t, "accounts", "approve", "bob@example.org", "--workspace", w.ws, "--role", "member", "--data", w.l.dir).ok(t)
	for _, invited := range []string{"carol@example.org", "carol." + unbroken + "@example.org"} {
		w.s.sends("/settings/members", "/settings/members", url.Values{"do": {"invite"}, "email": {invited}, "role": {"viewer"}})
	}
	bob := newSurfer(t, w.l.base)
	bob.sends("/login", "/login", url.Values{"email": {"bob@example.org"}, "password": {browserPassword}})
	theirs := regexp.MustCompile(`workspace=([0-9a-f-]+)"`).FindAllStringSubmatch(bob.sees("/settings/members"), -1)
	at := "?workspace=" + theirs[len(theirs)-1][1]
	bob.sends("/settings/members"+at, "/settings/members"+at, url.Values{"do": {"invite"}, "email": {"ada@example.org"}, "role": {"admin"}})
	w.l.signsTerminalIn(t, w.s)
	_, code, _ := w.l.device(t)
	sum := sha256.Sum256([]byte(strings.Repeat("v", 50)))
	authorize := "/authorize?" + url.Values{
		"client_id": {"evalrouter-cli"}, "response_type": {"code"}, "redirect_uri": {"http://127.0.0.1:45679/callback"}, "state": {"state-of-the-test"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	w.looks(t, stop{"profile", "/settings", "Join "}, stop{"setup-invited", "/setup", "You are invited"}, stop{"sign-ins", "/settings/sign-ins", "this browser"}, stop{"members", "/settings/members?workspace=" + w.ws, "carol@"},
		stop{"billing", "/settings/billing?workspace=" + w.ws, "the first budget"}, stop{"again", "/login?again=1", "give your password once more"},
		stop{"code", "/device", "Type the code"}, stop{"device", "/device?user_code=" + code, "Compare this code"}, stop{"authorize", authorize, "A terminal on this computer"})
	w.p.Go(w.l.base + "/settings/api-keys?workspace=" + w.ws)
	w.p.Sees("Make a key")
	w.fills("Make the key", "Name", "continuous integration", "What its runs may cost in all, in US dollars", "25").Sees("This is the key")
	w.look(t, "keys")
	w.fills("Make the key", "Name", "continuous integration", "Days that it is good for", "9999").Sees("Make a key")
	w.look(t, "keys-wrong")
}

// signsTerminalIn lets a person's terminal in, so that there is one to end.
func (l *living) signsTerminalIn(t *testing.T, s *surfer) {
	t.Helper()
	code, user, _ := l.device(t)
	page := "/device?user_code=" + user
	if status, text := s.sends(page, "/device/decide", url.Values{"user_code": {user}, "decision": {"approve"}}); status != 200 || !strings.Contains(text, "signed in") {
		t.Fatalf("approving a terminal is answered %d\n%s", status, text)
	}
	if status, got := l.poll(t, code); status != 200 {
		t.Fatalf("the terminal hears %d %v", status, got)
	}
}

// runs looks at runs and groups that are over, and one of each that goes on.
func (w *walk) runs(t *testing.T, model string, let chan struct{}) {
	t.Helper()
	over, flaky := w.l.begun(t, w.key, "practice.solver-0.8", 60), w.l.begun(t, w.key, "practice.flaky", 20)
	group := w.grouped(t, "900000", fields{"kind": "managed", "route_id": "practice.solver-0.8"}, fields{"kind": "managed", "route_id": "practice.solver-0.95"}, fields{"kind": "managed", "route_id": "practice.echo"})
	w.l.finishedRun(t, w.key, over)
	w.l.finishedRun(t, w.key, flaky)
	var g api.GroupRecord
	until(t, w.l, "the group's end", func() bool {
		return w.l.asks(t, w.key, "GET", "/v1/groups/"+group, nil, &g) == 200 && g.Status.Terminal()
	})
	var c struct{ ID string }
	if status := w.l.asks(t, w.key, "POST", "/v1/connections", fields{"name": unbroken[:60], "base_url": model + "/v1", "model_id": "org/" + unbroken, "api_key": "k"}, &c); status != 200 {
		t.Fatalf("the connection is answered %d", status)
	}
	going := w.grouped(t, "800000", fields{"kind": "connection", "connection_id": c.ID}, fields{"kind": "managed", "route_id": "practice.echo"})
	let <- struct{}{}
	w.l.asks(t, w.key, "GET", "/v1/groups/"+going, nil, &g)
	member := slices.IndexFunc(g.Members, func(m api.GroupMember) bool { return m.RunID != "" && !m.Status.Terminal() })
	if member < 0 {
		t.Fatalf("no run of the group goes on: %+v", g.Members)
	}
	live := g.Members[member].RunID
	w.looks(t, stop{"runs", "/runs", "Begun"}, stop{"runs-none", "/runs?status=failed", "is failed"}, stop{"groups", "/groups", "Begun"}, stop{"run", "/runs/" + over, "Provenance"}, stop{"run-flaky", "/runs/" + flaky, "Provenance"}, stop{"run-live", "/runs/" + live, "What happened last"},
		stop{"task", "/runs/" + over + "/tasks/0", "Asked (user)"}, stop{"task-flaky", "/runs/" + flaky + "/tasks/1", "Asked (user)"}, stop{"group", "/groups/" + group, "The comparison"}, stop{"group-live", "/groups/" + going, "Scores on one axis"},
		stop{"comparison", "/groups/" + group + "/comparison", "The group"}, stop{"comparison-early", "/groups/" + going + "/comparison", "Not done"},
		stop{"benchmarks", "/benchmarks", "What it asks"}, stop{"benchmark", "/benchmarks/arithmetic", "Manifest"}, stop{"models", "/models", "Prices are"}, stop{"model", "/models/practice.solver-0.8", "Prices for"}, stop{"billing-spent", "/settings/billing?workspace=" + w.ws, "charge"})
}

// grouped begins a group of models.
func (w *walk) grouped(t *testing.T, most string, models ...fields) string {
	t.Helper()
	var members []fields
	for _, m := range models {
		members = append(members, fields{"model": m})
	}
	var q api.GroupQuoteRecord
	if status := w.l.asks(t, w.key, "POST", "/v1/group-quotes", fields{
		"selection": fields{"profile_ids": []string{"arithmetic@1"}}, "coverage": fields{"mode": "sample", "sample_count": 12, "seed": 3}, "max_charge_microusd": most, "members": members,
	}, &q); status != 200 {
		t.Fatalf("the group's quote is answered %d", status)
	}
	var g api.GroupRecord
	if status := w.l.asks(t, w.key, "POST", "/v1/groups", fields{"group_quote_id": q.ID}, &g); status != 200 {
		t.Fatalf("the group is answered %d", status)
	}
	return g.ID
}

// agents looks at traces and datasets.
func (w *walk) agents(t *testing.T) {
	t.Helper()
	connect := "/traces/connect?workspace=" + w.ws
	w.p.Go(w.l.base + connect)
	w.p.Sees("Make a connection")
	w.fills("Make", "Name", "shop "+unbroken).Sees("This is the ingest key")
	w.look(t, "connect-made")
	_, made := w.s.sends(connect, connect, url.Values{"do": {"make"}, "name": {"shop"}, "kind": {"otlp"}})
	w.l.brings(t, shownKey.FindStringSubmatch(made)[1])
	dataset, _ := w.l.curates(t, w.s)
	in := "?workspace=" + w.ws
	links := traceLink.FindAllStringSubmatch(w.s.sees("/traces"+in), -1)
	w.looks(t, stop{"traces", "/traces" + in, "support"}, stop{"traces-none", "/traces" + in + "&q=nowhere", "No trace is like that"}, stop{"trace", strings.ReplaceAll(links[1][1], "&amp;", "&"), "Attributes"}, stop{"trace-hostile", strings.ReplaceAll(links[0][1], "&amp;", "&"), "Attributes"},
		stop{"connect", connect, "Set it up"}, stop{"findings", "/traces/findings" + in, "Rules"}, stop{"datasets", "/datasets" + in, "orders"}, stop{"dataset", "/datasets/" + dataset + in, "approved"}, stop{"dataset-approved", "/datasets/" + dataset + in + "&review=approved", "Where is my order"},
		stop{"bring", bring.Path + in, "Make the benchmark"}, stop{"version", "/datasets/" + dataset + "/versions/2" + in, "What changed"})
}

// refused looks at pages that say no, and at a run with a link alone.
func (w *walk) refused(t *testing.T, b *webtest.Browser) {
	t.Helper()
	w.looks(t, stop{"missing", "/runs/00000000-0000-4000-8000-00000000dead", "Not done"}, stop{"link-over", "/open/nothing", "This link is over"})
	run := w.l.begun(t, w.key, "practice.echo", 3)
	w.l.finishedRun(t, w.key, run)
	var link api.Link
	if status := w.l.asks(t, w.key, "POST", "/v1/runs/"+run+"/links", fields{"purpose": "report"}, &link); status != 200 {
		t.Fatalf("the link is answered %d", status)
	}
	w.p = b.Open(link.URL)
	w.p.Sees("Provenance")
	w.look(t, "run-by-link")
}
