package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// stage is what a transcript is played on.
type stage struct {
	t    *testing.T
	f    *apitest.Fake
	home string
	// ahead is how far the service's clock has been put forward.
	ahead atomic.Int64
}

func later(d time.Duration) func(*stage) {
	return func(s *stage) { s.ahead.Add(int64(d)) }
}

// step is one command of a transcript: what is typed in front of the terminal,
// and the exit code.
type step struct {
	line  string
	say   []string // prompt, answer, prompt, answer...
	keys  []string // pressed one by one at the last question
	code  int
	setup func(*stage)
	then  []string     // pressed when the question comes a second time
	env   []string     // beside the usual
	last  func(*stage) // happens before the last of keys is pressed
}

// The screens of the command line as a terminal of 80 columns shows them, whole.
// Ids, times and addresses stand as marks.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	const base = "run arithmetic --model practice.solver-80 --sample 10"
	const several = base + " --model practice.echo --model acme.model-x"
	up, out := "\x1b[A", []string{"EVALROUTER_API_KEY="} // signed out
	tests := []struct {
		name  string
		opt   apitest.Options
		steps []step
	}{
		{"first-run", apitest.Options{}, []step{{line: "", say: []string{"Number, or a command such as catalog: ", "0\n"}}}},
		{"catalog", apitest.Options{InReview: true}, []step{{line: "catalog"}, {line: "catalog"}, {line: "catalog --models"}, {line: "catalog --slug dates"}, {line: "catalog --jq .data[].slug"}}},
		{"guided-run", apitest.Options{}, []step{
			{line: base, say: []string{"hard [5.00]: ", "\n"}, keys: []string{up, "\r"}},
			{line: base + " --new", say: []string{"hard [5.00]: ", "2\n"}, keys: []string{up, "\r"}},
			{line: "status"}, {line: "results RUN --diff"},
		}},
		{"unattended", apitest.Options{}, []step{
			{line: base + " --max-cost 5 --yes --progress plain"}, {line: base + " --no-input", code: 2}, {line: base + " --max-cost 5 --yes --no-input", code: 2},
		}},
		{"quote-expired", apitest.Options{}, []step{
			{line: base + " --max-cost 1", keys: []string{up, "\r"}, then: []string{up, "\r"}, last: func(s *stage) {
				s.f.Reprice("practice.solver-80", usd.Dollar, 3*usd.Dollar)
				s.f.Expire()
			}},
		}},
		{"sign-in", apitest.Options{}, []step{
			{line: "whoami", code: 2, env: out}, {line: "login --no-browser", env: out, setup: func(s *stage) { s.f.SignIns(apitest.SignIn{Stages: []string{"approve"}}) }},
			{line: "whoami", env: out}, {line: "workspace list", env: out}, {line: "login", env: append(out, "SSH_TTY=/dev/pts/1")}, {line: "logout", env: out},
			{line: "login --no-browser", env: out, code: 1, setup: func(s *stage) { s.f.SignIns(apitest.SignIn{Deny: true}) }},
		}},
		{"declined", apitest.Options{}, []step{{line: base + " --max-cost 1", keys: []string{"\r"}, code: 5}}},
		{"names", apitest.Options{}, []step{
			{line: "run arithmetc --model practice.echo", code: 2}, {line: "run arithmetic --model practice.eco", code: 2}, {line: "run arithmetic --model practice", code: 2},
			{line: "rnu arithmetic", code: 2}, {line: "catalog --sort sise", code: 2}, {line: "wait 00000000", code: 2},
		}},
		{"money", apitest.Options{Credits: 2 * usd.Dollar}, []step{{line: base + " --max-cost 60 --yes", code: 2}, {line: base + " --max-cost 0.00001 --yes", code: 2}, {line: "credits"}}},
		{"outage", apitest.Options{}, []step{
			{line: base + " --max-cost 1 --yes"},
			{line: "wait RUN --disconnect-timeout 1", code: 6, setup: func(s *stage) { s.f.Fail("GET /v1/runs/{id}", 1000, 503, api.Unavailable) }},
		}},
		{"interrupted", apitest.Options{TaskTime: time.Hour}, []step{{line: base + " --max-cost 1 --yes", say: []string{"0/10  0 %", "\x03"}, code: 1}}},
		{"settings", apitest.Options{}, []step{{line: "options"}, {line: "doctor"}}},
		{"connections", apitest.Options{}, []step{
			{line: "connections create --name mine --endpoint https://models.example/v1 --model m --no-key"}, {line: "connections list"}, {line: "connections update mine --name ours"}, {line: "connections disable ours"},
		}},
		{"saved", apitest.Options{}, []step{
			{line: base + " --max-cost 1 --yes --progress off"}, {line: "export RUN --format json,csv"}, {line: "export RUN --output evalrouter-RUN.json", code: 2}, {line: "open RUN"},
		}},
		{"resume", apitest.Options{}, []step{
			{line: "resume RUN", setup: stopped, say: []string{"hard [5.00]: ", "1\n"}, keys: []string{up, "\r"}, then: []string{"\r"}, code: 5},
			{line: "resume RUN", setup: reshaped("{}"), say: []string{"hard [5.00]: ", "1\n"}, keys: []string{up, "\r"}},
			{line: "resume RUN --max-cost 1", code: 2}, {line: "resume RUN2 --max-cost 1 --yes --no-input", code: 2},
		}},
		{"group", apitest.Options{}, []step{
			{line: several, say: []string{"hard [5.00]: ", "6\n"}, keys: []string{up, "\r"}},
			{line: "group list"}, {line: "group compare GROUP --stats"}, {line: several, keys: []string{"\r"}, code: 5},
		}},
		{"group-left", apitest.Options{TaskTime: time.Hour}, []step{
			{line: several + " --max-cost 6 --yes", say: []string{"0/30  0 %", "\x03"}, code: 1},
			{line: "group status GROUP", setup: later(7*time.Hour + 30*time.Minute)}, {line: "group compare GROUP", code: 2},
			{line: "group cancel GROUP"}, {line: "group status GROUP"},
		}},
		{"compare", apitest.Options{}, []step{
			{line: "compare RUN3 RUN2 RUN --stats", setup: graded}, {line: "compare RUN3 RUN2 RUN --output mine"}, {line: "compare RUN3 RUN2 --output mine", code: 2},
			{line: "compare RUN2 RUN", code: 2, setup: func(s *stage) { startedRun(s.t, s.f, "practice.echo", 10, usd.Dollar) }},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.opt.TaskTime == 0 {
				tt.opt.TaskTime = time.Millisecond
			}
			if tt.opt.Credits == 0 {
				tt.opt.Credits = 100 * usd.Dollar
			}
			s := &stage{t: t, home: shortHome(t)}
			tt.opt.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
			s.f = apitest.NewFake(tt.opt)
			t.Cleanup(s.f.Close)
			var page strings.Builder
			for _, st := range tt.steps {
				page.WriteString("$ " + strings.TrimSpace("evalrouter "+st.line) + "\n" + s.play(t, st) + "\n")
			}
			golden(t, filepath.Join("testdata", "transcript", tt.name+".txt"), page.String())
		})
	}
}

