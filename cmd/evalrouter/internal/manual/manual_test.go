package manual_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
)

// declared reads the registry of codes from its source: a code that nobody
// explains is found here.
func declared(t *testing.T) (out []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "..", "..", "lib", "api", "code.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
		return true
	})
	return out
}

func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range manual.Problems() {
		got = append(got, string(p.Code))
		for what, s := range map[string]string{"cause": p.Cause, "money": p.Money, "next": p.Next} {
			if s == "" || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("%s: the %s is %q", p.Code, what, s)
			}
		}
		if !strings.HasSuffix(p.Cause, ".") || !strings.HasSuffix(p.Money, ".") {
			t.Errorf("%s: no sentence in %q or %q", p.Code, p.Cause, p.Money)
		}
	}
	if d := cmp.Diff(declared(t), got); d != "" {
		t.Errorf("explained codes (-declared +explained):\n%s", d)
	}
}

func TestTopicsFit(t *testing.T) {
	t.Parallel()
	exit := func(manual.Problem) int { return 2 }
	pages := map[string]string{"exit": manual.ExitTopic(), "env": manual.EnvTopic(), "json": manual.JSONTopic(), "errors": manual.ErrorsTopic(exit)}
	for _, p := range manual.Problems() {
		pages[string(p.Code)] = manual.ErrorTopic(p, 2)
	}
	for name, page := range pages {
		for l := range strings.Lines(page) {
			if l = strings.TrimSuffix(l, "\n"); len(l) > 80 || strings.TrimRight(l, " ") != l {
				t.Errorf("%s: line of %d characters: %q", name, len(l), l)
			}
		}
	}
}

func small() *argv.Command {
	yes := false
	fs := argv.NewFlags("run")
	fs.Bool(&yes, "yes", ".start \\fB now").WithShort('y')
	return &argv.Command{
		Name: "tool", Short: "A tool's tool", Shared: argv.NewFlags("tool"),
		Sub: []*argv.Command{
			{Name: "run", Args: "X", Short: "Run it", Long: "First line.\n\n  kept as it is\nand on.\n.not a request", Flags: fs, Examples: []string{"tool run 'x'"}, Exec: nil},
			{Name: "hidden", Hidden: true, Short: "Nothing"},
		},
	}
}

// Text of a page is never read as a request or an escape of roff.
func TestManIsInert(t *testing.T) {
	t.Parallel()
	pages := manual.Man(small())
	if len(pages) != 2 || pages["tool-hidden.1"] != "" {
		t.Fatalf("pages of %d commands", len(pages))
	}
	page := pages["tool-run.1"]
	for _, want := range []string{"\n\\&.not a request\n", "\\&.start \\efB now", "tool run \\(aqx\\(aq", ".nf\n  kept as it is\n.fi\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
}

// A script of completion names every command that people see, and the plain one
// starts no program.
func TestCompletionNames_CPL05_CPL06(t *testing.T) {
	t.Parallel()
	for _, shell := range manual.Shells() {
		script := manual.Completion(small(), shell, false)
		var lines []string
		for l := range strings.Lines(script) {
			if !strings.HasPrefix(l, "#") {
				lines = append(lines, l)
			}
		}
		code := strings.Join(lines, "")
		if !strings.Contains(code, "run") || strings.Contains(code, "hidden") || strings.Contains(code, "yes") {
			t.Errorf("%s: names in\n%s", shell, script)
		}
		if strings.Contains(code, "$(evalrouter") || strings.Contains(code, "(evalrouter") {
			t.Errorf("%s: the script starts a program:\n%s", shell, script)
		}
		if full := manual.Completion(small(), shell, true); !strings.Contains(full, "evalrouter "+manual.Asker) {
			t.Errorf("%s: the full script asks nobody:\n%s", shell, full)
		}
	}
}
