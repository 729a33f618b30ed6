package term_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// A page on a terminal breaks lines at spaces and never within a word.
func TestPageBreaksAtSpaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		width int
		write func(*term.Page)
		want  string
	}{
		{"no width", 0, func(p *term.Page) { p.Line("Label    %s", strings.Repeat("word ", 30)+"end") }, "Label    " + strings.Repeat("word ", 30) + "end\n"},
		{"it fits", 40, func(p *term.Page) { p.Line("Label    a short value") }, "Label    a short value\n"},
		{"below a label", 40, func(p *term.Page) { p.Line("Label    one two three four five six seven eight nine ten") },
			"Label    one two three four five six\n         seven eight nine ten\n"},
		{"below a label of an indented block", 40, func(p *term.Page) { p.Line("  Rates      one two three four five six seven eight") },
			"  Rates      one two three four five six\n             seven eight\n"},
		{"a continued fact", 30, func(p *term.Page) { p.Line("  nothing was started or charged at all") },
			"  nothing was started or\n    charged at all\n"},
		{"a line that continues another", 30, func(p *term.Page) { p.Line("         a sample of 20 of 1,000 tasks") },
			"         a sample of 20 of\n         1,000 tasks\n"},
		{"a word longer than the line", 30, func(p *term.Page) { p.Line("Log   /%s and more", strings.Repeat("x", 40)) },
			"Log   /" + strings.Repeat("x", 40) + "\n      and more\n"},
		{"wide characters", 30, func(p *term.Page) { p.Line("名前  日本語の 名前は 長い 名前です ここで 終わり") },
			"名前  日本語の 名前は 長い\n      名前です ここで 終わり\n"},
		{"a command stays one", 40, func(p *term.Page) { p.Next("evalrouter run dates --model practice.solver-0.8 --sample 25") },
			"Next: evalrouter run dates --model \\\n      practice.solver-0.8 --sample 25\n"},
		{"W4 a command stays one for PowerShell", 40, func(p *term.Page) {
			p.System = "windows"
			p.Next("evalrouter run dates --model practice.solver-0.8 --sample 25")
		}, "Next: evalrouter run dates --model `\n      practice.solver-0.8 --sample 25\n"},
		{"several commands", 40, func(p *term.Page) { p.Next("evalrouter a", "evalrouter b") }, "Next: evalrouter a\n  or: evalrouter b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			p := &term.Page{W: &b, Width: tt.width}
			tt.write(p)
			if d := cmp.Diff(tt.want, b.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// C6: where the terminal may have letters only, our own signs are letters.
func TestPageASCII(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"no locale", nil, "a long na\u2026\n"},
		{"a locale of UTF-8", []string{"LANG=de_DE.UTF-8"}, "a long na\u2026\n"},
		{"another spelling", []string{"LC_CTYPE=C.utf8"}, "a long na\u2026\n"},
		{"the C locale", []string{"LANG=C"}, "a long na~\n"},
		{"the first that is set decides", []string{"LC_ALL=C", "LANG=en_US.UTF-8"}, "a long na~\n"},
		{"asked for", []string{"EVALROUTER_ASCII=1", "LANG=en_US.UTF-8"}, "a long na~\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			x := made(true, true, true, tt.env...)
			x.Out = &b
			x.OutPage().Line("%s", plain.Cut("a long name of a thing", 10))
			if d := cmp.Diff(tt.want, b.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
