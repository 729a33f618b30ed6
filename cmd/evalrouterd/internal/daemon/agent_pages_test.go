package daemon_test

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// sends fills a form in: it looks for the page's token and posts the fields.
func (s *surfer) sends(page, path string, v url.Values) (int, string) {
	s.t.Helper()
	v.Set("form", s.form(page))
	status, text, _ := s.posts(path, "application/x-www-form-urlencoded", strings.NewReader(v.Encode()))
	return status, text
}

// brings sends a trace of an agent as an exporter does, and one whose texts try
// to leave the page.
func (l *living) brings(t *testing.T, key string) {
	t.Helper()
	good, err := os.ReadFile("../dialect/testdata/genai.otlp.json")
	if err != nil {
		t.Fatal(err)
	}
	const hostile = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0000000000000000000000000000abcd","spanId":"00000000000000cd","name":"<script>alert(1)</script>\u001b[2J\u202e","startTimeUnixNano":"1764500001000000000","endTimeUnixNano":"1764500002000000000",
		"attributes":[{"key":"evalrouter.kind","value":{"stringValue":"agent"}},{"key":"evalrouter.input","value":{"stringValue":"</pre><img src=x onerror=alert(1)>"}}]}]}]}]}`
	for _, body := range []string{string(good), hostile} {
		req, err := http.NewRequest("POST", l.base+"/v1/otlp/v1/traces", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Fatalf("spans are answered %d", res.StatusCode)
		}
	}
}

var (
	shownKey     = regexp.MustCompile(`<p class="secret" tabindex="0">(eri_[A-Za-z0-9_-]+)</p>`)
	traceLink    = regexp.MustCompile(`href="(/traces/[0-9a-f-]{36}\?workspace=[^"]+)"`)
	connectionID = regexp.MustCompile(`name="id" value="([0-9a-f-]{36})"`)
)

// TestAgentPages_TRC12: the Traces page leads to Connect agent, which makes a
// connection, shows how to set an agent up with it, and how what it sends is
// kept. What then comes is shown, and nothing of it leaves the page.
func TestAgentPages_TRC12_ConnectAndLook(t *testing.T) {
	t.Parallel()
	l := startTeam(t)
	s := newSurfer(t, l.base)
	if _, text, _ := s.page("/traces"); !strings.Contains(text, "Sign in") {
		t.Errorf("a stranger sees\n%s", text)
	}
	l.enters(t, s, "ada@example.org")
	s.sees("/traces", "No trace has come yet", `href="/traces/connect?workspace=`, `aria-current="page">Traces</a>`)
	s.sees("/traces/connect", "EVALROUTER_TRACE_KEY=INGEST_KEY", "EVALROUTER_TRACE_CONNECTION_ID=CONNECTION_ID", "OTEL_EXPORTER_OTLP_ENDPOINT="+l.base+"/v1/otlp", "TRACELOOP_BASE_URL="+l.base, "tracing.New(")
	status, made := s.sends("/traces/connect", "/traces/connect", url.Values{"do": {"make"}, "name": {"shop"}, "kind": {"otlp"}})
	key := shownKey.FindStringSubmatch(made)
	if status != 200 || key == nil || strings.Count(made, key[1]) < 4 || strings.Contains(made, "CONNECTION_ID\n") {
		t.Fatalf("making a connection is answered %d\n%s", status, made)
	}
	if text := s.sees("/traces/connect", ">shop <", `name="inputs" value="1" checked`); strings.Contains(text, key[1]) {
		t.Error("the key is shown twice")
	}
	l.brings(t, key[1])
	s.looks(l)
	id := connectionID.FindStringSubmatch(made)[1]
	status, text := s.sends("/traces/connect", "/traces/connect", url.Values{"do": {"save"}, "id": {id}, "outputs": {"1"}, "days": {"7"}, "value": {"512"}, "fields": {"plate, customer name"}})
	if status != 200 || strings.Contains(text, `name="inputs" value="1" checked`) || !strings.Contains(text, `name="outputs" value="1" checked`) || !strings.Contains(text, `value="plate, customer name"`) || !strings.Contains(text, `value="512"`) {
		t.Errorf("what is kept is answered %d\n%s", status, text)
	}
	if status, text := s.sends("/traces/connect", "/traces/connect", url.Values{"do": {"save"}, "id": {id}, "days": {"0"}, "value": {"512"}}); status != 422 || !strings.Contains(text, "Retention_days is 1 to 400") {
		t.Errorf("no days at all is answered %d\n%s", status, text)
	}
	if status, text := s.sends("/traces/connect", "/traces/connect", url.Values{"do": {"disable"}, "id": {id}}); status != 200 || !strings.Contains(text, "have ended") {
		t.Errorf("the end is answered %d\n%s", status, text)
	}
	l.foreign(t, s)
}

