package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// stage is what a transcript is played on.
type stage struct {
	f    *apitest.Fake
	home string
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
			f := apitest.NewFake(tt.opt)
			t.Cleanup(f.Close)
			s := &stage{f: f, home: shortHome(t)}
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
	line := st.line
	if strings.Contains(line, "RUN") {
		a, out, _ := attendedApp(s.home, s.f.URL, s.f.Token, nil)
		if code := execute(context.Background(), a, "--allow-http", "status", "--jq", ".data[0].id"); code != 0 {
			t.Fatalf("no run: %s", out)
		}
		line = strings.ReplaceAll(line, "RUN", strings.TrimSpace(out.String()))
	}
	if st.setup != nil {
		st.setup(s)
	}
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

// marked puts marks in the place of what differs from run to run.
func marked(text string, s *stage) string {
	for _, r := range []struct{ pattern, mark string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`req_[0-9a-f]{24}`, "REQUEST"},
		{`http://127\.0\.0\.1:[0-9]+`, "URL"},
		{`\b[0-9a-f]{8}\b`, "SHORT"},
		{`\b[0-9a-f]{6}  `, "SHORT   "},
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, "DATE TIME"},
		{`\b\d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b`, "DAY TIME"},
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
	s := &stage{f: f, home: shortHome(t)}
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
