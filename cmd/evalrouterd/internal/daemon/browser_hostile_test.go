package daemon_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export/attack"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/webtest"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// everyHostile is which tasks are opened by themselves: a page of one is like that
// of another, and the report holds them all.
const everyHostile = 7

// listener is where attacks would lead to.
type listener struct {
	*httptest.Server
	heard atomic.Int64
	// page is what it shows at /page.
	page string
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			fmt.Fprint(w, l.page)
			return
		}
		l.heard.Add(1)
	}))
	t.Cleanup(l.Close)
	return l
}

// attacks are texts that lead to the listener.
func (l *listener) attacks() (out []string) {
	for _, x := range attack.Texts() {
		out = append(out, strings.ReplaceAll(x, attack.Host, strings.TrimPrefix(l.URL, "http://")))
	}
	return out
}

// strange gives the elements of a page that no page of ours has, whatever texts
// say: other scripts than those that are named, what loads, what runs, and
// addresses outside of the service or the file.
const strange = `(() => {
	const at = location.protocol === "file:" ? location.href.split("#")[0] : location.origin + "/";
	const scripts = [...document.scripts].filter(s => location.protocol === "file:" ? s.src || s.parentElement !== document.body : !s.src.startsWith(at));
	const found = [...scripts];
	if (location.protocol === "file:" && document.scripts.length > 1) found.push(document.scripts[1]);
	for (const e of document.querySelectorAll("*")) {
		if (/^(img|iframe|frame|object|embed|base|audio|video|math|template|use|image|foreignobject|animate|applet|marquee|portal)$/i.test(e.localName)) found.push(e);
		for (const a of e.attributes) {
			if (/^on/i.test(a.name) || a.name === "style" || a.name === "srcdoc" || a.name === "autofocus") found.push(e);
			if (/^(href|src|action|formaction|xlink:href|data|poster|ping|background)$/i.test(a.name) && !new URL(a.value, location.href).href.startsWith(at)) found.push(e);
		}
	}
	return found.map(e => e.outerHTML.slice(0, 300));
})()`

// clean demands that a page shows nothing strange.
func clean(t *testing.T, p *webtest.Page, where string) {
	t.Helper()
	var found []string
	if !p.Eval(strange, &found) {
		t.Errorf("%s: the page cannot be looked at", where)
	}
	if len(found) > 0 {
		t.Errorf("%s has %q", where, found)
	}
}