// looks reads the list and both traces.
func (s *surfer) looks(l *living) {
	s.t.Helper()
	list := s.sees("/traces", "support", "gpt")
	if strings.Contains(list, "<script>alert") {
		s.t.Error("a name left its place in the list")
	}
	links := traceLink.FindAllStringSubmatch(list, -1)
	if len(links) != 2 {
		s.t.Fatalf("the list leads to %v", links)
	}
	hostile := s.sees(strings.ReplaceAll(links[0][1], "&amp;", "&"), "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;/pre&gt;&lt;img src=x")
	if strings.Contains(hostile, "<img") || strings.Contains(hostile, "\x1b") || strings.Contains(hostile, "\u202e") {
		s.t.Errorf("what an agent took in left its place:\n%s", hostile)
	}
	whole := s.sees(strings.ReplaceAll(links[1][1], "&amp;", "&"), `class="waterfall"`, "<rect ", "invoke_agent support", "Attributes")
	if n := strings.Count(whole, "<li class=\"d"); n < 3 {
		s.t.Errorf("%d steps are drawn", n)
	}
	if status, _, _ := s.page("/traces/00000000-0000-4000-8000-00000000dead"); status != 404 {
		s.t.Errorf("a trace that is not there is answered %d", status)
	}
	s.sees("/traces?q=nowhere", "No trace is like that")
	s.sees("/traces/findings", "Nothing was found", "There is no rule yet")
	s.sees("/datasets", "There is no dataset yet")
}

// foreign: another person finds nothing of it.
func (l *living) foreign(t *testing.T, s *surfer) {
	t.Helper()
	link := traceLink.FindStringSubmatch(s.sees("/traces"))[1]
	other := newSurfer(t, l.base)
	l.enters(t, other, "eve@example.org")
	path, _, _ := strings.Cut(link, "?")
	for _, p := range []string{strings.ReplaceAll(link, "&amp;", "&"), path} {
		if status, text, _ := other.page(p); status != 404 || strings.Contains(text, "support") {
			t.Errorf("a stranger's %s is answered %d", p, status)
		}
	}
	other.sees("/traces", "No trace has come yet")
}

// curates makes a rule that finds something, and a dataset whose items are
// reviewed and sealed on its page, twice, with one more left to review. It gives
// the dataset and its workspace.
func (l *living) curates(t *testing.T, s *surfer) (dataset, workspace string) {
	t.Helper()
	workspace = regexp.MustCompile(`workspace=([0-9a-f-]+)"`).FindStringSubmatch(s.sees("/traces"))[1]
	token := strings.TrimSpace(run(t, "keys", "create", "--workspace", workspace, "--name", "n", "--scopes", "traces:read,traces:write,datasets:read,datasets:write", "--data", l.dir).ok(t).stdout)
	var made struct{ ID string }
	post := func(path string, body fields) {
		t.Helper()
		if status := l.asks(t, token, "POST", path, body, &made); status != 200 {
			t.Fatalf("%s is answered %d", path, status)
		}
	}
	l.sql(t, `UPDATE traces SET updated_at = updated_at - 7200000000`) // they have been quiet for long
	post("/v1/trace-evaluators", fields{"name": "slow", "rule": "slow", "severity": "error", "config": fields{"ms": 1}})
	post("/v1/trace-evaluators/"+made.ID+"/runs", fields{"limit": 100})
	post("/v1/datasets", fields{"name": "orders", "description": "What people ask about orders", "review_policy": fields{"reviewers_required": 1, "allow_self": true}})
	dataset = made.ID
	page := "/datasets/" + dataset + "?workspace=" + workspace
	add := func(input string) {
		t.Helper()
		post("/v1/datasets/"+dataset+"/items", fields{"items": []fields{{"input": fields{"question": input}, "expected": fields{"answer": "yes"}}}})
	}
	for n, input := range []string{"Where is my order?", "May I send it back?"} {
		add(input)
		text := s.sees(page, input, "Approve")
		v := url.Values{"do": {"approve"}, "note": {"good"}}
		for _, name := range []string{"item", "digest"} {
			v.Set(name, regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(text)[1])
		}
		stale := url.Values{"do": {"approve"}, "item": v["item"], "digest": {strings.Repeat("0", 64)}}
		if status, text := s.sends(page, page, stale); status != 422 || !strings.Contains(text, "1 items, 0 approved") && n == 0 {
			t.Errorf("approving what was not shown is answered %d\n%s", status, text)
		}
		if status, text := s.sends(page, page, v); status != 200 || !strings.Contains(text, "No item is pending") {
			t.Errorf("approving is answered %d\n%s", status, text)
		}
		if status, text := s.sends(page, page, url.Values{"do": {"seal"}, "note": {"one more"}}); status != 200 || !strings.Contains(text, "was sealed") {
			t.Errorf("sealing is answered %d\n%s", status, text)
		}
	}
	add("Is it <b>blue</b>?")
	return dataset, workspace
}

