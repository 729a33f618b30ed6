package daemon_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/webtest"
	"github.com/evalrouter/evalrouter/lib/api"
)

// kinds are ids of tasks, each named for what becomes of it.
var kinds = []string{"right", "wrong", "extraction_failed", "truncated", "empty", "refused", "provider_error", "right-2"}

// answersByKind answers a task as its id says.
func answersByKind(task string) (int, string) {
	switch task {
	case "wrong":
		return chat("ANSWER: 8", "stop")
	case "extraction_failed":
		return chat("I would rather not say.", "stop")
	case "truncated":
		return chat("Let me begin with the three", "length")
	case "empty":
		return chat("", "stop")
	case "refused":
		return http.StatusOK, `{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"content_filter"}],"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}}`
	case "grader_error": // no pattern is looked for that long
		return chat(strings.Repeat("x", 4000), "stop")
	case "provider_error":
		return http.StatusBadRequest, `{"error":{"message":"this prompt cannot be read","type":"invalid_request_error","code":"context_length_exceeded"}}`
	}
	return chat("Three and four.\nANSWER: 7", "stop")
}

// stage is a service for many with two models that tests lead, a person who has
// signed in at a browser, and a key of their workspace.
type stage struct {
	*living
	t          *testing.T
	fast, slow *led
	routes     string
	token      string
	p          *webtest.Page
	seen       *webtest.Watch
	// opened are the outcomes of tasks that were looked at.
	opened map[string]bool
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := webtest.Start(t)
	dir := t.TempDir()
	s := &stage{t: t, fast: newLed(t, answersByKind), slow: newLed(t, answersByKind), opened: map[string]bool{}}
	furnish(t, dir)
	admits(t, dir, kinds)
	// The judge answers as any model does, which is no verdict.
	admitsAs(t, dir, "judged", fields{"kind": "inspect/model_graded_qa", "options": fields{"judges": []string{"led.1"}}}, []string{"a", "b", "c", "d", "e"})
	admitsAs(t, dir, "endless", fields{"kind": "inspect/pattern", "options": fields{"pattern": `((?:x+x+)+y|7)`}}, []string{"grader_error"})
	s.routes = ledRoutes(t, dir, ledRoute{s.fast, "Fast model"}, ledRoute{s.slow, "Slow model"})
	s.living = serveLed(t, dir, "127.0.0.1:0", s.routes)
	_, s.token = s.member(t, newSurfer(t, s.base), "ada@example.org")
	s.p = b.Open(s.base + "/login?next=/runs")
	s.seen = s.p.Watch()
	s.p.Sees("Password").Tab("E-mail address").Type("ada@example.org").Tab("Password").Type(browserPassword).Enter()
	s.p.Sees("No run was begun yet")
	return s
}

// quiet demands that the pages asked nobody else, and that no script failed.
func (s *stage) quiet() {
	s.t.Helper()
	if more := append(s.seen.Beyond(s.base+"/"), append(s.seen.Faults(), s.seen.Dialogs()...)...); len(more) > 0 {
		s.t.Errorf("besides what the pages are for there was %q", more)
	}
}

// TestBrowser_Live watches a run with a real browser: from its list, over a
// departure and the death of the service, to its report. Then a group, to its
// comparison.
func TestBrowser_Live(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p, m := s.p, s.slow
	id := s.starts(t, s.token, "led.1", "nightly")
	p.Go(s.base + "/runs")
	p.Sees("nightly").Press(`a[href="/runs/` + id + `"]`)
	p.Sees("nothing is graded so far").Sees("0 of 8 tasks are decided")
	s.picture(t, p, "run-live")
	m.let <- struct{}{}
	p.Sees("1 of 8 tasks are decided")

	p.Go(s.base + "/models") // leave
	p.Sees("Slow model")
	m.let <- struct{}{}
	until(t, s.living, "the second task", func() bool {
		var r api.RunRecord
		return s.asks(t, s.token, "GET", "/v1/runs/"+id, nil, &r) == 200 && r.ProcessedCount == 2
	})
	p.Back() // and return
	p.Sees("2 of 8 tasks are decided")
	m.let <- struct{}{}
	p.Sees("3 of 8 tasks are decided")

	// The service dies and comes back at its address; the page goes on by itself
	// from what it saw last.
	addr := strings.TrimPrefix(s.base, "http://")
	s.signal(t, syscall.SIGKILL)
	s.ended(t)
	p.Sees("Not connected")
	s.living = serveLed(t, s.dir, addr, s.routes)
	p.Until(`document.getElementById("lost").hidden`)
	close(m.let)
	p.Sees("Provenance").Sees("Finished")
	if len(s.seen.Returns()) == 0 {
		t.Error("the page never said what it saw last")
	}
	s.picture(t, p, "run-finished")
	s.opensTasks(id)
	s.watchesGroup()
	s.quiet()
}

