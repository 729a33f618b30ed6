package shellword_test

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/shellword"
)

// E2: a suggested command is quoted for the shell of the system.
func TestQuote_E2_W4(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, word, posix, powershell string }{
		{"a name", "practice.solver-0.8", "practice.solver-0.8", "practice.solver-0.8"},
		{"nothing", "", "''", "''"},
		{"a space", "my file.json", "'my file.json'", "'my file.json'"},
		{"a quote", "it's", `'it'\''s'`, "'it''s'"},
		{"a typographic quote", "it\u2019s", "'it\u2019s'", "'it\u2019\u2019s'"},
		{"a path of Windows", `C:\Users\a b\x.json`, `'C:\Users\a b\x.json'`, `'C:\Users\a b\x.json'`},
		{"the same without a space", `C:\x.json`, `'C:\x.json'`, `C:\x.json`},
		{"a variable", "$HOME", "'$HOME'", "'$HOME'"},
		{"a list", "json,csv", "json,csv", "'json,csv'"},
		{"a splat", "@1", "@1", "'@1'"},
		{"a version", "gsm8k@2", "gsm8k@2", "'gsm8k@2'"},
		{"a flag with a full stop", "--max-cost=0.5", "--max-cost=0.5", "'--max-cost=0.5'"},
		{"a backtick", "a`b", "'a`b'", "'a`b'"},
		{"a filter", ".data[].id", "'.data[].id'", "'.data[].id'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for system, want := range map[string]string{"linux": tt.posix, "darwin": tt.posix, "windows": tt.powershell} {
				if got := shellword.Quote(system, tt.word); got != want {
					t.Errorf("%s: %s, want %s", system, got, want)
				}
			}
		})
	}
	if shellword.Continue("windows") != " `" || shellword.Continue("linux") != ` \` {
		t.Error("a broken line does not go on")
	}
}

// A real shell reads every quoted word as what it was.
func TestQuoteIsReadBack_E2(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	gen := rapid.SliceOfN(rapid.StringMatching(`[ -~\n'"\\$`+"`"+`\x{e9}\x{2019}]{0,12}`), 20, 20)
	words := gen.Example(1)
	line := "for w in"
	for _, w := range words {
		line += " " + shellword.Quote("linux", w)
	}
	out, err := exec.CommandContext(t.Context(), sh, "-c", line+`; do printf '%s\0' "$w"; done`).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || len(got) != len(words) {
		t.Fatalf("%d words of %d, %v", len(got), len(words), err)
	} else {
		for i := range got {
			if got[i] != words[i] {
				t.Errorf("%q was read as %q", words[i], got[i])
			}
		}
	}
}

// What PowerShell reads is undone by its own rule: outside of quotes nothing is
// special, and inside a doubled quote is one.
func TestPowerShellWords_W4(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.StringMatching(`[ -~\x{2018}\x{2019}\x{201a}\x{201b}]{0,12}`).Draw(t, "word")
		q := shellword.Quote("windows", w)
		if !strings.HasPrefix(q, "'") {
			if q != w || strings.ContainsAny(w, " '\"`$@,;&|<>(){}#%*?[]!^~") || w == "" {
				t.Fatalf("%q stands as %s", w, q)
			}
			return
		}
		in := strings.TrimSuffix(strings.TrimPrefix(q, "'"), "'")
		for _, quote := range []string{"'", "\u2018", "\u2019", "\u201a", "\u201b"} {
			if strings.Count(in, quote) != 2*strings.Count(w, quote) {
				t.Fatalf("%q stands as %s", w, q)
			}
			in = strings.ReplaceAll(in, quote+quote, quote)
		}
		if in != w {
			t.Fatalf("%q is read as %q", w, in)
		}
	})
}