// What was found is confirmed, items are reviewed as they stand, and versions
// show what changed.
func TestAgentPages_Curate(t *testing.T) {
	t.Parallel()
	l := startTeam(t)
	s := newSurfer(t, l.base)
	l.enters(t, s, "ada@example.org")
	_, made := s.sends("/traces/connect", "/traces/connect", url.Values{"do": {"make"}, "name": {"shop"}, "kind": {"otlp"}})
	l.brings(t, shownKey.FindStringSubmatch(made)[1])
	dataset, workspace := l.curates(t, s)
	in := "?workspace=" + workspace
	text := s.sees("/traces/findings"+in, "error", ">slow<")
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(text)
	if status, text := s.sends("/traces/findings"+in, "/traces/findings"+in, url.Values{"id": {id[1]}, "status": {"confirmed"}, "note": {""}}); status != 200 || !strings.Contains(text, "<option selected>confirmed") {
		t.Errorf("confirming is answered %d\n%s", status, text)
	}
	s.sees("/datasets"+in, ">orders<")
	s.sees("/datasets/"+dataset+in, "3 items, 2 approved", "Is it &lt;b&gt;blue")
	s.sees("/datasets/"+dataset+in+"&review=approved", "Where is my order?")
	s.sees("/datasets/"+dataset+"/versions/1"+in, "It is the first version")
	s.sees("/datasets/"+dataset+"/versions/2"+in, "Added: 1", `<option value="1" selected>`)
	s.sees("/datasets/"+dataset+"/versions/1"+in+"&against=2", "Removed: 1")

	// A viewer reads all of it and changes nothing.
	eve := newSurfer(t, l.base)
	l.enters(t, eve, "eve@example.org")
	run(t, "accounts", "approve", "eve@example.org", "--workspace", workspace, "--role", "viewer", "--data", l.dir).ok(t)
	if text := eve.sees("/datasets/"+dataset+in, "3 items"); strings.Contains(text, `value="approve"`) || strings.Contains(text, `value="seal"`) {
		t.Errorf("a viewer sees forms:\n%s", text)
	}
	eve.sees("/traces/connect"+in, "who may write make connections")
	for _, path := range []string{"/datasets/" + dataset, "/traces/connect", "/traces/findings"} {
		if status, _ := eve.sends("/settings", path+in, url.Values{"do": {"seal"}, "status": {"open"}, "id": {id[1]}}); status != 403 {
			t.Errorf("a viewer's %s is answered %d", path, status)
		}
	}
}

// An operator who wants no traces has none, on pages and routes.
func TestAgentPages_SwitchedOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	l := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--no-traces")
	l.awaitBase(t)
	s := newSurfer(t, l.base)
	l.enters(t, s, "ada@example.org")
	if text := s.sees("/runs"); strings.Contains(text, `href="/traces"`) || strings.Contains(text, `href="/datasets"`) {
		t.Errorf("pages that are not there are led to:\n%s", text)
	}
	for _, path := range []string{"/traces", "/datasets", "/v1/traces"} {
		if status, text, _ := s.page(path); status == 200 {
			t.Errorf("%s is answered %d %s", path, status, text)
		}
	}
	if _, text, _ := s.page("/v1/meta"); !strings.Contains(text, `"traces":false`) || !strings.Contains(text, `"datasets":false`) || !strings.Contains(text, `"runs"`) && !strings.Contains(text, `"groups":true`) {
		t.Errorf("the service says it has %s", text)
	}
}
