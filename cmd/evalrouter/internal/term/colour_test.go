package term_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// OUT-07: the whole table of what decides about colour.
func TestColour_OUT07_C1(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/colour.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		rows++
		env := map[string]string{"TERM": "xterm"}
		for i, kv := range []string{"NO_COLOR=1", "TERM=dumb", "CI=true", "CLICOLOR=0", "CLICOLOR_FORCE=1"} {
			if name, v, _ := strings.Cut(kv, "="); f[i+1] == "1" {
				env[name] = v
			}
		}
		x := &term.Term{Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
		if got := x.Coloured(f[0] == "1"); got != (f[6] == "1") {
			t.Errorf("%s: %v", strings.TrimSpace(line), got)
		}
		for mode, want := range map[string]bool{term.ColourAlways: true, term.ColourNever: false} {
			if x.Colour = mode; x.Coloured(f[0] == "1") != want {
				t.Errorf("%s: --color %s does not win", strings.TrimSpace(line), mode)
			}
		}
	}
	if rows != 64 {
		t.Errorf("%d rows", rows)
	}
}

// Values that say nothing change nothing.
func TestColourValues(t *testing.T) {
	t.Parallel()
	for kv, want := range map[string]bool{"NO_COLOR=": true, "CI=": true, "CLICOLOR=1": true, "CLICOLOR_FORCE=0": true, "TERM=xterm-256color": true, "ACCESSIBLE=1": false, "ACCESSIBLE=": true} {
		name, v, _ := strings.Cut(kv, "=")
		x := &term.Term{Env: only(name, v)}
		if got := x.Coloured(true); got != want {
			t.Errorf("%s: %v", kv, got)
		}
	}
	x := &term.Term{Env: only("CLICOLOR_FORCE", "0")}
	if x.Coloured(false) {
		t.Error("CLICOLOR_FORCE=0 forces")
	}
}

// only is an environment with one variable.
func only(name, value string) func(string) (string, bool) {
	return func(n string) (string, bool) {
		if n != name {
			return "", false
		}
		return value, true
	}
}

// Without its styles a page is the page without colour, and only the sixteen
// colours of the palette are used.
func TestColourSaysNothing_C2_C3(t *testing.T) {
	t.Parallel()
	write := func(colour bool) string {
		var b bytes.Buffer
		p := &term.Page{W: &b, Width: 40, Colour: colour}
		p.Head("RUN  STATUS")
		p.Line("error: %s (code)", "something with \x1b[31m in it")
		p.Line("Warning  a long warning that does not fit on one line of forty cells")
		p.Line("Score    87.0 %%")
		p.Next("evalrouter run a", "evalrouter run b")
		p.NextOfError("evalrouter status")
		return b.String()
	}
	plain, coloured := write(false), write(true)
	sgr := regexp.MustCompile("\x1b\\[(0|1|3[0-7]|9[0-7])m")
	if got := sgr.ReplaceAllString(coloured, ""); got != plain || strings.Contains(got, "\x1b") {
		t.Errorf("without styles:\n%q\nplain:\n%q", got, plain)
	}
	if coloured == plain {
		t.Error("there is no colour at all")
	}
}
