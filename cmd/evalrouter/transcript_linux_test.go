package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
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
}

// The screens of the command line as a terminal of 80 columns shows them, whole.
// Ids, times and addresses stand as marks.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	const base = "run arithmetic --model practice.solver-80 --sample 10"
	up := "\x1b[A"
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
	x := inTerminal(t, s.f, s.home, "", []string{"EVALROUTER_TUI=off", "TZ=UTC"}, strings.Fields(line)...)
	for i := 0; i+1 < len(st.say); i += 2 {
		x.expect(st.say[i])
		x.send(st.say[i+1])
	}
	if len(st.keys) > 0 {
		x.expect("  > Cancel")
	}
	for i, k := range st.keys {
		if i < len(st.keys)-1 {
			x.press(k)
			continue
		}
		x.send(k)
	}
	raw := x.exit(st.code)
	if os.Getenv("RAW") != "" {
		t.Logf("%q", raw)
	}
	return marked(raw, s)
}

// marked puts marks in the place of what differs from run to run, and of what a
// terminal writes over.
func marked(text string, s *stage) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for _, r := range []struct{ pattern, mark string }{
		{`\r[^\n\x1b]*\x1b\[K`, ""}, // the progress line
		{`\x1b\[2A\r`, "(again)\n"}, // the two options, drawn anew
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
		{`run=ID phase=(queued|running) [^\n]*\n`, ""},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.mark)
	}
	return strings.ReplaceAll(text, s.home, "HOME")
}