// shortHome is a home whose path has the same length every time, so that lines
// break at the same places.
func shortHome(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("/tmp", fmt.Sprintf("er-%016x", rand.Uint64()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (s *stage) play(t *testing.T, st step) string {
	t.Helper()
	if st.setup != nil {
		st.setup(s)
	}
	line := s.named(st.line)
	x := inTerminal(t, s.f, s.home, "", append([]string{"EVALROUTER_TUI=off", "TZ=UTC"}, st.env...), strings.Fields(line)...)
	for i := 0; i+1 < len(st.say); i += 2 {
		x.expect(st.say[i])
		x.send(st.say[i+1])
	}
	for n, keys := range [][]string{st.keys, st.then} {
		for i, k := range keys {
			if i == 0 {
				x.expectTimes("  > Cancel", n+1)
			}
			if i < len(keys)-1 {
				x.press(k)
				continue
			}
			if n == 0 && st.last != nil {
				st.last(s)
			}
			x.send(k)
		}
	}
	raw := x.exit(st.code)
	if os.Getenv("RAW") != "" {
		t.Logf("%q", raw)
	}
	// How often a run is looked at before its end is nobody's promise.
	raw = regexp.MustCompile(`run=\S+ phase=(queued|running) [^\n]*\n`).ReplaceAllString(raw, "")
	return marked(screen(t, raw), s)
}

// named puts ids in the place of GROUP, RUN, RUN2 and so on: the newest group,
// the newest run, the one before it.
func (s *stage) named(line string) string {
	s.t.Helper()
	for _, what := range []struct{ word, list string }{{"GROUP", "group list"}, {"RUN", "status"}} {
		if !strings.Contains(line, what.word) {
			continue
		}
		a, out, _ := attendedApp(s.home, s.f.URL, s.f.Token, nil)
		if code := execute(context.Background(), a, append([]string{"--allow-http", "--jq", ".data[].id"}, strings.Fields(what.list)...)...); code != 0 {
			s.t.Fatalf("no %s: %s", what.word, out)
		}
		ids := strings.Fields(out.String())
		for i, id := range slices.Backward(ids) {
			if i > 0 {
				line = strings.ReplaceAll(line, fmt.Sprint(what.word, i+1), id)
			}
		}
		if strings.Contains(line, what.word) {
			line = strings.ReplaceAll(line, what.word, ids[0])
		}
	}
	return line
}

// stopped is a run that its cap stopped, of which a resume would leave two tasks
// out and one for later.
func stopped(s *stage) {
	s.t.Helper()
	stoppedRun(s.t, s.f)
	reshaped(`{"rerun_cells":26,"left_out":{"cells":2,"reasons":[{"code":"refused","cells":2,"permanent":true}],"acknowledgement_required":true},
		"pending":{"cells":1,"reasons":[{"code":"call_in_progress","cells":1}]}}`)(s)
}

func reshaped(plan string) func(*stage) {
	return func(s *stage) {
		if err := s.f.ShapePlans(plan); err != nil {
			s.t.Fatal(err)
		}
	}
}

// graded is all tasks of one benchmark, run with three models.
func graded(s *stage) {
	for _, route := range []string{"practice.solver-80", "practice.echo", "acme.model-x"} {
		startedRun(s.t, s.f, route, 40, usd.Dollar)
	}
}

// marked puts marks in the place of what differs from run to run.
func marked(text string, s *stage) string {
	for _, r := range []struct{ pattern, mark string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`req_[0-9a-f]{24}`, "REQUEST"},
		{`http://127\.0\.0\.1:[0-9]+`, "URL"},
		{`(?m)^([A-H]  +)[0-9a-f]{8}  `, "${1}SHORT     "}, // in a table
		{`\b[0-9a-f]{8}\b`, "SHORT"},
		{`(?m)^[0-9a-f]{6}  `, "SHORT   "},
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, "DATE TIME"},
		{`\b\d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b`, "DAY TIME"}, {`\b\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d\b`, "DAY YEAR TIME"},
		{`\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b`, "DAY"},
		{`expires \d\d:\d\d \(in \d+ min\)`, "expires TIME (in 30 min)"},
		{`elapsed=[0-9.]+s`, "elapsed=N"}, {`in \d+ ms`, "in N ms"}, {`read \d+ seconds? ago`, "read N seconds ago"},
		{`  cause: [^\n]*\n`, ""}, {`  request: REQUEST\n`, ""}, // whichever attempt was the last
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.mark)
	}
	return strings.ReplaceAll(text, s.home, "HOME")
}