// quoted is a text as a script writes it.
func quoted(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// modelNames are the attacks that can be the name of a model: an operator's file
// takes one line of 200 characters.
func modelNames(all []string) (out []string) {
	for _, x := range all {
		if strings.TrimSpace(x) != "" && utf8.RuneCountInString(x) <= 200 && string(plain.Line(x)) == x {
			out = append(out, x)
		}
	}
	return out
}

// TestBrowser_Hostile shows five hundred attacks to a real browser, as answers, as
// ids of tasks, as names of models and of runs, on the pages of a real service
// and in the report that it exports. No script runs, nothing is loaded, and where
// the attacks lead to nobody hears anything.
func TestBrowser_Hostile(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	evil := newListener(t)
	texts := evil.attacks()
	evil.notices(t, b, texts)
	names := modelNames(texts)
	if len(texts) < 500 || len(names) < 300 {
		t.Fatalf("%d attacks, of them %d can be the name of a model", len(texts), len(names))
	}
	dir := t.TempDir()
	m := newLed(t, func(task string) (int, string) {
		n, err := strconv.Atoi(task)
		if err != nil || n >= len(texts) {
			return http.StatusBadRequest, ""
		}
		return chat(texts[n], "stop")
	})
	close(m.let)
	ids, routes := make([]string, len(texts)), []ledRoute{{m, "Plain model"}}
	for i := range texts {
		ids[i] = strconv.Itoa(i)
	}
	for _, n := range names {
		routes = append(routes, ledRoute{m, n})
	}
	furnish(t, dir)
	admits(t, dir, ids)
	s := &stage{t: t, living: serveLed(t, dir, "127.0.0.1:0", ledRoutes(t, dir, routes...))}
	_, s.token = s.member(t, newSurfer(t, s.base), "ada@example.org")
	p := b.Open(s.base + "/login?next=/runs")
	s.p, s.seen = p, p.Watch()
	p.Sees("Password").Tab("E-mail address").Type("ada@example.org").Tab("Password").Type(browserPassword).Enter()
	p.Sees("No run was begun yet")

	id := s.accepts(t, s.token, fields{"quote_id": s.quotes(t, s.token, "led.0", "90000000", 16).ID, "name": "plain"})
	if rec := s.finishedRun(t, s.token, id); rec.ProcessedCount != len(texts) {
		t.Fatalf("the run ended with %v", rec.Outcomes)
	}
	s.renamesTasks(id, texts)
	s.readsTasks(id, texts)
	s.readsNames(names)
	s.quiet()
	s.readsReport(b, id, texts)
	if n := evil.heard.Load(); n > 0 {
		t.Errorf("the listener was asked %d times", n)
	}
}

// notices shows that what this test looks at is noticed: the attacks on a page
// that takes them as they are run and load.
func (l *listener) notices(t *testing.T, b *webtest.Browser, texts []string) {
	t.Helper()
	l.page = "<!doctype html><body>"
	for _, x := range texts {
		if !strings.Contains(x, "<!--") && !strings.Contains(x, "refresh") && !strings.Contains(x, "<title") && !strings.Contains(x, "<![CDATA") {
			l.page += "<div>" + x + "</div>\n"
		}
	}
	p := b.Open("about:blank")
	w := p.Watch()
	p.Go(l.URL + "/page")
	var found []string
	p.Until(`document.images.length > 0`)
	p.Eval(strange, &found)
	if len(w.Dialogs()) == 0 || len(found) < 50 || l.heard.Load() == 0 || len(w.Beyond(l.URL+"/page")) == 0 {
		t.Fatalf("on a page without any care %d dialogs, %d strange elements and %d requests were noticed", len(w.Dialogs()), len(found), l.heard.Load())
	}
	t.Logf("without any care: %d dialogs, %d strange elements, %d requests", len(w.Dialogs()), len(found), l.heard.Load())
	p.Go("about:blank")
	p.Until(`location.href === "about:blank"`)
	l.heard.Store(0)
}

// renamesTasks gives the tasks of a run ids that no benchmark may have: the pages
// do not count on who wrote the database.
func (s *stage) renamesTasks(run string, texts []string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "evalrouter.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		s.t.Fatal(err)
	}
	for i, x := range texts {
		// The task that was asked as i stands somewhere in the order of the run.
		if _, err := tx.Exec(`UPDATE samples SET task_id = ? WHERE task_id = ? AND run = (SELECT num FROM runs WHERE id = ?)`, "id "+x, strconv.Itoa(i), run); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// readsTasks leafs through the list of tasks, and opens some of them.
func (s *stage) readsTasks(run string, texts []string) {
	s.t.Helper()
	p, listed := s.p, 0
	p.Go(s.base + "/runs/" + run)
	for {
		p.Until(`document.querySelector("table.tasks tbody tr")`)
		clean(s.t, p, "the list of tasks")
		var rows int
		var next string
		p.Eval(`document.querySelectorAll("table.tasks tbody tr").length`, &rows)
		listed += rows
		p.Eval(`(document.querySelector("a[rel=next]") || {href: ""}).href`, &next)
		if next == "" {
			break
		}
		p.Go(next)
		p.Until(`location.href === ` + quoted(s.t, next))
	}
	if listed != len(texts) {
		s.t.Errorf("%d tasks are listed of %d", listed, len(texts))
	}
	for i := 0; i < len(texts); i += everyHostile {
		path := fmt.Sprintf("/runs/%s/tasks/%d", run, i)
		p.Go(s.base + path)
		p.Until(`location.pathname === ` + quoted(s.t, path) + ` && document.querySelector("h1")`)
		var title string
		var shown []string
		p.Eval(`document.querySelector("h1").textContent`, &title)
		p.Eval(`[...document.querySelectorAll("pre")].map(e => e.textContent)`, &shown)
		clean(s.t, p, fmt.Sprintf("task %d with the id %q", i, title))
		if !strings.HasPrefix(title, "id ") || len(shown) < 3 {
			s.t.Errorf("task %d is called %q and shows %q", i, title, shown)
		}
	}
}

// readsNames looks at the lists of models, at the pages of some of them, and at a
// run and a group of models that are called so.
func (s *stage) readsNames(names []string) {
	s.t.Helper()
	p, listed := s.p, map[string]bool{}
	p.Go(s.base + "/models")
	for {
		p.Until(`document.querySelector("td a")`)
		clean(s.t, p, "the list of models")
		var page []string
		var next string
		p.Eval(`[...document.querySelectorAll("td a")].map(a => a.textContent)`, &page)
		for _, n := range page {
			listed[n] = true
		}
		p.Eval(`(document.querySelector("a[rel=next]") || {href: ""}).href`, &next)
		if next == "" {
			break
		}
		p.Go(next)
		p.Until(`location.href === ` + quoted(s.t, next))
	}
	for _, n := range names {
		if !listed[n] {
			s.t.Errorf("no model is called %q", n)
		}
	}
	for i := 0; i < len(names); i += len(names) / 3 {
		p.Go(fmt.Sprintf("%s/models/led.%d", s.base, 1+i))
		p.Until(`document.querySelector("h1") && document.querySelector("h1").textContent === ` + quoted(s.t, names[i]))
		clean(s.t, p, "the model "+names[i])
	}
	s.readsGroup(names)
}

// readsGroup compares eight models whose names are attacks, in a group that is
// called so too.
func (s *stage) readsGroup(names []string) {
	s.t.Helper()
	p := s.p
	var members []fields
	for i := range 8 {
		members = append(members, fields{"model": fields{"kind": "managed", "route_id": fmt.Sprintf("led.%d", 1+i)}})
	}
	var q struct{ ID string }
	var g api.GroupRecord
	if status := s.asks(s.t, s.token, "POST", "/v1/group-quotes", fields{
		"selection": fields{"profile_ids": []string{"sevens@1"}}, "coverage": fields{"mode": "sample", "sample_count": 2, "seed": 3}, "max_charge_microusd": "8000000", "members": members,
	}, &q); status != 200 {
		s.t.Fatalf("the quote of a group is answered %d", status)
	}
	if status := s.asks(s.t, s.token, "POST", "/v1/groups", fields{"group_quote_id": q.ID, "name": names[0]}, &g); status != 200 {
		s.t.Fatalf("the group is answered %d", status)
	}
	p.Go(s.base + "/groups/" + g.ID)
	p.Sees("The comparison")
	for _, path := range []string{"/groups", "/runs", "/groups/" + g.ID, "/groups/" + g.ID + "/comparison", "/runs/" + g.Members[0].RunID, "/runs/" + g.Members[7].RunID} {
		p.Go(s.base + path)
		p.Until(`location.pathname === ` + quoted(s.t, path) + ` && document.querySelector("h1")`)
		if !strings.Contains(p.Text(), strings.Join(strings.Fields(names[0]), " ")) && !strings.HasSuffix(path, g.Members[7].RunID) {
			s.t.Errorf("%s does not name %q:\n%s", path, names[0], p.Text())
		}
		clean(s.t, p, path)
	}
}

// readsReport opens the exported report as a file, with every task in it.
func (s *stage) readsReport(b *webtest.Browser, run string, texts []string) {
	s.t.Helper()
	status, file, _ := s.export(s.t, s.token, run, "html")
	if status != 200 {
		s.t.Fatalf("the export is answered %d", status)
	}
	path := filepath.Join(s.t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		s.t.Fatal(err)
	}
	p := b.Open("about:blank")
	w := p.Watch()
	p.Go("file://" + path)
	p.Until(fmt.Sprintf(`document.querySelectorAll("#list details").length === %d`, len(texts)))
	p.Press("#text").Type("script")
	p.Until(`document.getElementById("found").textContent !== ""`)
	p.Type("")
	var open int
	p.Eval(`[...document.querySelectorAll("details")].map(d => d.open = true).length`, &open)
	clean(s.t, p, "the report")
	var policy string
	p.Eval(`document.querySelector("meta[http-equiv=Content-Security-Policy]").content`, &policy)
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || open != len(texts) {
		s.t.Errorf("the report has the policy %q and %d tasks", policy, open)
	}
	if more := append(w.Beyond("file://"+path), append(w.Faults(), w.Dialogs()...)...); len(more) > 0 {
		s.t.Errorf("the report did %q", more)
	}
}