// opensTasks opens the tasks that the page of a run lists, one of each outcome
// that was not opened before, and finds there what the list says about it.
func (s *stage) opensTasks(run string) api.RunRecord {
	s.t.Helper()
	p, rec := s.p, s.finishedRun(s.t, s.token, run)
	p.Go(s.base + "/runs/" + run)
	p.Sees("Provenance")
	var rows []struct{ Href, ID, Outcome string }
	p.Eval(`[...document.querySelectorAll("table.tasks tbody tr")].map(r => ({href: r.querySelector("a").getAttribute("href"), id: r.querySelector("a").innerText, outcome: r.querySelector('[data-label="Outcome"]').innerText.trim()}))`, &rows)
	if len(rows) != rec.PlannedCount {
		s.t.Fatalf("%d tasks are listed of %d", len(rows), rec.PlannedCount)
	}
	for _, r := range rows {
		if s.opened[r.Outcome] {
			continue
		}
		s.opened[r.Outcome] = true
		p.Press(`a[href="` + r.Href + `"]`)
		p.Until(fmt.Sprintf(`location.pathname === %q && document.querySelector("h1").innerText === %q && document.querySelector("h1 + p b").innerText === %q`, r.Href, r.ID, r.Outcome))
		p.Sees("Asked (user)").Sees("how much is 3 + 4?")
		if r.Outcome == "right" || r.Outcome == "wrong" {
			p.Sees("Expected").Sees("Taken as answer")
		}
		s.picture(s.t, p, "task-"+strings.ReplaceAll(r.Outcome, " ", "-"))
		p.Back()
		p.Until(fmt.Sprintf(`location.pathname === %q`, "/runs/"+run))
	}
	return rec
}

// TestBrowser_KindsOfTasks opens a task of every outcome that there is: answered,
// errors of models, judges and graders, and those that a cap, a person, a
// continuation or a broken panel left.
func TestBrowser_KindsOfTasks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	close(s.fast.let)
	least := *s.quotes(t, s.token, "led.0", "50000000", 1).MinimumCapMicrousd
	capped := s.accepts(t, s.token, fields{"quote_id": s.quotes(t, s.token, "led.0", (least + 14_000).Wire(), 1).ID, "name": "capped"})
	s.opensTasks(capped)
	var q api.QuoteRecord
	s.decoded(t, "POST", "/v1/runs/"+capped+"/continuation-quotes", fields{"max_charge_microusd": "10000000"}, &q, bearer(s.token)...)
	next := s.accepts(t, s.token, fields{"quote_id": q.ID, "acknowledgements": fields{"left_out": true}})
	s.opensTasks(next)
	s.p.Sees("The run that this one continues").Press(`a[href="/runs/` + capped + `"]`)
	s.p.Sees("The run that continues this one")

	stopped := s.starts(t, s.token, "led.1", "stopped")
	s.slow.let <- struct{}{}
	until(t, s.living, "the first task", func() bool {
		var r api.RunRecord
		return s.asks(t, s.token, "GET", "/v1/runs/"+stopped, nil, &r) == 200 && r.ProcessedCount > 0
	})
	s.asks(t, s.token, "POST", "/v1/runs/"+stopped+"/cancel", nil, nil)
	close(s.slow.let)
	s.opensTasks(stopped)
	for _, of := range []string{"judged@1", "endless@1"} {
		q := s.quotesOf(t, s.token, of, "led.0", "50000000", 1)
		s.opensTasks(s.accepts(t, s.token, fields{"quote_id": q.ID, "name": of}))
	}
	for _, want := range []string{"right", "wrong", "no answer found", "cut off", "empty", "refused", "provider error", "not run (cap)", "left out", "cancelled", "judge error", "grader error", "pending"} {
		if !s.opened[want] {
			t.Errorf("no task is %q: %v", want, s.opened)
		}
	}
	s.quiet()
}

// watchesGroup watches a group to its comparison.
func (s *stage) watchesGroup() {
	t, p, l, token := s.t, s.p, s.living, s.token
	t.Helper()
	var q struct{ ID string }
	member := func(route string) fields { return fields{"model": fields{"kind": "managed", "route_id": route}} }
	if status := l.asks(t, token, "POST", "/v1/group-quotes", fields{
		"selection": fields{"profile_ids": []string{"arithmetic@1"}}, "coverage": fields{"mode": "sample", "sample_count": 40, "seed": 3}, "max_charge_microusd": "2000000",
		"members": []fields{member("practice.solver-0.8"), member("practice.solver-0.5")},
	}, &q); status != 200 {
		t.Fatalf("the quote of a group is answered %d", status)
	}
	var g api.GroupRecord
	if status := l.asks(t, token, "POST", "/v1/groups", fields{"group_quote_id": q.ID, "name": "two solvers"}, &g); status != 200 {
		t.Fatalf("the group is answered %d", status)
	}
	p.Go(l.base + "/groups")
	p.Sees("two solvers").Press(`a[href="/groups/` + g.ID + `"]`)
	p.Sees("Scores on one axis").Sees("The comparison") // by itself, once both have ended
	l.picture(t, p, "group-finished")
	p.Press(`a[href="/groups/` + g.ID + `/comparison"]`)
	p.Sees("2 runs of the same tasks").Sees("What is the same")
	l.picture(t, p, "comparison")
	p.Go(l.base + "/groups/" + g.ID)
	p.Sees("The comparison").Press(`a[href="/runs/` + g.Members[1].RunID + `"]`)
	p.Sees("Provenance").Sees("The group of this run")
}