// ux 6.16: bash in front of a person completes names of commands, and with
// --full what this machine knows, asking nobody. CPL-03.
func TestCompletionTranscript_CPL03(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	f := fakeService(t)
	s := &stage{t: t, f: f, home: shortHome(t)}
	env := []string{"EVALROUTER_API_KEY=" + f.Token, "EVALROUTER_BASE_URL=" + f.URL, "TERM=xterm", "PS1=$ ", "INPUTRC=" + filepath.Join(s.home, "inputrc"), "HISTFILE="}
	if err := os.WriteFile(filepath.Join(s.home, "inputrc"), []byte("set enable-bracketed-paste off\nset bell-style none\nset show-all-if-ambiguous on\nset completion-query-items 0\nset page-completions off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inTerminal(t, f, s.home, "", nil, "catalog", "--json").exit(0)
	inTerminal(t, f, s.home, "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes").exit(0)
	asked := f.Requests()
	x := programInTerminal(t, s.home, "", env, bash, "--norc", "--noprofile", "-i")
	say := func(keys, answer string) {
		x.send(keys)
		x.expect(answer)
	}
	x.expect("$ ")
	say("eval \"$(evalrouter completion bash)\"; echo one\n", "\r\none\r\n$ ")
	say("evalrouter r\t", "results")
	say("un\x15eval \"$(evalrouter completion bash --full)\"; echo two\n", "\r\ntwo\r\n$ ")
	say("evalrouter run \t", "logic")
	say("ar\t", "arithmetic ")
	say("--output-\t", "--output-format ")
	x.send("\x15exit\n")
	if f.Requests() != asked {
		t.Errorf("completion sent %d requests", f.Requests()-asked)
	}
	golden(t, filepath.Join("testdata", "transcript", "completion.txt"), marked(screen(t, x.exit(0)), s))
}
