package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/handbook"
)

// steps are the scripts of the action, by the name of their step.
func steps(t *testing.T) map[string]string {
	t.Helper()
	all, name, in := map[string]string{}, "", false
	for l := range strings.Lines(document(t, ".github/actions/evalrouter/action.yml")) {
		if n, ok := strings.CutPrefix(l, "    - name: "); ok {
			name, in = strings.TrimSpace(n), false
		}
		switch code, ok := strings.CutPrefix(l, "        "); {
		case strings.HasPrefix(l, "      run: |"):
			in = true
		case in && ok:
			all[name] += code
		default:
			in = false
		}
	}
	return all
}

// The action's script runs a benchmark, writes the summary of the step, and
// starts nothing without a cap; what is given to it is never read as a command.
func TestAgents_Action(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	script := steps(t)["Run"]
	if script == "" || steps(t)["Install"] == "" {
		t.Fatal("the action has no step Run or no step Install")
	}
	for name, text := range steps(t) {
		if strings.Contains(text, "${{") {
			t.Errorf("step %s has a value in the text of its script", name)
		}
	}
	file := func(name string) string { return filepath.Join(s.home, name) }
	env := func(benchmark, limit string) []string {
		return []string{
			"BENCHMARK=" + benchmark, "MODEL=practice.solver-0.8", "MAX_COST=" + limit, "SAMPLE=3", "EVALROUTER_API_KEY=", "EVALROUTER_WORKSPACE_ID=",
			"CI=true", "GITHUB_OUTPUT=" + file("output"), "GITHUB_STEP_SUMMARY=" + file("summary.md"),
		}
	}
	for _, bad := range [][]string{env("arithmetic", ""), env("$(touch "+file("owned")+")", "1"), env("--yes;touch "+file("owned"), "1")} {
		s.follow("bash", "! ( "+script+" )", bad...)
	}
	if _, err := os.Stat(file("owned")); err == nil {
		t.Error("a benchmark's name was read as a command")
	}
	if out := s.ok("evalrouter", "status", "--json").stdout; strings.Contains(out, `"quote_id"`) {
		t.Errorf("something was started:\n%s", out)
	}
	s.follow("bash", script, env("arithmetic", "1")...)
	output, err := os.ReadFile(file("output"))
	if err != nil || !regexp.MustCompile(`^run-id=[0-9a-f-]{36}\n$`).Match(output) {
		t.Errorf("the output is %q, %v", output, err)
	}
	summary, err := os.ReadFile(file("summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the summary", string(summary), "arithmetic", "95 %")
	s.audit()
}

// The skill's own words work, and a repeat of its submission is the same run. It
// never says yes by itself.
func TestAgents_Skill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := document(t, "docs/skill/SKILL.md")
	request, _, _ := strings.Cut(text[strings.Index(text, "```json\n")+len("```json\n"):], "```")
	s.write("quote.json", []byte(request))
	quote := strings.TrimSpace(s.ok("evalrouter", "quote", "--config", filepath.Join(s.home, "quote.json"), "--jq", ".id").stdout)
	if out := s.ok("evalrouter", "status", "--json").stdout; strings.Contains(out, `"quote_id"`) {
		t.Errorf("a quote started something:\n%s", out)
	}
	start := ""
	for _, b := range handbook.Blocks(text) {
		if strings.Contains(b.Text, "--yes") || strings.Contains(b.Text, "--max-cost") {
			t.Errorf("the skill tells an agent to consent:\n%s", b.Text)
		}
		if b.Heading == "Start what was approved" {
			start, _, _ = strings.Cut(b.Text, "\n")
		}
	}
	start = strings.ReplaceAll(start, "QUOTE", quote) + " --jq .id"
	first := strings.TrimSpace(s.follow("sh", start).stdout)
	for range 3 {
		if again := strings.TrimSpace(s.follow("sh", start).stdout); again != first || first == "" {
			t.Errorf("the same submission again gave %q, not %q", again, first)
		}
	}
	s.ok("evalrouter", "wait", first)
	s.audit()
}
